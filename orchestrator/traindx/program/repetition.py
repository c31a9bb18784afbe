"""How often something in a loop happens, where the length of the loop is known."""

from __future__ import annotations

from traindx.program.trace import Event, Loop
from traindx.program.values import Items, Made, Stream, number


def length(loop: Loop) -> int | None:
    """The number of iterations; None where nothing tells."""
    source = loop.source.source if isinstance(loop.source, Stream) else loop.source
    if isinstance(source, Items) and not source.more:
        return len(source.items)
    if not isinstance(source, Made) or source.kind != "range":
        return None
    bounds = [number(value) for value in source.args]
    if not bounds or any(bound is None for bound in bounds):
        return None
    known = [int(bound) for bound in bounds if bound is not None]
    return max(0, len(range(*known[:3]))) if len(known) < 3 or known[2] else None


def times(event: Event) -> int:
    """How often an event stands for itself: 0 for its second time through a loop, which the first one counts for."""
    found = 1
    for turn in event.turns:
        source = turn.loop.source
        if isinstance(source, Items):
            continue  # a known list is gone through element by element
        if turn.number > 1:
            return 0
        found *= length(turn.loop) or 1
    return found
