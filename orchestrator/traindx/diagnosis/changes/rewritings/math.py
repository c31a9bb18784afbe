"""Guards for operations that a rare value turns into NaN."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence

from traindx.contract import Fact
from traindx.diagnosis.changes.rewritings.source import Rewritten, Unfit, at_fact
from traindx.program.library.mathematics import PARTIAL
from traindx.readers.code.codeunit import CodeUnit
from traindx.readers.code.syntax import name_of

_EPSILON = "1e-8"
_HIGHEST = "20.0"
"""exp(20) is 5e8: far above what a loss needs, far below what single precision can hold"""
_ABOVE_MINUS_ONE = "-1 + 1e-6"
_ARCS = dict.fromkeys(("arc cosine", "arc sine", "inverse tanh"), "-1 + 1e-6, 1 - 1e-6")
_WITHOUT_METHODS = frozenset({"jnp", "tf"})
"""libraries whose arrays have no `clamp`"""


_Operation = ast.Call | ast.BinOp | ast.AugAssign


def guard(code: Sequence[CodeUnit], facts: Mapping[str, Fact]) -> Rewritten:
    """Keep the argument of the operation inside its domain."""
    source, line = at_fact(code, facts, "math_place")
    found = _operations_at(source.unit, line)
    if not found:
        raise Unfit(f"the operation at {source.place(line)} was not found again")
    told = [row for row in found if row[1] == facts.get("math_operation")] or found
    node, operation = next((row for row in told if row[0].col_offset == facts.get("math_column")), told[0])
    argument = _argument(node)
    if argument is None:
        raise Unfit(f"the {operation} at {source.place(line)} has no argument to guard")
    segment = ast.get_source_segment("\n".join(source.lines), argument) or ast.unparse(argument)
    new = _guarded(node, segment, operation)
    source.replace(argument, new)
    return source.rewritten(f"The diff guards it: `{new}` ({source.place(argument.lineno)}).")


def _operations_at(unit: CodeUnit, line: int) -> list[tuple[_Operation, str]]:
    """The operations that begin in a line, and what each of them is."""
    here = (node for node in ast.walk(unit.tree) if getattr(node, "lineno", 0) == line)
    rows = [(node, _operation(node)) for node in here if isinstance(node, _Operation)]
    return [(node, told) for node, told in rows if told]


def _operation(node: _Operation) -> str:
    if isinstance(node, ast.Call):
        return PARTIAL.get(name_of(node.func), "")
    return {ast.Div: "division", ast.Pow: "fractional power"}.get(type(node.op), "")


def _argument(node: _Operation) -> ast.expr | None:
    if isinstance(node, ast.AugAssign):
        return node.value
    if isinstance(node, ast.BinOp):
        return node.right if isinstance(node.op, ast.Div) else node.left
    if node.args:
        return node.args[-1] if PARTIAL.get(name_of(node.func)) == "division" else node.args[0]
    return node.func.value if isinstance(node.func, ast.Attribute) else None


def _guarded(node: _Operation, segment: str, operation: str) -> str:
    inner = segment if _binds_tightly(segment) else f"({segment})"
    owner = _owner(node)
    if operation == "exp":
        return f"{owner}.minimum({segment}, {_HIGHEST})" if owner else f"{inner}.clamp(max={_HIGHEST})"
    if operation == "division":
        return f"({segment} + {_EPSILON})"  # a sum may be negative: it must keep its sign
    if operation in _ARCS:
        return f"{inner}.clamp({_ARCS[operation]})"
    least = _ABOVE_MINUS_ONE if isinstance(node, ast.Call) and name_of(node.func) == "log1p" else _EPSILON
    return f"{owner}.maximum({segment}, {least})" if owner else f"{inner}.clamp_min({least})"


def _binds_tightly(segment: str) -> bool:
    try:
        parsed = ast.parse(segment, mode="eval").body
    except SyntaxError:
        return False
    return isinstance(parsed, ast.Call | ast.Attribute | ast.Subscript | ast.Name)


def _owner(node: _Operation) -> str:
    owners = [part.id for part in ast.walk(node) if isinstance(part, ast.Name)]
    return next((name for name in owners if name in _WITHOUT_METHODS), "")
