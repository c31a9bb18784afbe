"""Gradients are accumulated without dividing the loss.

## What it finds
A backward pass in every iteration, a step only in every n-th, or after a loop over micro-batches, and a loss that
nothing divides or scales in between.

## Why it matters
The gradient of n summed batches is n times as long as that of one: the learning rate is in effect n times higher, and
clipping thresholds and weight decay no longer mean what they did.

## Silent
Losses that are divided, summed on purpose (`reduction="sum"`), or averaged by a framework; steps that are skipped for
other reasons than a count of batches.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from traindx.program.analysis import Analysis
from traindx.program.finding import Finding
from traindx.program.queries import counts, is_zeroing, spelled, steps, surely_reaches
from traindx.program.trace import Event, Loop, Trace, tensor_of
from traindx.program.values import Made, Stream, number

ID = "accumulation-unscaled"
_MICRO = re.compile(r"accum|micro", re.IGNORECASE)


def check(analysis: Analysis) -> Iterator[Finding]:
    """Look at steps that a count of batches decides."""
    trace = analysis.trace
    for events in steps(trace).values():
        step = events[0]
        optimizer = step.subject
        if isinstance(optimizer, Made) and step.loop is not None:
            yield from _in_a_loop_of_its_own(trace, step, optimizer)
        counted = next((guard for guard in step.guards if counts(guard)), None)
        if counted is None or not isinstance(optimizer, Made) or step.loop is None:
            continue
        for event in trace.of("backward"):
            value = tensor_of(event)
            if value is None or event.loop is not step.loop or counted in event.guards:
                continue
            if _steps_always(trace, event, counted) or _clears_always(trace, event, counted, optimizer):
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


def _in_a_loop_of_its_own(trace: Trace, step: Event, optimizer: Made) -> Iterator[Finding]:
    """A loop over micro-batches inside the step: `for _ in range(rounds): loss.backward()`, then one `step()`."""
    for event in trace.of("backward"):
        value, loop = tensor_of(event), event.loop
        inside = len(event.turns) == len(step.turns) + 1 and event.turns[:-1] == step.turns
        if value is None or loop is None or not inside or event.at > step.at or value.divided or value.loss is None:
            continue
        rounds = _rounds(loop)
        if rounds is None or "summed" in value.marks or not surely_reaches(event, optimizer):
            continue
        if not _means_batches(loop.node, rounds) or any(
            row.path == event.path for row in trace.of("recurrent", "zero")
        ):
            continue
        yield Finding(
            ID,
            event.place,
            f"gradients of `{spelled(rounds)}` micro-batches add up before the step, and the loss is not divided by it",
            facts={
                "backward_place": event.place.text,
                "condition": f"{spelled(rounds)} batches are done",
                "every": spelled(rounds),
            },
            also=((step.place, "steps once for all of them"),),
        )
        return


def _rounds(loop: Loop) -> ast.expr | None:
    """How often a loop over a range goes round, unless that is a 0 or a 1."""
    call = loop.node.iter if isinstance(loop.node, ast.For) else None
    if not isinstance(call, ast.Call) or getattr(call.func, "id", "") != "range" or len(call.args) != 1:
        return None
    source = loop.source.source if isinstance(loop.source, Stream) else loop.source
    end = source.fields.get("end") if isinstance(source, Made) else None
    return call.args[0] if (number(end) or 2) > 1 else None


def _means_batches(node: ast.AST, rounds: ast.expr) -> bool:
    """Whether the program itself takes the rounds for parts of one batch: by their name, or by an average over them."""
    if _MICRO.search(ast.unparse(rounds)):
        return True
    return any(
        isinstance(part, ast.BinOp)
        and isinstance(part.op, ast.Div)
        and ast.dump(part.right) == ast.dump(rounds)
        and "loss" in ast.unparse(part.left)
        for part in ast.walk(node)
    )


def _steps_always(trace: Trace, backward: Event, counted: ast.expr) -> bool:
    """Whether some optimizer steps after the backward in every iteration: then nothing adds up."""
    for event in trace.events[backward.at :]:
        if event.path != backward.path and event.turns[: len(backward.turns)] != backward.turns:
            continue
        named = str(event.facts.get("name", "")).rpartition(".")[2] if event.kind == "foreign" else ""
        if (event.kind == "step" or named == "step") and counted not in event.guards:
            return True
    return False


def _clears_always(trace: Trace, backward: Event, counted: ast.expr, optimizer: Made) -> bool:
    """Whether the gradients are cleared in every iteration: then nothing adds up."""
    rows = [row for row in trace.of("zero") if row.path == backward.path and counted not in row.guards]
    return any(is_zeroing(row, optimizer) for row in rows)


def _every(guard: ast.expr) -> ast.expr | None:
    return next((p.right for p in ast.walk(guard) if isinstance(p, ast.BinOp) and isinstance(p.op, ast.Mod)), None)
