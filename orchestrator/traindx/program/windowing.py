"""Windows of one series that overlap: `series[i : i + width]` for one `i` after the other."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from traindx.program.values import Class, Function, Place, number

if TYPE_CHECKING:
    from traindx.program.machine import Machine

OVERLAPPING = "overlapping"
"""the mark of windows that share most of their values with their neighbours"""


def is_window(part: ast.expr, counter: str) -> bool:
    """Whether a slice begins at the counter, or a fixed way behind it, and is longer than one."""
    if not isinstance(part, ast.Slice) or part.step is not None or not isinstance(part.upper, ast.BinOp):
        return False
    low, high = part.lower, part.upper
    if not isinstance(low, ast.Name) or low.id != counter or not isinstance(high.op, ast.Add):
        return False
    if not any(isinstance(node, ast.Name) and node.id == counter for node in ast.walk(high)):
        return False
    if any(isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult) for node in ast.walk(high)):
        return False
    return not (isinstance(high.right, ast.Constant) and high.right.value == 1)


def overlaps(m: Machine, part: ast.expr) -> bool:
    """Whether a slice is a window that a loop or a comprehension moves by less than its length."""
    for turn in m.turns:
        name, step = _counter(turn.loop.node)
        if name and is_window(part, name) and (step is None or _is_shorter(m, step, part, name)):
            return True
    return False


def _is_shorter(m: Machine, step: ast.expr, part: ast.expr, counter: str) -> bool:
    """Whether a stride is known to be at most half of the window `i : i + width`."""
    from traindx.program.expressions import evaluate

    high = part.upper if isinstance(part, ast.Slice) else None
    if not isinstance(high, ast.BinOp):
        return False
    width = high.right if isinstance(high.left, ast.Name) and high.left.id == counter else high.left
    stride, length = number(evaluate(m, step)), number(evaluate(m, width))
    return stride is not None and length is not None and 0 < 2 * stride <= length


def _counter(node: ast.AST) -> tuple[str, ast.expr | None]:
    """The variable that goes through a range, and its stride; no stride where it goes one by one."""
    inner = node.generators[0] if isinstance(node, ast.ListComp | ast.GeneratorExp) else node
    if not isinstance(inner, ast.For | ast.comprehension) or not isinstance(inner.target, ast.Name):
        return "", None
    call = inner.iter
    if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Name) or call.func.id not in {"range", "trange"}:
        return "", None
    step = call.args[2] if len(call.args) > 2 else None
    return inner.target.id, None if isinstance(step, ast.Constant) and step.value == 1 else step


def windowed(cls: Class) -> Place | None:
    """Where a data set cuts its sample, and the place of the sample is its number: neighbours overlap."""
    function = cls.find("__getitem__")
    if not isinstance(function, Function) or len(function.node.args.args) < 2:
        return None
    index = function.node.args.args[1].arg
    for node in ast.walk(function.node):
        if not isinstance(node, ast.Subscript) or not isinstance(node.value, ast.Attribute):
            continue
        held = isinstance(node.value.value, ast.Name) and node.value.value.id == "self"
        if held and is_window(node.slice, index) and not _rebound(function.node, index):
            return Place(function.unit, node)
    return None


def _rebound(function: ast.AST, name: str) -> bool:
    """Whether the number of the sample is turned into another place first: `i = i * stride`."""
    return any(
        isinstance(node, ast.Name) and node.id == name and isinstance(node.ctx, ast.Store)
        for node in ast.walk(function)
    )
