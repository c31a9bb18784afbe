"""What makes a program train: optimizers, schedulers, loss scalers, clipping, and the objects that wrap them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from traindx.program.guessing import looks_like_optimizer, looks_like_scheduler
from traindx.program.library.graphs import backward, gradients, keeps_graph
from traindx.program.values import (
    NOTHING,
    UNKNOWN,
    Function,
    Guess,
    Instance,
    Items,
    Layer,
    Made,
    Mapping,
    Parameters,
    Plain,
    Stream,
    Tensor,
    Value,
)
from traindx.readers.code.units import OPTIMIZERS

if TYPE_CHECKING:
    from traindx.program.calling import Call
    from traindx.program.machine import Machine

_CONTEXTS = frozenset(["no_grad", "inference_mode", "enable_grad", "set_grad_enabled"])
_SCHEDULES = ("LR", "Restarts", "Scheduler")
_CLIPS = {"clip_grad_norm_": "norm", "clip_grad_value_": "value", "clip_grad_norm": "norm"}
_SCHEDULING = frozenset(["torch", "transformers", "timm", "torch_optimizer", "pl_bolts", "warmup_scheduler"])
_ENGINES = frozenset(["initialize", "DeepSpeedEngine"])


def call(m: Machine, full: str, last: str, call: Call) -> Value | None:
    """A class or function of a library that takes part in the training loop."""
    root = full.partition(".")[0]
    if last in _CONTEXTS and root == "torch":
        return Made(kind=last, args=tuple(call.args), place=m.place(call.node))
    if last == "autocast":
        return Made(kind="autocast", args=tuple(call.args), keywords=call.keywords, place=m.place(call.node))
    if last in {"GradScaler", "ShardedGradScaler"}:
        return Made(kind="scaler", args=tuple(call.args), keywords=call.keywords, place=m.place(call.node))
    if last in _CLIPS:
        return _clip(m, _CLIPS[last], call)
    plans = "lr_scheduler" in full or last.endswith(_SCHEDULES) or (last.startswith("get_") and "schedule" in last)
    named = last in OPTIMIZERS or (".optim." in full and last[:1].isupper())
    if named and not plans and root not in {"keras", "tensorflow", "optax"}:
        return optimizer(m, last, call)
    if plans and root in _SCHEDULING:
        return scheduler(m, last, call)
    if last in {"Accelerator", "Fabric"}:
        fields: dict[str, Value] = {"@class": Plain(last)}
        made = Made(kind="accelerator", keywords=call.keywords, place=m.place(call.node), fields=fields)
        m.event("accelerator", call.node, made)
        return made
    if root == "deepspeed" and last in _ENGINES:
        return Items([Made(kind="engine"), Made(kind="engine"), Guess(""), Guess("")])
    if full == "torch.autograd.grad":
        return gradients(m, call)
    if full in {"torch.save", "torch.load"}:
        m.event(last, call.node, call.args[0] if call.args else UNKNOWN)
        return Plain(None) if last == "save" else Guess("checkpoint")
    return None


def optimizer(m: Machine, kind: str, call: Call) -> Made:
    """An optimizer with the layers whose parameters it was given."""
    given = call.argument(0, "params")
    if given is None and call.args:
        given = call.args[0]
    layers, known = layers_of(given)
    made = Made(
        kind="optimizer",
        args=tuple(call.args),
        keywords=call.keywords,
        place=m.place(call.node),
        layers=layers,
        known=known,
    )
    made.fields["@class"] = Plain(kind)
    frozen = [m.trace.layers[number].fields.get("@frozen") for number in layers if number in m.trace.layers]
    m.trace.optimizers.append(made)
    m.event("optimizer", call.node, made, frozen=tuple(frozen))
    return made


def layers_of(value: Value | None, depth: int = 6) -> tuple[frozenset[int], bool]:
    """The layers behind a collection of parameters, and whether all of it is known."""
    if isinstance(value, Parameters):
        return value.layers, value.known
    if isinstance(value, Tensor):
        known = "parameter" in value.marks or "leaf" in value.marks
        return value.deps, known
    if isinstance(value, Items) and depth:
        rows = [layers_of(part, depth - 1) for part in value.items]
        found: frozenset[int] = frozenset().union(*(layers for layers, _ in rows))
        exact = not value.more or all(isinstance(part, Parameters | Items) for part in value.items)
        return found, exact and all(known for _, known in rows) and bool(rows)
    if isinstance(value, Mapping) and depth:
        return layers_of(value.entries.get("params"), depth - 1)
    if isinstance(value, Stream):
        return layers_of(value.element, depth - 1)
    return NOTHING, isinstance(value, Plain)


def scheduler(m: Machine, kind: str, call: Call) -> Made:
    """A learning-rate scheduler."""
    made = Made(kind="scheduler", args=tuple(call.args), keywords=call.keywords, place=m.place(call.node))
    made.fields["@class"] = Plain(kind)
    m.event("scheduler", call.node, made)
    return made


def _clip(m: Machine, kind: str, call: Call) -> Value:
    layers, known = layers_of(call.argument(0, "parameters"))
    threshold = call.argument(1, "max_norm") or call.keywords.get("clip_value")
    m.event("clip", call.node, Parameters(layers, known), by=kind, threshold=threshold)
    return Tensor(shape=(), marks=frozenset({"gradient"}))


def method(m: Machine, owner: Made, name: str, call: Call) -> Value | None:
    """A method of an optimizer, scheduler, scaler or accelerator."""
    if owner.kind == "optimizer":
        return _of_optimizer(m, owner, name, call)
    if owner.kind == "scheduler":
        if name == "step":
            m.event("schedule", call.node, owner, call=call)
        if name == "load_state_dict":
            m.event("load-state-dict", call.node, owner, given=call.argument(0, "state_dict"))
        return Plain(None) if name in {"step", "load_state_dict"} else Guess(name)
    if owner.kind == "scaler":
        return _of_scaler(m, owner, name, call)
    if owner.kind == "accelerator":
        return _of_accelerator(m, owner, name, call)
    if owner.kind == "engine":
        return _of_engine(m, owner, name, call)
    return None


def _of_optimizer(m: Machine, owner: Made, name: str, call: Call) -> Value:
    if name == "step":
        closure = call.argument(0, "closure")
        if isinstance(closure, Function):
            from traindx.program.calling import call_function

            call_function(m, closure, [], {}, call.node)
        m.event("step", call.node, owner, autocast=m.autocast)
    elif name == "zero_grad":
        m.event("zero", call.node, owner)
    elif name == "add_param_group" and call.args:
        layers, known = layers_of(call.args[0])
        m.journal.put(owner, "layers", owner.layers | layers)
        m.journal.put(owner, "known", owner.known and known)
    elif name in {"state_dict", "load_state_dict"}:
        m.event(name.replace("_", "-"), call.node, owner, given=call.argument(0, "state_dict"))
        return Guess("state_dict")
    return Plain(None)


def _of_scaler(m: Machine, owner: Made, name: str, call: Call) -> Value:
    first = call.args[0] if call.args else None
    if name == "scale" and isinstance(first, Tensor):
        return first.marked("amp-scaled")
    m.event("scaler", call.node, owner, name=name, optimizer=first)
    if name == "load_state_dict":
        m.event("load-state-dict", call.node, owner, given=first)
    if name == "step" and isinstance(first, Made) and first.kind == "optimizer":
        m.event("step", call.node, first, scaler=owner, autocast=m.autocast)
    elif name == "step":
        m.event("step", call.node, Made(kind="optimizer", known=False), scaler=owner, autocast=m.autocast)
    return first if name == "scale" and first is not None else Plain(None)


def _of_accelerator(m: Machine, owner: Made, name: str, call: Call) -> Value:
    if name in {"prepare", "setup", "setup_dataloaders", "setup_module", "setup_optimizers"}:
        return call.args[0] if len(call.args) == 1 else Items(list(call.args))
    if name == "backward" and call.args:
        value = call.args[0]
        inner = value if isinstance(value, Tensor) else Tensor(graph=frozenset({m.serial}), sure=False)
        return backward(m, inner.but(divided=inner.divided or _divides(owner)), call)
    if name in {"clip_grad_norm_", "clip_grad_value_", "clip_gradients"}:
        m.event("clip", call.node, Parameters(NOTHING, False), by="norm", threshold=call.argument(1, "max_norm"))
    if name in {"gather", "gather_for_metrics", "reduce", "all_gather", "unwrap_model"} and call.args:
        return call.args[0]
    if name == "load_state":
        m.event("load-state-dict", call.node, owner, given=None)
    if name in {"accumulate", "autocast", "no_backward_sync"}:
        return Made(kind="accumulate" if name == "accumulate" else "managed", place=m.place(call.node))
    return Guess(name)


def _divides(owner: Made) -> bool:
    """Whether an accelerator divides the loss for accumulation: not one that was told of no accumulation."""
    known = "@class" in owner.fields and "**" not in owner.keywords
    told = {"gradient_accumulation_steps", "gradient_accumulation_plugin", "deepspeed_plugin", "deepspeed_plugins"}
    return not known or bool(told & owner.keywords.keys())


def _of_engine(m: Machine, owner: Made, name: str, call: Call) -> Value:
    """A DeepSpeed engine does what an optimizer and a model do."""
    if name == "backward":
        value = call.args[0] if call.args and isinstance(call.args[0], Tensor) else Tensor(sure=False)
        return backward(m, value.but(divided=True), call)
    if name == "step":
        m.event("step", call.node, owner, managed=True)
        m.event("zero", call.node, owner)
    return Guess(name)


def by_name(m: Machine, owner: Value, name: str, call: Call) -> Value | None:
    """A method of something unknown, where the names speak for themselves."""
    told = owner.name if isinstance(owner, Guess) else ""
    if name == "backward":
        m.event(
            "backward",
            call.node,
            owner,
            value=Tensor(sure=False),
            retain=False,
            again=(),
            autocast=(),
            keeps=keeps_graph(call),
        )
        return Plain(None)
    if name == "manual_backward" and call.args and isinstance(call.args[0], Tensor):
        return backward(m, call.args[0], call)
    if name == "zero_grad":
        m.event("zero", call.node, Made(kind="optimizer", known=False))
        return Plain(None)
    if name == "step" and looks_like_scheduler(told):
        m.event("schedule", call.node, Made(kind="scheduler", known=False), call=call)
        return Plain(None)
    if name == "step" and (looks_like_optimizer(told) or not told):
        return _of_optimizer(m, Made(kind="optimizer", known=False), name, call)
    if name in {"parameters", "named_parameters"}:
        found = Parameters(NOTHING, False, owner)
        return found if name == "parameters" else Items([Items([Plain("", "varies"), found])], "list", True)
    if name in {"train", "eval"} and not call.args and isinstance(owner, Guess):
        m.event("mode", call.node, owner, on=Plain(name == "train"))
        return owner
    if name == "clip_gradients":
        m.event("clip", call.node, Parameters(NOTHING, False), by="norm", threshold=UNKNOWN)
        return Plain(None)
    if name == "load_state_dict" and isinstance(owner, Guess):
        m.event("load-state-dict", call.node, owner, given=call.argument(0, "state_dict"))
        return Guess(name)
    if isinstance(owner, Instance | Layer | Guess) and name in {"optimizers", "lr_schedulers"}:
        return Made(kind=name[:-1] if name == "optimizers" else "scheduler", known=False)
    return None
