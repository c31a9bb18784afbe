"""Cells of a program that make their own state where none is given, called step by step without one."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from traindx.program.analysis import Analysis
from traindx.program.finding import Finding
from traindx.program.trace import Event
from traindx.program.values import Function, Place


def left_out(analysis: Analysis, rule: str) -> Iterator[Finding]:
    """A loop over time steps that takes a state out of every call and gives none of them to the next."""
    done: set[int] = set()
    for event in analysis.trace.of("fresh"):
        if not event.calls or not event.turns or event.turns[-1].number < 2 or not event.grad:
            continue
        call, loop = event.calls[-1], event.turns[-1].loop
        function = _maker(analysis, event)
        if function is None or not isinstance(call.node, ast.Call) or id(call.node) in done:
            continue
        if _gives(call.node, function, str(event.facts["name"])) or not _steps(call.node, loop.node):
            continue
        if not _taken_and_dropped(call, loop.node):
            continue
        done.add(id(call.node))
        yield Finding(
            rule,
            call,
            f"each step of the loop at {loop.place.text} gets a new state ({event.place.text}): what the step before"
            " returned is never given to the next",
            facts={"state_place": call.text, "loop_place": loop.place.text},
            also=((event.place, "makes a new state where none is given"), (loop.place, "goes through the time steps")),
        )


def _maker(analysis: Analysis, event: Event) -> Function | None:
    """The function whose parameter, None by default, is given a new state there."""
    name = str(event.facts["name"])
    for function in analysis.trace.functions:
        node = function.node
        if isinstance(node, ast.Lambda) or function.unit is not event.place.unit:
            continue
        if not node.lineno <= event.place.line <= (node.end_lineno or node.lineno):
            continue
        given = [*node.args.posonlyargs, *node.args.args]
        defaults = dict(
            zip([part.arg for part in given[len(given) - len(node.args.defaults) :]], node.args.defaults, strict=True)
        )
        default = defaults.get(name)
        if isinstance(default, ast.Constant) and default.value is None:
            return function
    return None


def _gives(call: ast.Call, function: Function, name: str) -> bool:
    """Whether a call hands over the parameter."""
    if isinstance(function.node, ast.Lambda):
        return True
    names = [part.arg for part in (*function.node.args.posonlyargs, *function.node.args.args) if part.arg != "self"]
    starred = any(isinstance(part, ast.Starred) for part in call.args) or any(
        part.arg is None for part in call.keywords
    )
    return starred or name in {part.arg for part in call.keywords} or names.index(name) < len(call.args)


def _steps(call: ast.Call, loop: ast.AST) -> bool:
    """Whether what goes in is picked by the loop's own counter: `x[:, t]`."""
    if not isinstance(loop, ast.For) or not isinstance(loop.target, ast.Name):
        return False
    counter = loop.target.id
    return any(
        isinstance(inner, ast.Name) and inner.id == counter
        for part in call.args
        for node in ast.walk(part)
        if isinstance(node, ast.Subscript)
        for inner in ast.walk(node.slice)
    )


def _taken_and_dropped(call: Place, loop: ast.AST) -> bool:
    """Whether the loop binds several results of the call and its other statements read none but one of them."""
    for node in ast.walk(loop):
        if isinstance(node, ast.Assign) and node.value is call.node and isinstance(node.targets[0], ast.Tuple):
            names = [part.id for part in node.targets[0].elts if isinstance(part, ast.Name)]
            read = {part.id for part in ast.walk(loop) if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Load)}
            return len(names) > 1 and len(read & set(names)) < len(names)
    return False
