"""No backward pass.

## What it finds
An optimizer that steps in a loop in which a loss is computed from its parameters, while nothing in the program ever
calls a backward pass.

## Why it matters
Every `.grad` stays None, `step()` skips all parameters, and the loss never moves.

## Silent
Backward passes of any kind anywhere in the program (also of frameworks, or through `autograd.grad`), and losses that
are handed to code outside the program.
"""

from __future__ import annotations

from collections.abc import Iterator

from traindx.program.analysis import Analysis
from traindx.program.finding import Finding
from traindx.program.queries import handed_out, mentions, steps
from traindx.program.values import Made, Tensor

ID = "missing-backward"
_ELSEWHERE = ("backward", "manual_backward", "grad", "jacobian", "training_step", "vjp", "value_and_grad", "gradient")


def check(analysis: Analysis) -> Iterator[Finding]:
    """Look at every optimizer that steps."""
    trace = analysis.trace
    if mentions(analysis, *_ELSEWHERE) or trace.of("backward"):
        return
    for events in steps(trace).values():
        step = events[0]
        optimizer = step.subject
        losses = [event for event in trace.of("loss") if event.grad and event.path == step.path]
        if not isinstance(optimizer, Made) or not losses or not step.turns or step.facts.get("managed"):
            continue
        prediction = losses[0].facts.get("prediction")
        given = isinstance(prediction, Tensor) and bool(prediction.graph)
        yield Finding(
            ID,
            losses[0].place,
            "the loss is computed and the optimizer steps, but no backward pass is ever made",
            proven=given and not handed_out(trace, optimizer),
            facts={"loss_place": losses[0].place.text, "step_place": step.place.text},
            also=((step.place, "steps without gradients"),),
        )
