"""Automatic mixed precision is used only in part.

## What it finds
A loss scaler whose parts do not fit: scaled gradients that a plain `optimizer.step()` applies, a `scaler.step()` after
a backward pass that was not scaled, a scale that is never updated; half-precision autocast without any scaler; a plain
`loss.backward()` where Accelerate scales in fp16.

## Why it matters
Scaled gradients are tens of thousands of times too large; unscaled half-precision gradients underflow to zero; a scale
that is never updated cannot recover from an overflow.

## Silent
bfloat16, which needs no scaler; scalers that may be disabled; autocast in evaluation only.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from traindx.program.analysis import Analysis
from traindx.program.finding import Finding
from traindx.program.queries import mentions
from traindx.program.trace import Event, tensor_of
from traindx.program.values import Made, text

ID = "amp-misuse"


def check(analysis: Analysis) -> Iterator[Finding]:
    """Look at scalers, steps and autocast together."""
    trace = analysis.trace
    for event in trace.of("step"):
        back = next((e for e in reversed(trace.events[: event.at]) if e.kind == "backward"), None)
        value = tensor_of(back) if back is not None else None
        if back is None or value is None or back.path != event.path or not event.turns:
            continue
        scaled = "amp-scaled" in value.marks
        if scaled and event.facts.get("scaler") is None and not event.facts.get("managed"):
            unscaled = [
                e for e in trace.events[back.at : event.at] if e.kind == "scaler" and e.facts["name"] == "unscale_"
            ]
            if not unscaled:
                yield _finding(
                    event, "the loss was scaled, and `optimizer.step()` applies the gradients without unscaling", back
                )
        elif not scaled and event.facts.get("scaler") is not None and value.sure and value.graph:
            yield _finding(back, "`scaler.step()` unscales gradients of a loss that was never scaled", event)
    yield from _never_updated(trace.events)
    yield from _without_scaler(analysis)
    yield from _past_the_accelerator(analysis)


def _finding(event: Event, claim: str, other: Event, proven: bool = True) -> Finding:
    facts = {"amp_place": event.place.text, "amp_fault": claim}
    return Finding(ID, event.place, claim, proven, facts, ((other.place, "belongs to it"),))


def _never_updated(events: list[Event]) -> Iterator[Finding]:
    stepping = [e for e in events if e.kind == "scaler" and e.facts["name"] == "step" and e.turns]
    updating = [e for e in events if e.kind == "scaler" and e.facts["name"] == "update"]
    if stepping and not updating:
        yield _finding(
            stepping[0], "`scaler.step()` is called and `scaler.update()` never: the scale cannot change", stepping[0]
        )


def _past_the_accelerator(analysis: Analysis) -> Iterator[Finding]:
    """`loss.backward()` where Accelerate trains in fp16: only `accelerator.backward(loss)` scales the loss."""
    trace = analysis.trace
    halves = [
        event
        for event in trace.of("accelerator")
        if isinstance(event.subject, Made) and text(event.subject.keywords.get("mixed_precision")) == "fp16"
    ]
    backwards = trace.of("backward")
    direct = [event for event in backwards if isinstance(event.place.node, ast.Call) and not event.place.node.args]
    if not halves or not direct or len(direct) != len(backwards) or mentions(analysis, "GradScaler"):
        return
    claim = "the loss is not scaled: in fp16 `accelerator.backward(loss)` takes the place of `loss.backward()`"
    yield _finding(direct[0], claim, halves[0])


def _without_scaler(analysis: Analysis) -> Iterator[Finding]:
    trace = analysis.trace
    if trace.of("scaler"):
        return
    for event in trace.of("backward"):
        value = tensor_of(event)
        if value is None or value.loss is None or "half" not in value.marks:
            continue
        yield _finding(
            event, "the loss is computed in half precision under autocast, and no `GradScaler` scales it", event
        )
        return
