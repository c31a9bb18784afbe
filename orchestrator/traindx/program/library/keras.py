"""Keras: layers with their activations, and what a model is compiled and fitted with."""

from __future__ import annotations

from typing import TYPE_CHECKING

from traindx.program.library.keras_models import MARK, layer_of
from traindx.program.values import (
    Guess,
    Instance,
    Items,
    Layer,
    Made,
    Plain,
    Tensor,
    Value,
    number,
    text,
    whole,
)

if TYPE_CHECKING:
    from traindx.program.calling import Call
    from traindx.program.machine import Machine

_ACTIVATED = frozenset(["keras Dense", "keras Activation", "keras Softmax", "keras ReLU", "keras Conv1D",
                        "keras Conv2D", "keras Conv3D", "keras Conv2DTranspose", "keras SeparableConv2D"])  # fmt: skip
"""layers that are linear where no activation is given; of others nothing is known"""
_SPREADS = {
    "keras RandomNormal": (1, "stddev", "normal_"), "keras TruncatedNormal": (1, "stddev", "trunc_normal_"),
    "keras RandomUniform": (1, "maxval", "uniform_"),
}  # fmt: skip
"""initializers that are given their spread: its place, its name, and what they do"""
_PIXELS = frozenset(["mnist", "fashion_mnist", "cifar10", "cifar100"])


def call(m: Machine, full: str, call: Call) -> Value:
    """A class or function of Keras, by its full name."""
    last = full.rpartition(".")[2]
    place = m.place(call.node)
    if "regularizers" in full.split("."):
        penalty = Made(kind=f"keras-penalty {last.lower()}", args=tuple(call.args), keywords=call.keywords, place=place)
        m.event("penalty", call.node, penalty)
        return penalty
    if last in {"Sequential", "Model"}:
        made = Layer(kind=f"keras {last}", args=tuple(call.args), keywords=call.keywords, place=place)
        layers = call.argument(0, "layers") if last == "Sequential" else None
        made.fields["@layers"] = Items(list(layers.items) if isinstance(layers, Items) else [], "list")
        return made
    if last == "load_data":
        marks = frozenset({"pixels"}) if set(full.split(".")) & _PIXELS else frozenset[str]()
        pair = Items([Tensor(marks=marks), Tensor(marks=frozenset({"integers"}), shape=(None,))])
        return Items([pair, pair])
    if last == "to_categorical":
        return Tensor(marks=frozenset({"one-hot"}), shape=(None, None))
    if last.lower().endswith(("crossentropy", "error")):
        return Made(kind=f"keras-loss {last}", args=tuple(call.args), keywords=call.keywords, place=place)
    if last[:1].isupper():
        layer = Layer(kind=f"keras {last}", args=tuple(call.args), keywords=call.keywords, place=place)
        if ".applications." in full:
            layer.fields["@weights"] = call.keywords.get("weights", Plain("imagenet"))
        _drawn(m, layer, call)
        return layer
    return Guess(last)


def _drawn(m: Machine, layer: Layer, call: Call) -> None:
    """Note with which spread a layer's initializer draws its weights, where that is given as a number."""
    given = layer.keywords.get("kernel_initializer")
    at, argument, name = _SPREADS.get(given.kind, (0, "", "")) if isinstance(given, Layer) else (0, "", "")
    if isinstance(given, Layer) and name:
        told = number(given.keywords.get(argument, given.args[at] if len(given.args) > at else None))
        spread = told / 3**0.5 if told is not None and name == "uniform_" else told
        facts = {"value": None, "gain": None, "target": None, "whichever": False}
        m.event("initialised", call.node, layer, part="weight", name=name, spread=spread, **facts)


def method(m: Machine, owner: Layer | Instance, name: str, call: Call) -> Value | None:
    """A method of a Keras model."""
    held = owner.fields.get("@layers")
    if name == "add" and call.args and isinstance(held, Items):
        m.journal.put(held, "items", [*held.items, call.args[0]])
        return Plain(None)
    if name == "compile":
        loss = call.keywords.get("loss", call.args[1] if len(call.args) > 1 else None)
        node = next((part.value for part in call.node.keywords if part.arg == "loss"), call.node)
        m.event("compile", node, owner, loss=loss, metrics=call.keywords.get("metrics"))
        m.journal.set(owner.fields, "@loss", loss or Plain(None))
        return Plain(None)
    if name == "fit":
        m.event("fit-model", call.node, owner, x=call.argument(0, "x"), y=call.argument(1, "y"), call=call)
        return Guess("history")
    return Guess(name) if name in {"evaluate", "predict", "summary", "save", "load_weights"} else None


