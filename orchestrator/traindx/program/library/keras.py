"""Keras: layers with their activations, and what a model is compiled and fitted with."""

from __future__ import annotations

from typing import TYPE_CHECKING

from traindx.program.values import (
    Guess,
    Items,
    Layer,
    Made,
    Plain,
    Value,
    text,
)

if TYPE_CHECKING:
    from traindx.program.calling import Call
    from traindx.program.machine import Machine


def call(m: Machine, last: str, call: Call) -> Value:
    """A class or function of Keras."""
    place = m.place(call.node)
    if last in {"Sequential", "Model"}:
        layers = call.argument(0, "layers")
        made = Layer(kind=f"keras {last}", args=tuple(call.args), keywords=call.keywords, place=place)
        made.fields["@layers"] = layers if isinstance(layers, Items) else Items([], "list")
        m.event("keras-model", call.node, made)
        return made
    if last.endswith(("crossentropy", "Crossentropy", "Error")):
        return Made(kind=f"keras-loss {last}", args=tuple(call.args), keywords=call.keywords, place=place)
    if last[:1].isupper():
        return Layer(kind=f"keras {last}", args=tuple(call.args), keywords=call.keywords, place=place)
    return Guess(last)


def activation(layer: Layer) -> str:
    """The activation of a layer: `softmax`, `sigmoid`, `linear` for none."""
    if layer.kind in {"keras Activation", "keras Softmax", "keras ReLU"}:
        return text(layer.args[0] if layer.args else None) or layer.kind.rpartition(" ")[2].lower()
    given = layer.keywords.get("activation", layer.args[1] if len(layer.args) > 1 else None)
    if given is None or (isinstance(given, Plain) and given.value is None):
        return "linear"
    return text(given) or getattr(given, "name", "").rpartition(".")[2]
