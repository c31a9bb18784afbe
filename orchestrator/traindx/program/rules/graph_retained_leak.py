"""A kept loss or output keeps every step's graph alive.

## What it finds
A variable, field, entry or list that at the end of a training loop holds graphs of several iterations, all of which a
backward pass has been through, or none ever does: `total += loss`, `losses.append(loss)`,
`sums["dice"] += dice(net(x), y)`.

## Why it matters
Each graph holds the activations of its step. Memory grows step by step until the device or the host is full.

## Silent
`.item()`, `.detach()`, `float()`; sums that are the loss of the next backward pass; recurrent state, which has rules of
its own.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from traindx.program.analysis import Analysis
from traindx.program.finding import Finding
from traindx.program.queries import handed_out
from traindx.program.trace import Event, Trace
from traindx.program.values import Place, Tensor

ID = "graph-retained-leak"


def check(analysis: Analysis) -> Iterator[Finding]:
    """Look at what loops leave behind."""
    trace = analysis.trace
    told: set[str] = set()
    again = {serial for event in trace.of("backward") for serial in event.facts.get("again", ())}
    for event in trace.of("carried"):
        value = event.subject
        if not isinstance(value, Tensor) or value.graph & again:
            continue
        if not event.facts["spent"] and not _led_nowhere(trace, event, value):
            continue
        if "state" in value.marks or (value.states and value.loss is None and value.shape != ()):
            continue
        name = event.facts["name"]
        path = str(event.facts.get("path", name)).split(".")
        if any(_emptied(analysis, part) for part in path) or _cleared(trace, path[1:]):
            continue
        place = _put_at(trace, event) or _kept_at(event, name) or _elsewhere(analysis, path) or event.place
        if place.text in told:
            continue
        told.add(place.text)
        yield Finding(
            ID,
            place,
            f"`{name}` holds the graph of every iteration of the loop at {event.place.text}",
            facts={"kept": name, "kept_place": place.text, "loop_place": event.place.text},
            also=((event.place, "the loop whose graphs stay alive"),),
        )


def _led_nowhere(trace: Trace, event: Event, value: Tensor) -> bool:
    """Whether a loop that trains keeps what no backward ever goes through: a metric of a forward of its own."""
    node = event.place.node
    learns = any(turn.loop.node is node for row in trace.of("backward") for turn in row.turns)
    used = (row.subject for row in trace.of("backward", "autograd-grad"))
    if not learns or any(not isinstance(one, Tensor) or one.graph & value.graph for one in used):
        return False
    return not handed_out(trace, value) and not handed_out(trace, event.facts.get("holder", value))


def _put_at(trace: Trace, event: Event) -> Place | None:
    """The call that puts tensors into the list that holds them, whoever makes it."""
    holder = event.facts.get("holder")
    return next((row.place for row in trace.of("kept") if row.subject is holder), None)


def _emptied(analysis: Analysis, name: str) -> bool:
    """Whether the variable is given an empty list, or cleared, inside a loop: what it held is let go."""
    for loop in {id(row.node): row for row in analysis.trace.loops}.values():
        for node in ast.walk(loop.node):
            if isinstance(node, ast.Assign) and any(_last(part) == name for part in _flat(node.targets)):
                values = node.value.elts if isinstance(node.value, ast.Tuple) else [node.value]
                if any(isinstance(value, ast.List | ast.Dict) or _makes_empty(value) for value in values):
                    return True
            called = node.func if isinstance(node, ast.Call) else None
            if isinstance(called, ast.Attribute) and called.attr == "clear" and _last(called.value) == name:
                return True
    return False


def _cleared(trace: Trace, fields: list[str]) -> bool:
    """Whether a method other than the constructor empties a field on the way to the list."""
    methods = {id(row.node): row.node for row in trace.functions if row.owner is not None and row.name != "__init__"}
    return any(
        isinstance(node, ast.Assign | ast.Call | ast.Delete) and _empties(node, field)
        for method in methods.values()
        for node in ast.walk(method)
        for field in fields
    )


def _empties(node: ast.Assign | ast.Call | ast.Delete, name: str) -> bool:
    if isinstance(node, ast.Delete):  # `del self.states[:]`
        slices = [
            part for part in node.targets if isinstance(part, ast.Subscript) and isinstance(part.slice, ast.Slice)
        ]
        return any(_last(part.value) == name for part in slices)
    if isinstance(node, ast.Call):
        return isinstance(node.func, ast.Attribute) and node.func.attr == "clear" and _last(node.func.value) == name
    empty = isinstance(node.value, ast.List | ast.Dict) or _makes_empty(node.value)
    return empty and any(_last(part) == name for part in _flat(node.targets))


def _flat(targets: list[ast.expr]) -> list[ast.expr]:
    return [part for target in targets for part in (target.elts if isinstance(target, ast.Tuple) else [target])]


def _makes_empty(node: ast.expr) -> bool:
    return isinstance(node, ast.Call) and _last(node.func) in {"list", "deque", "dict"} and not node.args


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


def _elsewhere(analysis: Analysis, path: Sequence[str]) -> Place | None:
    """The one statement of a function that was called which adds to the field, or to the table that it is an entry of:
    `self.sums[key] += value` for `meter.sums.loss`.
    """
    for name in reversed(path[1:] or path):
        found = _adding(analysis, name)
        if len(found) == 1:
            return found[0]
    return None


def _adding(analysis: Analysis, name: str) -> list[Place]:
    return [
        Place(function.unit, node)
        for function in {id(row.node): row for row in analysis.trace.functions}.values()
        for node in ast.walk(function.node)
        if _adds(node, name)
    ]


def _adds(node: ast.AST, name: str) -> bool:
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in {"append", "extend"}:
        return _last(node.func.value) == name
    if isinstance(node, ast.AugAssign):
        return _last(node.target) == name
    if isinstance(node, ast.Assign) and any(_last(target) == name for target in node.targets):
        return any(_last(part) == name for part in ast.walk(node.value) if isinstance(part, ast.Name | ast.Attribute))
    return False


def _last(node: ast.expr) -> str:
    if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant):
        return str(node.slice.value)
    if isinstance(node, ast.Subscript):
        return _last(node.value)
    return str(getattr(node, "id", getattr(node, "attr", "")))
