"""What the calls of libraries mean for a training program: who answers for which call."""

from __future__ import annotations

from typing import TYPE_CHECKING

from traindx.program.calling import Call, call_method, call_value, is_module
from traindx.program.guessing import looks_like_loss, looks_like_model
from traindx.program.library import (
    containers,
    data,
    frameworks,
    graphs,
    jax,
    keras,
    layers,
    losses,
    mathematics,
    modules,
    pictures,
    python,
    tensors,
    training,
)
from traindx.program.library.initialising import SETTING, initialised
from traindx.program.streams import LOADER
from traindx.program.values import (
    UNKNOWN,
    Class,
    Function,
    Gradient,
    Guess,
    Imported,
    Instance,
    Items,
    Layer,
    Library,
    Made,
    Mapping,
    Parameters,
    Plain,
    Stream,
    Tensor,
    Value,
)

if TYPE_CHECKING:
    from traindx.program.machine import Machine

_ROOTS = ("torch", "torchvision", "transformers", "apex", "timm", "torchaudio", "bitsandbytes", "einops")


def call_library(m: Machine, name: str, call: Call) -> Value:
    """Call a function or class of a package by its full name."""
    return mathematics.after_function(m, name, call, _library(m, name, call))


def _library(m: Machine, name: str, call: Call) -> Value:
    root, _, _ = name.partition(".")
    last = name.rpartition(".")[2]
    if root == "keras":
        return keras.call(m, name, call)
    if root == "builtins":
        return python.builtin(m, last, call)
    if (found := jax.call(m, name, last, call)) is not None:
        return found
    for answer in (
        losses.call, training.call, layers.construct, data.call, frameworks.call, pictures.call, tensors.function,
    ):  # fmt: skip
        found = answer(m, name, last, call)
        if found is not None:
            return found
    found = python.standard(m, name, last, call)
    if found is not None:
        return found
    if call.tensors and root in _ROOTS:
        return graphs.mixed(m, call.tensors, marks=frozenset({"opaque"}))
    return call_unknown(m, Library(name), call)


def call_layer(m: Machine, layer: Layer | Instance, call: Call) -> Value:
    """Go forward through a module of a library."""
    if isinstance(layer, Layer) and layer.kind.startswith("keras"):
        return keras.forward(m, layer, call)
    if isinstance(layer, Layer) and layer.kind.startswith("flax "):
        return jax.forward(m, layer, call)
    return layers.apply(m, layer, call)


def call_made(m: Machine, made: Made, call: Call) -> Value:
    """Call an object of a library: a loss, a transform, a decorator."""
    if made.kind.startswith("loss"):
        return losses.apply(m, made, call)
    if made.kind == "jax-gradient":
        return jax.differentiated(m, made, call)
    if made.kind == "no_grad" and call.args and isinstance(call.args[0], Function):
        function = call.args[0]
        return Function(function.node, function.unit, function.scope, function.owner, function.marks | {"no_grad"})
    if made.kind == "partial":
        inner = Call(call.node, [*made.args[1:], *call.args], {**made.keywords, **call.keywords})
        return call_value(m, made.args[0], inner) if made.args else UNKNOWN
    return call_unknown(m, made, call)


def call_unknown(m: Machine, callee: Value, call: Call) -> Value:
    """Call something that nobody knows: functions that were passed to it may run, tensors flow through it."""
    name = callee.name if isinstance(callee, Guess | Library) else ""
    if looks_like_loss(name):
        return losses.apply(m, Made(kind="loss"), call)
    if isinstance(callee, Guess) and looks_like_model(name):
        layer = m.guesses.setdefault(name, Layer(kind="?", guessed=True))
        m.trace.layers[layer.number] = layer
        return layers.apply(m, layer, call)
    m.event("foreign", call.node, callee, call=call, name=name)
    if call.tensors:
        # Whether it keeps the graph is anybody's guess.
        return graphs.mixed(m, call.tensors, marks=frozenset({"opaque"})).but(sure=False)
    return Guess(name.rpartition(".")[2])


def call_method_of(m: Machine, owner: Value, name: str, call: Call) -> Value:
    """Call a method of a value, which its library defines."""
    return mathematics.after_method(m, owner, name, call, _method_of(m, owner, name, call))


def _method_of(m: Machine, owner: Value, name: str, call: Call) -> Value:
    found: Value | None = None
    if name in SETTING and isinstance(owner, Guess):
        initialised(m, name, owner, call, call.args)
    if isinstance(owner, Tensor):
        found = tensors.method(m, owner, name, call)
    elif isinstance(owner, Made):
        found = _of_made(m, owner, name, call)
    elif isinstance(owner, Layer) and owner.kind.startswith("keras"):
        found = keras.method(m, owner, name, call)
    elif isinstance(owner, Instance) and jax.is_flax(owner):
        found = jax.module_method(m, owner, name, call)
    elif isinstance(owner, Layer) or (isinstance(owner, Instance) and is_module(owner)):
        found = modules.method(m, owner, name, call)
    elif isinstance(owner, Items | Mapping | Plain | Stream | Parameters | Gradient):
        found = containers.method(m, owner, name, call)
    if found is None and isinstance(owner, Instance):
        found = frameworks.inherited(m, owner, name, call)
    if found is not None:
        return found
    return training.by_name(m, owner, name, call) or call_unknown(m, Guess(name), call)


def _of_made(m: Machine, owner: Made, name: str, call: Call) -> Value | None:
    if owner.kind == jax.STATE:
        return jax.state_method(m, owner, name, call)
    if owner.kind == "super":
        return _inherited(m, owner, name, call)
    for answer in (training.method, data.method, frameworks.method, pictures.method):
        found = answer(m, owner, name, call)
        if found is not None:
            return found
    return None


def _inherited(m: Machine, owner: Made, name: str, call: Call) -> Value | None:
    """A method of the class above: `super().forward(x)`."""
    instance, cls = owner.fields.get("self"), owner.fields.get("cls")
    if not isinstance(instance, Instance) or not isinstance(cls, Class):
        return UNKNOWN
    for base in cls.bases:
        found = base.find(name) if isinstance(base, Class) else None
        if isinstance(found, Function):
            return call_method(m, instance, found, call.args, call.keywords, call.node)
    if name == "__init__":
        if cls.descends("DataLoader"):
            m.journal.set(instance.fields, LOADER, data.loader(m, call))
        return Plain(None)
    return modules.method(m, instance, name, call)


__all__ = ["Imported", "call_layer", "call_library", "call_made", "call_method_of", "call_unknown"]
