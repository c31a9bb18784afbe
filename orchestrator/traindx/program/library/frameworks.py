"""Frameworks that own the training loop: what they do around the steps that the program defines."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from traindx.program.library.graphs import backward
from traindx.program.library.modules import set_mode
from traindx.program.streams import stream_of
from traindx.program.values import (
    UNKNOWN,
    Class,
    Function,
    Guess,
    Instance,
    Items,
    Library,
    Made,
    Mapping,
    Parameters,
    Place,
    Plain,
    Tensor,
    Value,
    is_none,
    text,
)

if TYPE_CHECKING:
    from traindx.program.calling import Call
    from traindx.program.machine import Machine

_LIGHTNING = ("LightningModule",)


def call(m: Machine, full: str, last: str, call: Call) -> Value | None:
    """A class of a framework."""
    root = full.partition(".")[0]
    if last == "Trainer" and root in {"lightning", "pytorch_lightning"}:
        return Made(kind="lightning", args=tuple(call.args), keywords=call.keywords, place=m.place(call.node))
    if last in {"Trainer", "Seq2SeqTrainer", "SFTTrainer", "TrainingArguments"} and root in {"transformers", "trl"}:
        return Made(kind="huggingface", args=tuple(call.args), keywords=call.keywords, place=m.place(call.node))
    if root == "skorch" and last.startswith("NeuralNet") and call.args:
        made = Made(kind="skorch", args=tuple(call.args), keywords=call.keywords, place=m.place(call.node))
        made.fields["@class"] = Plain(last)
        return made
    if root == "ignite" and last == "Engine" and call.args:
        return Made(kind="ignite", args=tuple(call.args), place=m.place(call.node))
    return _launched(m, full, last, call)


def _launched(m: Machine, full: str, last: str, call: Call) -> Value | None:
    """A function of the program that a launcher runs, in processes that all do the same."""
    from traindx.program.calling import call_function

    spawns = last == "spawn" and "multiprocessing" in full
    named = "target" if last == "Process" else "fn" if spawns else "function" if last == "notebook_launcher" else ""
    named = "main_func" if full in {"detectron2.engine.launch", "fvcore.launch"} else named
    function = call.argument(1 if last == "Process" else 0, named) if named else None
    if not isinstance(function, Function):
        return None
    given = call.argument(1, "args") if spawns or last == "notebook_launcher" else call.keywords.get("args")
    args = list(given.items) if isinstance(given, Items) else []
    rank: list[Value] = [Plain(None, "varies", "rank")] if spawns else []
    call_function(m, function, [*rank, *args], {}, call.node)
    return Guess(last)


def method(m: Machine, owner: Made, name: str, call: Call) -> Value | None:
    """A method of a framework's object."""
    if owner.kind == "lightning" and name == "fit":
        module = call.argument(0, "model")
        if isinstance(module, Instance):
            loaders = [call.argument(1, "train_dataloaders"), call.argument(2, "val_dataloaders")]
            data = call.keywords.get("datamodule", loaders[0])
            if isinstance(data, Instance):
                _hook(m, data, "prepare_data", [], call)
                _hook(m, data, "setup", [Plain("fit")], call)
                loaders = [_loader(m, data, "train_dataloader"), _loader(m, data, "val_dataloader")]
            return fit(m, module, call, loaders, owner)
    if owner.kind == "huggingface" and name == "train":
        m.event("managed-training", call.node, owner, model=owner.argument(0, "model"))
        return None
    if owner.kind == "skorch" and name in {"fit", "partial_fit"}:
        return _skorch(m, owner, call)
    if owner.kind == "ignite":
        return _ignite(m, owner, name, call)
    return None


_CRITERIA = {"NeuralNetClassifier": "probabilities", "NeuralNetBinaryClassifier": "bce_logits",
             "NeuralNetRegressor": "mse"}  # fmt: skip
"""what skorch compares with by default: the classifier takes the logarithm of what the module returns"""


def _skorch(m: Machine, owner: Made, call: Call) -> Value:
    """What skorch does with a module: forward, then the criterion, or its own where none is given."""
    from traindx.program.calling import Call as Inner
    from traindx.program.calling import call_value
    from traindx.program.library import losses

    module = owner.args[0]
    place = owner.place.node if owner.place is not None else call.node
    node = place if isinstance(place, ast.Call) else call.node
    module = call_value(m, module, Inner(node, [], {})) if isinstance(module, Class) else module
    given = owner.keywords.get("criterion")
    named = given.name.rpartition(".")[2] if isinstance(given, Library) else ""
    kind = losses.CLASSES.get(named, "") if given is not None else _CRITERIA.get(text(owner.fields["@class"]), "")
    if kind == "nll" and text(owner.fields["@class"]) == "NeuralNetClassifier":
        kind = "probabilities"
    batch = call.args[0] if call.args and isinstance(call.args[0], Tensor) else Tensor()
    output = call_value(m, module, Inner(node, [batch], {}))
    losses.apply(m, Made(kind=f"loss {kind}"), Inner(node, [output, *call.args[1:2]], {}))
    return owner


