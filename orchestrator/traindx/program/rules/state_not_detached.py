"""The recurrent state carries its graph into the next iteration.

## What it finds
A backward pass whose graph reaches into an earlier iteration that an earlier backward pass has already been through, by
way of a recurrent state that was handed on whole.

## Why it matters
The second backward fails ("Trying to backward through the graph a second time"), or, where graphs are kept, memory and
time grow with every step.

## Silent
States that are detached, repackaged or made anew on any path between the two, windows whose losses are summed into one
backward, states of which only a part is attached (`cell-state-not-detached`), graphs kept on purpose
(`retain-graph-workaround`), and a detach whose result is lost (`detach-result-discarded`).
"""

from __future__ import annotations

from collections.abc import Iterator

from traindx.program.analysis import Analysis
from traindx.program.finding import Finding
from traindx.program.states import reused

ID = "state-not-detached"


def check(analysis: Analysis) -> Iterator[Finding]:
    """Look at every backward that meets a graph that is spent."""
    for row in reused(analysis):
        if row.kept or row.partial or row.discarded is not None:
            continue
        yield Finding(
            ID,
            row.call.place,
            f"`{row.name}` goes into the next iteration with the graph of this one: nothing detaches it in between",
            facts={"state": row.name, "state_place": row.call.place.text, "backward_place": row.backward.place.text},
            also=((row.backward.place, "goes back into an iteration whose graph is spent"),),
        )