def forward(m: Machine, layer: Layer, call: Call) -> Value:
    """A layer that is called on a tensor, as in the functional style."""
    kept = call.tensors[0].marks if call.tensors else frozenset[str]()
    units = whole(layer.args[0]) if layer.args else whole(layer.keywords.get("units"))
    marks = frozenset({f"units {units}"}) if units else frozenset(mark for mark in kept if mark.startswith("units "))
    if layer.kind in {"keras Rescaling", "keras Normalization", "keras BatchNormalization"}:
        marks |= {"rescaled"}
    m.trace.blocks[layer.number] = layer
    known = [tensor for tensor in call.tensors if layer_of(tensor, m.trace)]
    begins = bool(call.args) and isinstance(call.args[0], Layer) and call.args[0].kind == "keras Input"
    # What comes out of a class of the program, or of a function, may be anything.
    layer.fields["@inputs"] = Items(list(known), "list", not known and not begins)
    own = f"{MARK}{layer.number}"
    if layer.kind in {"keras Dropout", "keras Flatten", "keras Reshape"} and call.tensors:
        passed = call.tensors[0]
        return passed.but(marks=frozenset(mark for mark in passed.marks if not mark.startswith(MARK)) | {own})
    marks |= {own}
    act = activation(layer) if layer.kind in _ACTIVATED or "activation" in layer.keywords else ""
    return Tensor(act=act, act_at=m.place(call.node), marks=marks | (kept & {"rescaled"}))


def last_layer(owner: Layer) -> tuple[str, int | None, Layer | Tensor | None]:
    """The last activation of a model, its number of units, and the layer."""
    if owner.kind == "keras Model":
        out = owner.keywords.get("outputs", owner.args[1] if len(owner.args) > 1 else None)
        if isinstance(out, Tensor):
            units = next((int(mark.split()[1]) for mark in out.marks if mark.startswith("units ")), None)
            return out.act, units, out
        return "", None, None
    held = owner.fields.get("@layers")
    layers = [layer for layer in held.items if isinstance(layer, Layer)] if isinstance(held, Items) else []
    if not layers or (isinstance(held, Items) and (held.more or not isinstance(held.items[-1], Layer))):
        return "", None, None
    last = layers[-1]
    if last.kind in {"keras Activation", "keras Softmax"} and len(layers) > 1:
        return activation(last), _units(layers[-2]), last
    return activation(last) if last.kind == "keras Dense" else "", _units(last), last


def _units(layer: Layer) -> int | None:
    return whole(layer.args[0] if layer.args else layer.keywords.get("units"))


def activation(layer: Layer) -> str:
    """The activation of a layer: `softmax`, `sigmoid`, `linear` for none."""
    if layer.kind in {"keras Activation", "keras Softmax", "keras ReLU"}:
        return text(layer.args[0] if layer.args else None) or layer.kind.rpartition(" ")[2].lower()
    given = layer.keywords.get("activation", layer.args[1] if len(layer.args) > 1 else None)
    if given is None or (isinstance(given, Plain) and given.value is None):
        return "linear"
    return text(given) or getattr(given, "name", "").rpartition(".")[2]


def loss_name(value: Value | None) -> tuple[str, bool | None]:
    """The name of a loss in small letters without underscores, and whether it takes logits."""
    if text(value):
        return text(value).replace("_", "").lower(), False
    if isinstance(value, Made) and value.kind.startswith("keras-loss"):
        told = value.keywords.get("from_logits")
        logits = bool(told.value) if isinstance(told, Plain) else False if told is None else None
        return value.kind.partition(" ")[2].replace("_", "").lower(), logits
    return "", None


DISTANCES = frozenset(["mse", "meansquarederror", "mae", "meanabsoluteerror", "huber", "logcosh"])
"""losses that measure how far a number is from another, as `loss_name` gives them"""


def is_one_hot(value: Value | None) -> bool | None:
    """Whether labels are one-hot rows; None where that is not known."""
    if isinstance(value, Tensor):
        if "one-hot" in value.marks:
            return True
        if "integers" in value.marks or value.dtype == "long":
            return False
    return None
