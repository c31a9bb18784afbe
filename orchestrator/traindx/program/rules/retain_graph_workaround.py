"""`retain_graph=True` hides a state that is not detached.

## What it finds
A backward pass with `retain_graph=True` whose graph reaches, by way of a recurrent state, into iterations that earlier
backward passes have been through.

## Why it matters
Every earlier graph stays alive: memory and time per step grow, or the next backward meets weights that the optimizer
has changed since.

## Silent
Graphs that are kept within one iteration, for several losses or for higher derivatives.
"""

from __future__ import annotations

from collections.abc import Iterator

from traindx.program.analysis import Analysis
from traindx.program.finding import Finding
from traindx.program.states import reused

ID = "retain-graph-workaround"


def check(analysis: Analysis) -> Iterator[Finding]:
    """Look at kept graphs that reach into earlier iterations."""
    for row in reused(analysis):
        if not row.kept or row.partial:
            continue
        yield Finding(
            ID,
            row.backward.place,
            f"`retain_graph=True` keeps the graphs of all iterations alive, because `{row.name}` is never detached",
            facts={"state": row.name, "state_place": row.call.place.text, "backward_place": row.backward.place.text},
            also=((row.call.place, "takes the state with its graph"),),
        )
