"""Values are fetched from the device many times in every step.

## What it finds
Several `.item()`, `.cpu()`, `.numpy()` or `float()` of device tensors in each iteration of the innermost training loop.

## Why it matters
Each one waits until the device has finished everything queued so far; the device then waits for Python.

## Silent
One value per step for a running average, fetches every n-th step, loops that evaluate.
"""

from __future__ import annotations

from collections.abc import Iterator

from traindx.program.analysis import Analysis
from traindx.program.finding import Finding
from traindx.program.values import Tensor

ID = "host-sync-every-step"
SAYS = ("suspected",)
MANY = 4


def check(analysis: Analysis) -> Iterator[Finding]:
    """Count the fetches in each training iteration."""
    trace = analysis.trace
    learning = {event.path for event in trace.of("backward")}
    done: set[int] = set()
    for path in learning:
        fetched = [
            event
            for event in trace.of("sync")
            if event.path[: len(path)] == path and not event.guards and isinstance(event.subject, Tensor)
        ]
        nodes = {id(event.place.node) for event in fetched}
        looped = [event for event in fetched if len(event.path) > len(path)]
        if not path or not fetched or (len(nodes) < MANY and not looped):
            continue
        first = (looped or fetched)[0]
        if id(first.place.node) in done:
            continue
        done |= nodes
        yield Finding(
            ID,
            first.place,
            f"{len(nodes)} values are fetched from the device in every training step",
            proven=False,
            facts={"sync_place": first.place.text, "syncs": len(nodes)},
        )
