"""Only a part of the recurrent state is detached.

## What it finds
A state of several tensors (an LSTM's `h` and `c`, layers of a stack) of which some are detached before the next
iteration and others still carry the graph of the last one.

## Why it matters
The graph of the whole past hangs on the part that was forgotten: the same error and the same growth as with no detach.

## Silent
States that are detached as a whole, or not at all.
"""

from __future__ import annotations

from collections.abc import Iterator

from traindx.program.analysis import Analysis
from traindx.program.finding import Finding
from traindx.program.states import reused

ID = "cell-state-not-detached"


def check(analysis: Analysis) -> Iterator[Finding]:
    """Look at every state of which a part meets a spent graph."""
    for row in reused(analysis):
        if not row.partial or row.discarded is not None:
            continue
        place = row.halfway or row.call.place
        yield Finding(
            ID,
            place,
            f"only a part of the state `{row.name}` is detached: the rest carries the graph of every iteration before",
            facts={"state": row.name, "state_place": place.text, "backward_place": row.backward.place.text},
            also=(
                (row.call.place, "takes the state"),
                (row.backward.place, "goes back through the part that is still attached"),
            ),
        )
