"""A kept loss or output keeps every step's graph alive.

## What it finds
A variable, field or list that at the end of a training loop holds graphs of several iterations, all of which a backward
pass has been through: `total += loss`, `losses.append(loss)`.

## Why it matters
Each graph holds the activations of its step. Memory grows step by step until the device or the host is full.

## Silent
`.item()`, `.detach()`, `float()`; sums that are the loss of the next backward pass; recurrent state, which has rules of
its own.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from traindx.program.analysis import Analysis
from traindx.program.finding import Finding
from traindx.program.trace import Event
from traindx.program.values import Place, Tensor

ID = "graph-retained-leak"


def check(analysis: Analysis) -> Iterator[Finding]:
    """Look at what loops leave behind."""
    trace = analysis.trace
    again = {serial for event in trace.of("backward") for serial in event.facts.get("again", ())}
    for event in trace.of("carried"):
        value = event.subject
        if not isinstance(value, Tensor) or not event.facts["spent"] or value.graph & again:
            continue
        if "state" in value.marks or (value.states and value.loss is None and value.shape != ()):
            continue
        name = event.facts["name"]
        place = _kept_at(event, name) or event.place
        yield Finding(
            ID,
            place,
            f"`{name}` holds the graph of every iteration of the loop at {event.place.text}",
            facts={"kept": name, "kept_place": place.text, "loop_place": event.place.text},
            also=((event.place, "the loop whose graphs stay alive"),),
        )


def _kept_at(event: Event, name: str) -> Place | None:
    """The statement inside the loop that adds to the variable."""
    for node in ast.walk(event.place.node):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "append":
            if _last(node.func.value) == name:
                return Place(event.place.unit, node)
            continue
        target: ast.expr | None = node.target if isinstance(node, ast.AugAssign) else None
        if isinstance(node, ast.Assign):
            target = node.targets[0]
        if target is not None and _last(target) == name:
            return Place(event.place.unit, node)
    return None


def _last(node: ast.expr) -> str:
    return str(getattr(node, "id", getattr(node, "attr", "")))
