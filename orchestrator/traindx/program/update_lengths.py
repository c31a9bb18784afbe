"""Schedules whose length counts the updates of an optimizer that accumulates gradients: `epochs * batches // every`."""

from __future__ import annotations

import ast

from traindx.program.trace import Event, Trace
from traindx.readers.code.codeunit import CodeUnit
from traindx.readers.code.syntax import all_nodes


def counted_in_updates(event: Event, trace: Trace) -> str:
    """How many batches make an update, as it is written, where a schedule counts updates and steps in each batch."""
    node = event.place.node
    if event.guards or not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
        return ""
    beside = [row for row in trace.of("step") if row.path == event.path and row.place.unit is event.place.unit]
    for every in dict.fromkeys(_every(test) for row in beside for test in row.guards):
        if every and _is_divided(event.place.unit, ast.unparse(node.func.value), every):
            return every
    return ""


def _every(test: ast.expr) -> str:
    """`accum` of `step % accum == 0` and of `(step + 1) % accum == 0 or last`."""
    for part in all_nodes(test):
        if isinstance(part, ast.BinOp) and isinstance(part.op, ast.Mod):
            return ast.unparse(part.right)
    return ""


def _is_divided(unit: CodeUnit, scheduler: str, every: str) -> bool:
    """Whether what a scheduler is made with was divided by the batches of an update, there or in a variable."""
    made = [row for row in unit.nodes.of(ast.Assign) if any(ast.unparse(target) == scheduler for target in row.targets)]
    lengths = {
        target.id
        for row in unit.nodes.of(ast.Assign)
        if _divides(row.value, every)
        for target in row.targets
        if isinstance(target, ast.Name)
    }
    for row in made:
        names = {part.id for part in all_nodes(row.value) if isinstance(part, ast.Name)}
        if isinstance(row.value, ast.Call) and (names & lengths or _divides(row.value, every)):
            return True
    return False


def _divides(node: ast.expr, every: str) -> bool:
    return any(
        isinstance(part, ast.BinOp) and isinstance(part.op, ast.FloorDiv | ast.Div) and ast.unparse(part.right) == every
        for part in all_nodes(node)
    )
