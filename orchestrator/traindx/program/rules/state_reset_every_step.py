"""The state is made anew for every step where it should flow on.

## What it finds
A recurrent cell, or a recurrent layer that is given one time step at a time, called in a loop over time with a state
that is new (zeros or None) in every iteration.

## Why it matters
The network sees each step alone: it has no memory, and is no better than a model without recurrence.

## Silent
Whole sequences in one call, states that are handed on, samples in random order.
"""

from __future__ import annotations

from collections.abc import Iterator

from traindx.program.analysis import Analysis
from traindx.program.finding import Finding
from traindx.program.library.recurrent import is_fresh, parts_of
from traindx.program.queries import is_true
from traindx.program.trace import Event
from traindx.program.values import Made, Place, Stream, Tensor

ID = "state-reset-every-step"


def check(analysis: Analysis) -> Iterator[Finding]:
    """Look at calls with one time step and a new state, in a loop."""
    trace = analysis.trace
    done: set[int] = set()
    for call in trace.of("recurrent"):
        if call.facts.get("length") != 1 or not call.turns or id(call.place.node) in done:
            continue
        if not is_fresh(call.facts.get("state")) or call.turns[-1].number < 2 or not call.grad:
            continue
        same = [e for e in trace.of("recurrent") if e.place.node is call.place.node and e.path == call.path]
        if len(same) > 1 or not _in_time(call):
            continue
        done.add(id(call.place.node))
        loop = call.turns[-1].loop
        yield Finding(
            ID,
            call.place,
            f"the loop at {loop.place.text} goes through time, and each step gets a new state: nothing is kept",
            facts={"state_place": call.place.text, "loop_place": loop.place.text},
            also=(*_born(call), (loop.place, "goes through the time steps")),
        )


def _born(call: Event) -> tuple[tuple[Place, str], ...]:
    """Where the new state is made."""
    places = [part.made for part in parts_of(call.facts.get("state")) if part.made is not None]
    return tuple((place, "a new state for every step") for place in places[:2])


def _in_time(call: Event) -> bool:
    """Whether the iterations follow each other in time: an index into a sequence, or samples in their order."""
    given = call.facts.get("input")
    if isinstance(given, Tensor) and "time-step" in given.marks:
        return True
    source = call.turns[-1].loop.source
    if isinstance(source, Stream):
        source = source.source
    if isinstance(source, Made) and source.kind == "DataLoader":
        shuffled = is_true(source.argument(2, "shuffle")) or "sampler" in source.keywords
        return not shuffled
    if isinstance(source, Tensor):
        return "shuffled" not in source.marks
    return False
