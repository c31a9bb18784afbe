"""JAX with Flax and Optax: functions are transformed, parameters handed on, states replaced and never changed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from traindx.program.library import losses, tensors
from traindx.program.library.graphs import mixed
from traindx.program.values import (
    LEAF,
    Class,
    Function,
    Guess,
    Instance,
    Items,
    Layer,
    Made,
    Method,
    Plain,
    Tensor,
    Value,
    whole,
)

if TYPE_CHECKING:
    from traindx.program.calling import Call
    from traindx.program.machine import Machine

ROOTS = frozenset(["jax", "flax", "optax"])
STATE = "train-state"
"""the kind of an object that holds parameters with their optimizer: `TrainState`"""
_SAME = frozenset(["jit", "pmap", "vmap", "checkpoint", "remat", "named_call"])
_ACTIVATIONS = frozenset(["softmax", "log_softmax", "relu", "gelu", "tanh", "sigmoid", "silu", "swish", "elu",
                          "leaky_relu", "softplus", "log_sigmoid"])  # fmt: skip
_LOSSES = {
    "softmax_cross_entropy": "cross_entropy", "softmax_cross_entropy_with_integer_labels": "cross_entropy",
    "sigmoid_binary_cross_entropy": "bce_logits", "squared_error": "mse", "l2_loss": "mse", "huber_loss": "smooth_l1",
}  # fmt: skip
OPTIMIZERS = frozenset(["adam", "adamw", "sgd", "rmsprop", "adagrad", "lamb", "lion", "adafactor", "nadam", "radam",
                        "adabelief", "lars", "novograd", "adamax"])  # fmt: skip
_ARGUMENTS = {
    "sgd": ("lr", "momentum"), "clip_by_global_norm": ("max_norm",), "clip": ("clip_value",),
    "add_decayed_weights": ("weight_decay",), "constant_schedule": ("lr",),
    "adamw": ("lr", "b1", "b2", "eps", "eps_root", "mu_dtype", "weight_decay"),
    "lion": ("lr", "b1", "b2", "mu_dtype", "weight_decay"),
    "cosine_decay_schedule": ("lr", "decay_steps"), "exponential_decay": ("lr", "transition_steps", "decay_rate"),
    "linear_schedule": ("lr", "end_value", "transition_steps"), "polynomial_schedule": ("lr", "end_value"),
    "warmup_cosine_decay_schedule": ("init_value", "lr", "warmup_steps", "decay_steps"),
    "linear_onecycle_schedule": ("transition_steps", "lr"), "cosine_onecycle_schedule": ("transition_steps", "lr"),
}  # fmt: skip
_USUAL = ("lr", "b1", "b2", "eps")
_PARAMETRIC = frozenset(["Dense", "Conv", "ConvTranspose", "Embed", "DenseGeneral", "MultiHeadDotProductAttention"])


def call(m: Machine, full: str, last: str, call: Call) -> Value | None:
    """A class or function of JAX and what is built on it; None where it is like its name elsewhere."""
    root = full.partition(".")[0]
    if root not in ROOTS:
        return None
    if last in _SAME and call.args and isinstance(call.args[0], Function | Method):
        return call.args[0]
    if last in {"grad", "value_and_grad"} and root == "jax":
        fields: dict[str, Value] = {"@value": Plain(last == "value_and_grad")}
        return Made(kind="jax-gradient", args=tuple(call.args), keywords=call.keywords, fields=fields)
    if last in _ACTIVATIONS and call.tensors:
        return _activated(m, last, call)
    if last == "stop_gradient" and call.tensors:
        return Tensor(shape=call.tensors[0].shape)
    if root == "optax":
        return _of_optax(m, last, call)
    if full.startswith("flax.") and last[:1].isupper() and last not in {"Module", "FrozenDict", "TrainState"}:
        return Layer(kind=f"flax {last}", args=tuple(call.args), keywords=call.keywords, place=m.place(call.node))
    if full.endswith("TrainState.create"):
        return state(m, call)
    return None


def _activated(m: Machine, name: str, call: Call) -> Tensor:
    from traindx.program.calling import Call as Inner

    words = dict(call.keywords)
    if "softmax" in name:
        # Over the last axis where nothing is said, unlike torch.
        words.setdefault("axis", call.args[1] if len(call.args) > 1 else Plain(-1))
    return tensors.activated(m, name, call.tensors[0], Inner(call.node, list(call.args), words))


def _of_optax(m: Machine, last: str, call: Call) -> Value | None:
    from traindx.program.calling import Call as Inner

    if last in _LOSSES:
        given = [*call.args, *(call.keywords[name] for name in ("logits", "predictions") if name in call.keywords)]
        given += [call.keywords[name] for name in ("labels", "targets") if name in call.keywords]
        made = Made(kind=f"loss {_LOSSES[last]}", keywords={"reduction": Plain("none")}, place=m.place(call.node))
        found = losses.apply(m, made, Inner(call.node, given, {}))
        return found.but(shape=(None,)) if isinstance(found, Tensor) else found
    if last == "chain":
        return next((part for part in call.args if isinstance(part, Made) and part.kind == "optax"), Made(kind="optax"))
    if last in OPTIMIZERS or last in _ARGUMENTS:
        made = Made(
            kind="optax" if last in OPTIMIZERS else "optax part",
            args=tuple(call.args), keywords=call.keywords, place=m.place(call.node),
        )  # fmt: skip
        m.event("optax", call.node, made, name=last, names=_ARGUMENTS.get(last, _USUAL))
        return made
    return None


def forward(m: Machine, layer: Layer, call: Call) -> Value:
    """A layer of Flax that is called: one with weights makes its output depend on them."""
    if not call.tensors:
        return Tensor(graph=LEAF)
    given = call.tensors[0]
    name = layer.kind.partition(" ")[2]
    if name not in _PARAMETRIC:
        return given if name in {"Dropout"} else mixed(m, call.tensors, given.shape)
    units = whole(layer.keywords.get("features", layer.args[0] if layer.args else None))
    shape = (*given.shape[:-1], units) if given.shape and name == "Dense" else None
    return Tensor(graph=LEAF, act="linear", act_at=m.place(call.node), shape=shape)


def differentiated(m: Machine, made: Made, call: Call) -> Value:
    """A gradient function that is called: the loss function is followed, and what came out of it noted."""
    from traindx.program.calling import call_value

    out = call_value(m, made.args[0], call) if made.args else Guess("loss")
    loss = out.items[0] if isinstance(out, Items) and out.items else out
    if isinstance(loss, Tensor):
        m.event("jax-gradient", call.node, loss, value=loss)
    gradient = Tensor(marks=frozenset({"gradient"}))
    told = made.fields["@value"]
    if isinstance(told, Plain) and told.value is True:
        return Items([out, gradient], "tuple")
    return Items([gradient, *out.items[1:]], "tuple") if isinstance(out, Items) else gradient


def is_flax(owner: Value) -> bool:
    """Whether an object is a module of Flax."""
    return isinstance(owner, Instance) and isinstance(owner.cls, Class) and any(
        base.startswith("flax.") for base in owner.cls.library_bases()
    )  # fmt: skip


def module_method(m: Machine, owner: Instance, name: str, call: Call) -> Value | None:
    """`model.init(…)` and `model.apply(variables, x)`."""
    from traindx.program.calling import call_method

    if name == "init":
        return Guess("variables")
    if name != "apply" or owner.cls is None:
        return None
    if isinstance(setup := owner.cls.find("setup"), Function) and "@set up" not in owner.fields:
        owner.fields["@set up"] = Plain(True)
        call_method(m, owner, setup, [], {}, call.node)
    body = owner.cls.find("__call__")
    if not isinstance(body, Function):
        return None
    words = {
        key: value for key, value in call.keywords.items() if key not in {"rngs", "mutable", "method", "variables"}
    }
    m.inside_modules += 1
    try:
        out = call_method(m, owner, body, list(call.args[1:]), words, call.node)
    finally:
        m.inside_modules -= 1
    return Items([out, Guess("updates")], "tuple") if "mutable" in call.keywords else out


def state(m: Machine, call: Call) -> Made:
    """A `TrainState` as it is made."""
    made = Made(kind=STATE, keywords=call.keywords, place=m.place(call.node), fields=dict(call.keywords))
    made.fields["params"] = Tensor(graph=LEAF, marks=frozenset({"parameter"}))
    return made


def state_method(m: Machine, owner: Made, name: str, call: Call) -> Value | None:
    """`apply_gradients` and `replace` give another state; the one they are asked of stays as it was."""
    if name in owner.fields:
        from traindx.program.calling import call_value

        return call_value(m, owner.fields[name], call)
    if name not in {"apply_gradients", "replace"}:
        return None
    if name == "apply_gradients":
        m.event("applied", call.node, owner)
    given = call.keywords if name == "replace" else {}
    return Made(kind=STATE, keywords=owner.keywords, place=owner.place, fields={**owner.fields, **given})
