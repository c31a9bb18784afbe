"""Gradients are computed, weights are never updated.

## What it finds
An optimizer over layers that a backward pass reaches in a loop, and no step of it anywhere.

## Why it matters
Nothing changes the weights: the loss is noise around its first value.

## Silent
Steps of any optimizer that cannot be told apart from it, optimizers handed to a framework or to unknown code, gradients
that are applied by hand, optimizers that are made and never used.
"""

from __future__ import annotations

from collections.abc import Iterator

from traindx.program.analysis import Analysis
from traindx.program.finding import Finding
from traindx.program.queries import handed_out, surely_reaches, touches
from traindx.program.values import Made

ID = "missing-optimizer-step"


def check(analysis: Analysis) -> Iterator[Finding]:
    """Look at every optimizer that is made."""
    trace = analysis.trace
    stepped = [event.subject for event in trace.of("step")]
    if trace.of("overwritten") or not analysis.whole:
        return
    for optimizer in trace.optimizers:
        reached = [event for event in trace.of("backward") if surely_reaches(event, optimizer) and event.turns]
        if not reached or any(isinstance(made, Made) and touches(made, optimizer) for made in stepped):
            continue
        if optimizer.place is None or not optimizer.known or reached[0].facts.get("managed"):
            continue
        # An optimizer that nothing ever touches may simply be left over.
        if not any(event.subject is optimizer for event in trace.of("zero")) and not _scheduled(analysis, optimizer):
            continue
        yield Finding(
            ID,
            reached[0].place,
            "gradients are computed in every iteration, and no optimizer ever applies them",
            proven=not handed_out(trace, optimizer),
            facts={"backward_place": reached[0].place.text, "optimizer_place": optimizer.place.text},
            also=((optimizer.place, "this optimizer never steps"),),
        )


def _scheduled(analysis: Analysis, optimizer: Made) -> bool:
    """Whether a scheduler was made for an optimizer."""
    made = [event.subject for event in analysis.trace.of("scheduler")]
    return any(isinstance(one, Made) and one.argument(0, "optimizer") is optimizer for one in made)
