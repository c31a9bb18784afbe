"""Recurrent states in the forms that programs keep them in: pairs, stacks, lists of layers, dictionaries."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import torch
from torch.nn.utils.rnn import PackedSequence

if TYPE_CHECKING:
    from torch import Tensor

    State: TypeAlias = Tensor | PackedSequence | Sequence["State"] | Mapping[str, "State"] | None

_HIDDEN_KEYS = frozenset({"h", "hx", "h_n", "h0", "hidden", "hidden_state", "lstm_h", "rnn_h"})
_CELL_KEYS = frozenset({"c", "cx", "c_n", "c0", "cell", "cell_state", "lstm_c"})
_DEEPEST = 8
_PAIR = 2


class Parts(NamedTuple):
    """The tensors of a state: what is handed on as output, and what only a cell keeps."""

    hidden: list[Tensor]
    cell: list[Tensor]


def parts_of(state: State) -> Parts:
    """The tensors of a state that hold numbers.

    A tuple of two tensors is what an LSTM returns, `(h, c)`; a list is a list of layers.
    """
    found = Parts([], [])
    _collect(state, found, 0)
    return found


def _collect(state: object, found: Parts, depth: int) -> None:
    if isinstance(state, torch.Tensor):
        _keep(state, found.hidden)
    elif isinstance(state, PackedSequence):
        _keep(state.data, found.hidden)
    elif depth > _DEEPEST:
        return
    elif isinstance(state, (list, tuple)):
        if _is_pair(state):
            _keep(state[0], found.hidden)
            _keep(state[1], found.cell)
            return
        for one in state:
            _collect(one, found, depth + 1)
    elif isinstance(state, Mapping):
        for key, value in state.items():
            _named(str(key).lower(), value, found, depth)


def _is_pair(state: Sequence[object]) -> bool:
    if not isinstance(state, tuple) or len(state) != _PAIR:
        return False
    return isinstance(state[0], torch.Tensor) and isinstance(state[1], torch.Tensor)


def _named(key: str, value: object, found: Parts, depth: int) -> None:
    into = found.hidden if key in _HIDDEN_KEYS else found.cell if key in _CELL_KEYS else None
    if into is None or (isinstance(value, tuple) and into is found.hidden):  # `{"hidden": (h, c)}`
        _collect(value, found, depth + 1)
        return
    below = Parts([], [])
    _collect(value, below, depth + 1)
    into += [*below.hidden, *below.cell]


def _keep(tensor: Tensor, into: list[Tensor]) -> None:
    """Take a tensor that has numbers to measure: no counters, nothing empty, nothing without storage."""
    if tensor.is_complex():
        tensor = torch.view_as_real(tensor).flatten(-2)
    if tensor.is_floating_point() and tensor.numel() and tensor.layout is torch.strided and not tensor.is_meta:
        into.append(tensor)
