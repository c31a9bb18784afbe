"""Validation builds and keeps autograd graphs.

## What it finds
A loop that evaluates a model with gradients switched on and keeps what it computes (a sum, a list) from one batch to
the next, so that every batch's graph stays alive.

## Why it matters
Memory grows with every validation batch, often until the device is full in the first validation although training
itself fits.

## Silent
Numbers taken out with `.item()` or `.detach()`, graphs that end with their batch, loops that train.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from traindx.program.analysis import Analysis
from traindx.program.finding import Finding
from traindx.program.queries import EVALUATION, called, is_evaluation, loops_with, spelled
from traindx.program.trace import Event, Loop, Trace
from traindx.program.values import Instance, Items, Layer, Made, Place, Stream, Tensor

ID = "eval-without-no-grad"
SAYS = ("proven", "suspected")


def check(analysis: Analysis) -> Iterator[Finding]:
    """Look at loops that evaluate with gradients on."""
    trace = analysis.trace
    learning = loops_with(trace, "backward")
    kept = {id(event.place.node): event for event in trace.of("carried")}
    seen: set[int] = set()
    for event in trace.of("forward"):
        loop = event.loop
        if loop is None or id(loop.node) in learning or not event.grad or id(loop.node) in seen:
            continue
        if isinstance(loop.source, Layer | Instance | Items) or called(event) == loop.variable:
            continue  # a loop over layers is part of one pass
        evaluates = is_evaluation(event) or bool(event.facts.get("passive")) or bool(EVALUATION.search(loop.function))
        if not evaluates or not trace.of("backward"):
            continue
        held = kept.get(id(loop.node)) if not _counts(loop) else _errors(trace, loop)
        value = held.subject if held is not None else None
        # A sum of losses in a loop without backward may still be the loss itself: then a backward follows.
        if isinstance(value, Tensor) and any(serial in analysis.machine.spent for serial in value.graph):
            continue
        seen.add(id(loop.node))
        place = Place(loop.place.unit, loop.node)
        name = held.facts["name"] if held is not None else ""
        what = f"`{name}` keeps the graph of every batch" if held is not None else "every batch builds a graph"
        yield Finding(
            ID,
            place,
            f"this loop evaluates with gradients on: {what}",
            proven=held is not None,
            facts={"loop_place": place.text, "forward_place": event.place.text, **({"kept": name} if name else {})},
            also=((event.place, f"records a graph: `{spelled(event.place.node)}`"), *_called_in(loop, event)),
        )


def _called_in(loop: Loop, event: Event) -> Iterator[tuple[Place, str]]:
    """The call in the loop itself that leads to a forward pass elsewhere."""
    inside = [call for call in event.calls if call.unit is loop.place.unit and _around(loop.node, call.line)]
    if inside:
        yield inside[0], "leads there"


def _around(node: ast.AST, line: int) -> bool:
    return getattr(node, "lineno", 0) <= line <= (getattr(node, "end_lineno", None) or 0)


def _errors(trace: Trace, loop: Loop) -> Event | None:
    """The list or sum of losses that a loop over steps keeps; what a decoder keeps is its output."""
    for event in trace.of("carried"):
        value = event.facts.get("value")
        if event.place.node is loop.node and isinstance(value, Tensor) and value.loss is not None and value.shape == ():
            return event
    return None


def _counts(loop: Loop) -> bool:
    """Whether a loop counts or goes on until something ends it, as one that decodes step by step does; it does not go
    through batches."""
    if isinstance(loop.node, ast.While):
        return True
    source = loop.source.source if isinstance(loop.source, Stream) else loop.source
    return isinstance(source, Made) and source.kind == "range"
