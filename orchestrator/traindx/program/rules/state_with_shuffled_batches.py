"""State is carried across batches that are shuffled.

## What it finds
A recurrent state that goes from one batch to the next in a loop over a loader with `shuffle=True`, or over randomly
ordered indices.

## Why it matters
The next batch does not continue the last one: the state tells of other sequences, and adds noise.

## Silent
Loaders in order, states that are new in each batch, windows within one batch.
"""

from __future__ import annotations

from collections.abc import Iterator

from traindx.program.analysis import Analysis
from traindx.program.finding import Finding
from traindx.program.queries import is_true
from traindx.program.states import carrying_loop, is_certain, outer_name
from traindx.program.values import Made, Place, Stream, Tensor, Value

ID = "state-with-shuffled-batches"


def check(analysis: Analysis) -> Iterator[Finding]:
    """Look at loops that hand a state on."""
    done: set[int] = set()
    for call in analysis.trace.of("recurrent"):
        loop = carrying_loop(analysis, call)
        if loop is None or not is_certain(call) or id(loop.node) in done or not call.grad:
            continue
        shuffled = shuffled_at(loop.source)
        if shuffled is None and not _is_random(loop.source):
            continue
        done.add(id(loop.node))
        name = outer_name(call)
        place = shuffled or loop.place
        yield Finding(
            ID,
            place,
            f"the batches come in random order, and `{name}` is carried from one to the next",
            facts={"state": name, "state_place": call.place.text, "loader_place": place.text},
            also=((call.place, "takes the state of another batch"),),
        )


def shuffled_at(source: Value) -> Place | None:
    """Where a loader is told to shuffle; None where it is not."""
    if isinstance(source, Stream):
        source = source.source
    if isinstance(source, Made) and source.kind == "DataLoader" and is_true(source.argument(2, "shuffle")):
        return source.place
    return None


def _is_random(source: Value) -> bool:
    if isinstance(source, Stream):
        source = source.source
    return isinstance(source, Tensor) and "shuffled" in source.marks
