"""A tensor that backward needs is changed in place.

## What it finds
`x += …`, `x[…] = …` or a method ending in an underscore on the output of a sigmoid, tanh, ReLU or softmax, which
autograd has kept to compute its gradient.

## Why it matters
Backward fails: "one of the variables needed for gradient computation has been modified by an inplace operation".

## Silent
Outputs of layers that do not keep their output, copies and views, changes without gradients.
"""

from __future__ import annotations

from collections.abc import Iterator

from traindx.program.analysis import Analysis
from traindx.program.finding import Finding
from traindx.program.trace import Event, tensor_of
from traindx.program.values import Tensor

ID = "in-place-modification"
_KEPT = {"sigmoid", "tanh", "softmax", "relu", "exp", "sqrt", "rsqrt", "reciprocal", "exp2"}


def check(analysis: Analysis) -> Iterator[Finding]:
    """Look at every change in place."""
    for event in analysis.trace.of("in-place", "written-into"):
        value = event.subject
        if not isinstance(value, Tensor) or value.act not in _KEPT or "saved" not in value.marks or not value.sure:
            continue
        if not event.grad or not value.graph or not _is_needed(analysis, event, value):
            continue
        also = ((value.act_at, f"keeps the output of {value.act} for its gradient"),) if value.act_at else ()
        yield Finding(
            ID,
            event.place,
            f"the output of {value.act} is changed in place, and backward needs it as it was",
            facts={"inplace_place": event.place.text, "activation": value.act},
            also=also,
        )


def _is_needed(analysis: Analysis, event: Event, value: Tensor) -> bool:
    """Whether a backward may reach what was changed: one through the same layers, or one of unknown ones.

    What no program here calls may be called by others.
    """
    if event.at >= analysis.trace.main:
        return True
    backwards = analysis.trace.of("backward")
    reached = [tensor.deps if (tensor := tensor_of(row)) is not None else None for row in backwards]
    return not backwards or not value.deps or any(not deps or deps & value.deps for deps in reached)
