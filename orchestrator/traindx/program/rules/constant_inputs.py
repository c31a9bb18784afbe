"""Inputs are turned into constants before the model sees them.

## What it finds
Values that were scaled to the range 0 to 1 (divided by 255, or a number like it) and are then cast to an integer type.

## Why it matters
The cast cuts off everything behind the point: nearly all values become 0, and the model gets the same input every time.

## Silent
Casts before the division, casts of values that are multiplied up again first, masks and labels.
"""

from __future__ import annotations

from collections.abc import Iterator

from traindx.program.analysis import Analysis
from traindx.program.finding import Finding

ID = "constant-inputs"


def check(analysis: Analysis) -> Iterator[Finding]:
    """Look at every cast of values between 0 and 1."""
    done: set[str] = set()
    for event in analysis.trace.of("truncated"):
        if event.place.text in done:
            continue
        done.add(event.place.text)
        yield Finding(
            ID,
            event.place,
            "values between 0 and 1 are cast to integers: nearly all of them become 0",
            facts={"cast_place": event.place.text},
        )
