"""How often something in a loop happens, where the length of the loop is known."""

from __future__ import annotations

from collections.abc import Mapping

from traindx.program.looping import MODULES, container, one_by_one
from traindx.program.trace import Event, Loop
from traindx.program.values import Instance, Items, Layer, Made, Stream, number


def length(loop: Loop) -> int | None:
    """The number of iterations; None where nothing tells."""
    source = loop.source.source if isinstance(loop.source, Stream) else loop.source
    source = container(source) or source
    if isinstance(source, Items) and not source.more:
        return len(source.items)
    if not isinstance(source, Made) or source.kind != "range":
        return None
    bounds = [number(value) for value in source.args]
    if not bounds or any(bound is None for bound in bounds):
        return None
    known = [int(bound) for bound in bounds if bound is not None]
    return max(0, len(range(*known[:3]))) if len(known) < 3 or known[2] else None


def times(event: Event, outer: int = 0, made: Mapping[int, int] | None = None) -> int:
    """How often an event stands for itself, within so many outer loops: 0 for its second time through a loop, which the
    first one counts for. A module of a list stands for as many as were `made` in its place.
    """
    found = 1
    for turn in event.turns[outer:]:
        source = turn.loop.source
        held = container(source)
        if held is not None and len(held.items) <= MODULES:
            part = held.items[turn.number - 1] if turn.number <= len(held.items) else None
            found *= made.get(part.number, 1) if made and isinstance(part, Layer | Instance) else 1
            continue
        if isinstance(source, Items) and (source.more or one_by_one(turn.loop.node, source)):
            continue
        if turn.number > 1:
            return 0
        found *= length(turn.loop) or 1
    return found
