"""Recurrent layers: their state goes in, comes out, and is followed from one iteration to the next."""

from __future__ import annotations

from typing import TYPE_CHECKING

from traindx.program.values import (
    Items,
    Layer,
    Mapping,
    Plain,
    Shape,
    Tensor,
    Value,
    is_none,
    whole,
)

if TYPE_CHECKING:
    from traindx.program.calling import Call
    from traindx.program.machine import Machine

KINDS = frozenset(["LSTM", "GRU", "RNN", "LSTMCell", "GRUCell", "RNNCell"])
CELL = "recurrent cell"
"""the kind of a recurrence that the program writes itself"""
CELLS = frozenset(["LSTMCell", "GRUCell", "RNNCell"])


def apply(m: Machine, layer: Layer, call: Call) -> Value:
    """One call of a recurrent layer: `out, state = rnn(x, state)`, `h = cell(x, h)`."""
    from traindx.program.library.layers import parametric

    given = call.argument(0, "input")
    state = call.argument(1, "hx")
    x = given if isinstance(given, Tensor) else Tensor()
    inputs = [x, *parts_of(state)]
    m.event("recurrent", call.node, layer, input=x, state=state, length=_length(layer, x))
    made = parametric(m, layer, inputs, None)
    made = made.but(states=frozenset({(layer.number, m.serial)}), act="recurrent", marks=made.marks - {"opaque"})
    h = made.but(shape=_state_shape(layer, x)).marked("state")
    pair = Items([h.marked("hidden"), h.marked("cell")])
    if layer.kind in CELLS:
        return pair if layer.kind == "LSTMCell" else h
    out = made.but(shape=_out_shape(layer, x))
    return Items([out, pair if layer.kind == "LSTM" else h])


def parts_of(state: Value | None) -> list[Tensor]:
    """The tensors of a state."""
    if isinstance(state, Tensor):
        return [state]
    if isinstance(state, Items):
        return [part for item in state.items for part in parts_of(item)]
    if isinstance(state, Mapping):
        return [part for item in state.entries.values() for part in parts_of(item)]
    return []


def is_fresh(state: Value | None) -> bool:
    """Whether a state holds nothing: None, or zeros that no layer has made."""
    if state is None or is_none(state):
        return True
    tensors = parts_of(state)
    return bool(tensors) and all("zeros" in part.marks and not part.states for part in tensors)


def _first(layer: Layer) -> bool:
    given = layer.keywords.get("batch_first", layer.args[4] if len(layer.args) > 4 else None)
    return isinstance(given, Plain) and given.value is True


def _length(layer: Layer, x: Tensor) -> int | None:
    """How many time steps go in at once; 1 for a cell."""
    if layer.kind in CELLS:
        return 1
    if x.shape is None or len(x.shape) < 3:
        return None
    return x.shape[1 if _first(layer) else 0]


def _hidden(layer: Layer) -> int | None:
    given = layer.keywords.get("hidden_size", layer.args[1] if len(layer.args) > 1 else None)
    size = whole(given)
    both = layer.keywords.get("bidirectional")
    if (isinstance(both, Plain) and both.value is False) or both is None:
        return size
    return None


def _out_shape(layer: Layer, x: Tensor) -> Shape | None:
    return (*x.shape[:-1], _hidden(layer)) if x.shape else None


def _state_shape(layer: Layer, x: Tensor) -> Shape | None:
    if layer.kind in CELLS:
        return (x.shape[0] if x.shape else None, _hidden(layer))
    if x.shape is None or len(x.shape) < 3:
        return None
    return (None, x.shape[0 if _first(layer) else 1], _hidden(layer))