def _ignite(m: Machine, owner: Made, name: str, call: Call) -> Value | None:
    from traindx.program.calling import call_function

    if name != "run" or not owner.args or not isinstance(owner.args[0], Function):
        return None
    source = call.args[0] if call.args else UNKNOWN
    loop = m.loop(call.node, source)
    for turn in (1, 2):
        with m.turn(loop, turn):
            call_function(m, owner.args[0], [owner, stream_of(m, source).element], {}, call.node)
    return Plain(None)


def inherited(m: Machine, owner: Instance, name: str, call: Call) -> Value | None:
    """A method that a class of the program has from a framework."""
    if name in {"log", "log_dict", "save_hyperparameters", "print", "toggle_optimizer", "untoggle_optimizer"}:
        if name == "save_hyperparameters":
            _hyperparameters(m, owner)
        return Plain(None)
    if name == "optimizers":
        return owner.fields.get("@optimizers", Made(kind="optimizer", known=False))
    if name == "lr_schedulers":
        return Made(kind="scheduler", known=False)
    if name == "manual_backward" and call.args:
        value = call.args[0] if isinstance(call.args[0], Tensor) else Tensor(sure=False)
        return backward(m, value, call)
    if name == "clip_gradients":
        m.event("clip", call.node, Parameters(frozenset(), False), by="norm", threshold=UNKNOWN)
        return Plain(None)
    return None


def _hyperparameters(m: Machine, owner: Instance) -> None:
    """What the constructor was called with becomes `self.hparams`."""
    for frame in reversed(m.frames):
        if frame.function is not None and frame.function.name == "__init__":
            given = {name: value for name, value in frame.scope.names.items() if name not in {"self", "__class__"}}
            m.journal.set(owner.fields, "@hparams", Mapping(given))
            return


def fit(m: Machine, module: Instance, call: Call, loaders: list[Value | None], trainer: Made | None = None) -> Value:
    """What Lightning does: epochs over batches, a step of the module each, and the optimizer's part unless manual."""
    from traindx.program.looping import carried

    optimizers = _optimizers(m, module, trainer)
    manual = module.fields.get("automatic_optimization")
    automatic = not (isinstance(manual, Plain) and manual.value is False)
    training = _method(module, "training_step")
    if training is None:
        return Plain(None)
    source = loaders[0] or _loader(m, module, "train_dataloader") or UNKNOWN
    held = _loader(m, module, "val_dataloader")
    validation = loaders[1] or held
    if trainer is None or not {"overfit_batches", "fast_dev_run"} & trainer.keywords.keys():
        m.event("fed", call.node, module, train=source, held=validation, place=_validated_at(module, call))
    epochs = m.loop(call.node, Made(kind="range", fields={}))
    batches = None
    mark, first = m.journal.mark(), len(m.paths)
    for epoch in (1, 2):
        with m.turn(epochs, epoch):
            set_mode(m, module, Plain(True))
            _hook(m, module, "on_train_epoch_start", [], call)
            batches = batches or m.loop(call.node, source)
            for turn in (1, 2):
                with m.turn(batches, turn):
                    element = stream_of(m, source).element
                    _hook(m, module, "on_train_batch_start", [element, Plain(None, "varies")], call)
                    _step(m, module, training, element, call, optimizers, automatic, trainer)
                    _hook(m, module, "on_train_batch_end", [UNKNOWN, element, Plain(None, "varies")], call)
            _validate(m, module, validation, call)
            _hook(m, module, "on_train_epoch_end", [], call)
    carried(m, call.node, mark, first, {module.cls.node.name if module.cls else "module": module})
    return Plain(None)


def _validated_at(module: Instance, call: Call) -> str:
    """Whether a module validates at all: the name of its step."""
    return "validation_step" if _method(module, "validation_step") is not None else ""


