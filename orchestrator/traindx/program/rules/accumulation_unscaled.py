"""Gradients are accumulated without dividing the loss.

## What it finds
A backward pass in every iteration, a step only in every n-th, and a loss that nothing divides or scales in between.

## Why it matters
The gradient of n summed batches is n times as long as that of one: the learning rate is in effect n times higher, and
clipping thresholds and weight decay no longer mean what they did.

## Silent
Losses that are divided, summed on purpose (`reduction="sum"`), or averaged by a framework; steps that are skipped for
other reasons than a count of batches.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from traindx.program.analysis import Analysis
from traindx.program.finding import Finding
from traindx.program.queries import spelled, steps, surely_reaches
from traindx.program.trace import Event, Trace, tensor_of
from traindx.program.values import Made

ID = "accumulation-unscaled"


def check(analysis: Analysis) -> Iterator[Finding]:
    """Look at steps that a count of batches decides."""
    trace = analysis.trace
    for events in steps(trace).values():
        step = events[0]
        optimizer = step.subject
        counted = next((guard for guard in step.guards if _counts(guard)), None)
        if counted is None or not isinstance(optimizer, Made) or step.loop is None:
            continue
        for event in trace.of("backward"):
            value = tensor_of(event)
            if value is None or event.loop is not step.loop or counted in event.guards:
                continue
            if _steps_always(trace, event, counted):
                continue
            if not surely_reaches(event, optimizer) or value.divided or "summed" in value.marks or value.loss is None:
                continue
            yield Finding(
                ID,
                event.place,
                f"gradients add up until `{spelled(counted)}`, and the loss is not divided by the number of batches",
                facts={
                    "backward_place": event.place.text,
                    "condition": spelled(counted),
                    "every": spelled(_every(counted)),
                },
                also=((step.place, "steps only then"),),
            )
            break


def _steps_always(trace: Trace, backward: Event, counted: ast.expr) -> bool:
    """Whether some optimizer steps after the backward in every iteration: then nothing adds up."""
    for event in trace.events[backward.at :]:
        if event.path != backward.path and event.turns[: len(backward.turns)] != backward.turns:
            continue
        named = str(event.facts.get("name", "")).rpartition(".")[2] if event.kind == "foreign" else ""
        if (event.kind == "step" or named == "step") and counted not in event.guards:
            return True
    return False


def _counts(guard: ast.expr) -> bool:
    """`(i + 1) % n == 0`."""
    return any(isinstance(part, ast.BinOp) and isinstance(part.op, ast.Mod) for part in ast.walk(guard))


def _every(guard: ast.expr) -> ast.expr | None:
    return next((p.right for p in ast.walk(guard) if isinstance(p, ast.BinOp) and isinstance(p.op, ast.Mod)), None)
