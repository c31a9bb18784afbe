"""Something cuts the loss off from the weights.

## What it finds
A backward pass on a value that was rebuilt from numbers (`.item()`, `.numpy()`, `torch.tensor(…)`, `argmax`, `.data`,
`no_grad`) and made to ask for a gradient again, or has none; and layers of an optimizer that no loss ever reaches
because their output is cut on the way.

## Why it matters
The weights behind the cut get no gradient: the loss stays where it is, or that part of the model never learns.

## Silent
Cuts outside the path of the loss: metrics, logging, targets, teachers, states between windows.
"""

from __future__ import annotations

from collections.abc import Iterator

from traindx.program.analysis import Analysis
from traindx.program.finding import Finding
from traindx.program.queries import steps
from traindx.program.trace import tensor_of
from traindx.program.values import Cut, Made, Tensor

ID = "broken-gradient-path"


def check(analysis: Analysis) -> Iterator[Finding]:
    """Look at what every backward starts from."""
    trace = analysis.trace
    trains = [events[0].subject for events in steps(trace).values()]
    for event in trace.of("backward"):
        value = tensor_of(event)
        if value is None or not value.sure or value.deps:
            continue
        known = [made for made in trains if isinstance(made, Made) and made.known and made.layers]
        if not known or ("leaf" not in value.marks and value.graph):
            continue
        cut = value.cut or _cut_before(value)
        if cut is None:
            continue
        yield Finding(
            ID,
            cut.place,
            f"{cut.by} cuts the loss off from the weights: the backward at {event.place.text} reaches no parameter",
            facts={"cut_place": cut.place.text, "cut_by": cut.by, "backward_place": event.place.text},
            also=((event.place, "starts from a value without a path to the weights"),),
        )


def _cut_before(value: Tensor) -> Cut | None:
    term = value.loss
    inner = term.prediction if term is not None else None
    return inner.cut if isinstance(inner, Tensor) else None