def _step(  # noqa: PLR0913, PLR0917 - one training step has that many parties
    m: Machine,
    module: Instance,
    training: Function,
    batch: Value,
    call: Call,
    optimizers: list[Made],
    automatic: bool,
    trainer: Made | None,
) -> None:
    from traindx.program.calling import Call as Inner
    from traindx.program.calling import call_method

    m.event("framework-step", call.node, module, automatic=automatic)
    returned = call_method(m, module, training, [batch, Plain(None, "varies", "batch_idx")], {}, call.node)
    if isinstance(returned, Mapping):
        returned = returned.entries.get("loss", UNKNOWN)
    if not automatic:
        return
    if is_none(returned) and not any(isinstance(part, ast.Return) and part.value for part in ast.walk(training.node)):
        m.event("no-loss-returned", training.node, module)
        m.trace.events[-1].place = Place(training.unit, training.node)
        return
    managed = Inner(call.node, [], {})
    for optimizer in optimizers:
        m.event("zero", call.node, optimizer, managed=True)
    if isinstance(returned, Tensor):
        backward(m, returned.but(divided=True).marked("managed"), managed)
    clip = trainer.keywords.get("gradient_clip_val") if trainer is not None else None
    if clip is not None:
        m.event("clip", call.node, Parameters(frozenset(), False), by="norm", threshold=clip, managed=True)
    for optimizer in optimizers:
        _hook(m, module, "on_before_optimizer_step", [optimizer], call)
        m.event("step", call.node, optimizer, managed=True)


def _validate(m: Machine, module: Instance, source: Value | None, call: Call) -> None:
    from traindx.program.calling import call_method

    function = _method(module, "validation_step")
    if function is None:
        return
    loop = m.loop(call.node, source or UNKNOWN)
    set_mode(m, module, Plain(False))
    with m.graded(False):
        for turn in (1, 2):
            with m.turn(loop, turn):
                element = stream_of(m, source or UNKNOWN).element
                call_method(m, module, function, [element, Plain(None, "varies")], {}, call.node)
    set_mode(m, module, Plain(True))


def _hook(m: Machine, module: Instance, name: str, args: list[Value], call: Call) -> None:
    from traindx.program.calling import call_method

    function = _method(module, name)
    if function is not None:
        call_method(m, module, function, args, {}, call.node)


def _method(module: Instance, name: str) -> Function | None:
    found = module.cls.find(name) if module.cls is not None else None
    return found if isinstance(found, Function) else None


def _loader(m: Machine, module: Instance, name: str) -> Value | None:
    from traindx.program.calling import call_method

    function = _method(module, name)
    return call_method(m, module, function, [], {}) if function is not None else None


def _optimizers(m: Machine, module: Instance, trainer: Made | None = None) -> list[Made]:
    from traindx.program.calling import call_method

    function = _method(module, "configure_optimizers")
    if function is None:
        return []
    returned = call_method(m, module, function, [], {})
    epochs = trainer.keywords.get("max_epochs") if trainer is not None else None
    for plan, interval, monitor in _plans(returned):
        told = {"interval": interval, "unit": function.unit, "epochs": epochs, "monitor": monitor}
        m.event("framework-schedule", function.node, plan, **told)
    found = list(_made(returned))
    optimizers = [made for made in found if made.kind == "optimizer"]
    held: Value = Items(list(optimizers)) if len(optimizers) > 1 else optimizers[0] if optimizers else Guess("")
    m.journal.set(module.fields, "@optimizers", held)
    return optimizers


def _plans(value: Value, interval: str = "epoch", monitor: str = "", depth: int = 4) -> list[tuple[Made, str, str]]:
    """The schedulers that a module hands to Lightning, how often each is to step (once per `epoch` unless said), and
    the metric that it is to look at.
    """
    if isinstance(value, Made):
        return [(value, interval, monitor)] if value.kind == "scheduler" else []
    if isinstance(value, Mapping) and depth:
        said = text(value.entries.get("interval")) or interval
        watched = text(value.entries.get("monitor")) or monitor
        return [row for part in value.entries.values() for row in _plans(part, said, watched, depth - 1)]
    if isinstance(value, Items) and depth:
        return [row for part in value.items for row in _plans(part, interval, monitor, depth - 1)]
    return []


def _made(value: Value, depth: int = 4) -> list[Made]:
    if isinstance(value, Made):
        return [value]
    if isinstance(value, Items) and depth:
        return [made for part in value.items for made in _made(part, depth - 1)]
    if isinstance(value, Mapping) and depth:
        return [made for part in value.entries.values() for made in _made(part, depth - 1)]
    return []


def is_lightning(value: Value) -> bool:
    """Whether an object is a Lightning module."""
    return isinstance(value, Instance) and value.cls is not None and value.cls.descends(*_LIGHTNING)
