"""Guards for operations that a rare value turns into NaN."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence

from traindx.contract import Fact
from traindx.detectors.program.unguarded_math import unguarded_at
from traindx.diagnosis.changes.rewritings.source import Rewritten, Unfit, at_fact
from traindx.readers.code.codeunit import CodeUnit
from traindx.readers.code.syntax import name_of

_EPSILON = "1e-8"
_HIGHEST = "20.0"
"""exp(20) is 5e8: far above what a loss needs, far below what single precision can hold"""
_ABOVE_MINUS_ONE = "-1 + 1e-6"
_WITHOUT_METHODS = frozenset({"jnp", "tf"})
"""libraries whose arrays have no `clamp`"""


def guard(code: Sequence[CodeUnit], facts: Mapping[str, Fact]) -> Rewritten:
    """Keep the argument of the operation inside its domain."""
    source, line = at_fact(code, facts, "math_place")
    found = next((row for row in unguarded_at(source.unit) if row[0].lineno == line), None)
    if found is None:
        raise Unfit(f"the operation at {source.place(line)} was not found again")
    node, operation = found
    argument = _argument(node)
    if argument is None:
        raise Unfit(f"the {operation} at {source.place(line)} has no argument to guard")
    segment = ast.get_source_segment("\n".join(source.lines), argument) or ast.unparse(argument)
    new = _guarded(node, segment, operation)
    source.replace(argument, new)
    return source.rewritten(f"The diff guards it: `{new}` ({source.place(argument.lineno)}).")


def _argument(node: ast.expr) -> ast.expr | None:
    if isinstance(node, ast.BinOp):
        return node.right if isinstance(node.op, ast.Div) else node.left
    if not isinstance(node, ast.Call):
        return None
    if node.args:
        return node.args[0]
    return node.func.value if isinstance(node.func, ast.Attribute) else None


def _guarded(node: ast.expr, segment: str, operation: str) -> str:
    inner = segment if _binds_tightly(segment) else f"({segment})"
    owner = _owner(node)
    if operation == "exp":
        return f"{owner}.minimum({segment}, {_HIGHEST})" if owner else f"{inner}.clamp(max={_HIGHEST})"
    if operation == "division":
        return f"({segment} + {_EPSILON})"  # a sum may be negative: it must keep its sign
    least = _ABOVE_MINUS_ONE if isinstance(node, ast.Call) and name_of(node.func) == "log1p" else _EPSILON
    return f"{owner}.maximum({segment}, {least})" if owner else f"{inner}.clamp_min({least})"


def _binds_tightly(segment: str) -> bool:
    try:
        parsed = ast.parse(segment, mode="eval").body
    except SyntaxError:
        return False
    return isinstance(parsed, ast.Call | ast.Attribute | ast.Subscript | ast.Name)


def _owner(node: ast.expr) -> str:
    owners = [part.id for part in ast.walk(node) if isinstance(part, ast.Name)]
    return next((name for name in owners if name in _WITHOUT_METHODS), "")
