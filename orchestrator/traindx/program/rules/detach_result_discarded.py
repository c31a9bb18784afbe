"""A state is detached and the result thrown away.

## What it finds
A statement that detaches a state (`h.detach()`, a helper that returns detached states) and drops what it returns, while
the state itself goes on into the next iteration with its graph.

## Why it matters
`detach()` changes nothing in place: the loop looks right and behaves as if the line were not there.

## Silent
Results that are assigned, `detach_()`, helpers that change the state in place, detached values that nothing carries on.
"""

from __future__ import annotations

from collections.abc import Iterator

from traindx.program.analysis import Analysis
from traindx.program.finding import Finding
from traindx.program.states import reused

ID = "detach-result-discarded"


def check(analysis: Analysis) -> Iterator[Finding]:
    """Look at detaches that lead nowhere, where a state meets a spent graph."""
    for row in reused(analysis):
        if row.discarded is None:
            continue
        place = row.discarded.place
        yield Finding(
            ID,
            place,
            f"the detached state is thrown away here: `{row.name}` keeps its graph",
            facts={"state": row.name, "rule_place": place.text, "state_place": row.call.place.text},
            also=((row.call.place, "gets the state with its graph"), (row.backward.place, "goes back through it")),
        )
