"""How far an autograd graph reaches back, measured within bounds."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

MOST_NODES = 200_000
_WINDOW, _LAYER = "traindx_window", "traindx_layer"


class Reach(NamedTuple):
    """The graph behind a tensor."""

    depth: int
    """operations on its longest path"""
    windows: frozenset[int]
    """the windows that it was made in"""
    layers: frozenset[tuple[int, int]]
    """the layers whose output is in it, each with its window"""
    whole: bool = True
    """whether all of it was looked at"""


NOTHING = Reach(0, frozenset(), frozenset())


def tensors_in(value: Any, deepest: int = 4) -> Iterator[Any]:
    """The floating-point tensors of a value, through tuples, lists and dictionaries."""
    import torch

    if isinstance(value, torch.Tensor):
        if value.is_floating_point():
            yield value
    elif isinstance(value, (tuple, list)) and deepest:
        for part in value:
            yield from tensors_in(part, deepest - 1)
    elif isinstance(value, dict) and deepest:
        for part in value.values():
            yield from tensors_in(part, deepest - 1)


def mark(tensor: Any, window: int, layer: int | None) -> None:
    """Leave a mark at the operation that made a tensor; it stays there as long as the graph does."""
    if tensor.grad_fn is not None:
        tensor.grad_fn.metadata.setdefault(_WINDOW, window)
        if layer is not None:
            tensor.grad_fn.metadata.setdefault(_LAYER, (layer, window))


def reach(tensor: Any) -> Reach:
    """Go through the graph behind a tensor."""
    if tensor.grad_fn is None:
        return NOTHING
    order: list[Any] = [tensor.grad_fn]
    wanted: dict[Any, int] = {tensor.grad_fn: 0}
    for node in order:
        for earlier, _ in node.next_functions:
            if earlier is None:
                continue
            if earlier not in wanted:
                wanted[earlier] = 0
                order.append(earlier)
            wanted[earlier] += 1
        if len(order) > MOST_NODES:
            return Reach(MOST_NODES, *_marks(order), whole=False)
    return Reach(_longest(tensor.grad_fn, wanted), *_marks(order))


def _marks(nodes: list[Any]) -> tuple[frozenset[int], frozenset[tuple[int, int]]]:
    kept = [node.metadata for node in nodes]
    windows = frozenset(row[_WINDOW] for row in kept if _WINDOW in row)
    return windows, frozenset(row[_LAYER] for row in kept if _LAYER in row)


def _longest(first: Any, wanted: dict[Any, int]) -> int:
    """The longest path from a node: each node counts once all those that lead to it have been seen."""
    length = {first: 1}
    ready, longest = [first], 1
    while ready:
        node = ready.pop()
        longest = max(longest, length[node])
        for earlier, _ in node.next_functions:
            if earlier is None:
                continue
            length[earlier] = max(length.get(earlier, 0), length[node] + 1)
            wanted[earlier] -= 1
            if not wanted[earlier]:
                ready.append(earlier)
    return longest
