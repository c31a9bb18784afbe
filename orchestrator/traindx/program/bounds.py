"""Comparisons that the range of a counter or of a remainder decides: `i % k == k`, `i > len(layers)` in its loop."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from traindx.program.values import Plain, number

if TYPE_CHECKING:
    from traindx.program.machine import Machine

_SURE = frozenset({"constant", "config", "omitted"})


def decided(m: Machine, test: ast.Compare) -> bool | None:
    """Whether a comparison holds for every value of its left side, or for none."""
    op, left, right = test.ops[0], test.left, test.comparators[0]
    if isinstance(left, ast.BinOp) and isinstance(left.op, ast.Mod):
        return _below(op, _gap(m, right, left.right))
    if isinstance(left, ast.Name):
        end = _end(m, left.id)
        return _below(op, _gap(m, right, end)) if end is not None else None
    return None


def _below(op: ast.cmpop, gap: float | None) -> bool | None:
    """What follows for a whole number below an end, compared with that end plus `gap`."""
    if gap is None:
        return None
    if isinstance(op, ast.Eq | ast.GtE) and gap >= 0:
        return False
    if isinstance(op, ast.Gt) and gap >= -1:
        return False
    if isinstance(op, ast.NotEq | ast.Lt) and gap >= 0:
        return True
    return True if isinstance(op, ast.LtE) and gap >= -1 else None


def _gap(m: Machine, compared: ast.expr, end: ast.expr) -> float | None:
    """How far what is compared with lies above the end, where that is certain."""
    from traindx.program.expressions import evaluate

    base, moved = _moved(compared)
    if ast.dump(base) == ast.dump(end):
        return moved
    both = [evaluate(m, side) for side in (compared, end)]
    known = [number(side) for side in both if isinstance(side, Plain) and side.sure in _SURE]
    if len(known) < 2 or known[0] is None or known[1] is None or known[1] < 1:
        return None
    return known[0] - known[1]


def _moved(node: ast.expr) -> tuple[ast.expr, float]:
    """`n + 1` as `n` and 1."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add | ast.Sub) and isinstance(node.right, ast.Constant):
        by = node.right.value
        if isinstance(by, int) and not isinstance(by, bool):
            return node.left, by if isinstance(node.op, ast.Add) else -by
    return node, 0


def _end(m: Machine, name: str) -> ast.expr | None:
    """The end of what a loop variable counts through: `n` of `range(n)`, `len(rows)` of `enumerate(rows)`."""
    loop = next((turn.loop.node for turn in reversed(m.turns) if _first(turn.loop.node) == name), None)
    if not isinstance(loop, ast.For) or not isinstance(loop.iter, ast.Call) or _bound_inside(loop, name):
        return None
    call = loop.iter
    called = call.func.id if isinstance(call.func, ast.Name) else ""
    if called == "range" and len(call.args) in {1, 2} and isinstance(loop.target, ast.Name):
        return call.args[-1]
    if called == "enumerate" and len(call.args) == 1 and not call.keywords:
        return ast.Call(func=ast.Name(id="len", ctx=ast.Load()), args=[call.args[0]], keywords=[])
    return None


def _first(node: ast.AST) -> str:
    target = node.target if isinstance(node, ast.For) else None
    if isinstance(target, ast.Tuple):
        target = target.elts[0]
    return target.id if isinstance(target, ast.Name) else ""


def _bound_inside(loop: ast.For, name: str) -> bool:
    """Whether the loop itself changes its variable."""
    return any(
        isinstance(part, ast.Name) and part.id == name and isinstance(part.ctx, ast.Store)
        for row in loop.body
        for part in ast.walk(row)
    )
