"""Expressions that are sums of squares, as they are written: never negative, whatever they are given."""

from __future__ import annotations

import ast

from traindx.readers.code.syntax import name_of

_NOT_NEGATIVE = frozenset({"square", "square_", "norm", "vector_norm", "abs", "abs_"})
_POWERS = frozenset({"pow", "pow_", "power"})
_KEEPING = frozenset(
    ["sum", "fsum", "nansum", "mean", "stack", "cat", "tensor", "item", "float", "double", "detach", "cpu", "max",
     "add"]
)  # fmt: skip
"""what leaves the sign of its operand as it is"""


def is_sum_of_squares(node: ast.AST | None) -> bool:
    """Whether nothing but squares, lengths and magnitudes is added up here."""
    if isinstance(node, ast.GeneratorExp | ast.ListComp):
        return is_sum_of_squares(node.elt)
    if isinstance(node, ast.BinOp):
        return _of_two(node)
    return isinstance(node, ast.Call) and _of_call(node)


def _of_two(node: ast.BinOp) -> bool:
    if isinstance(node.op, ast.Pow):
        return _is_even(node.right)
    if isinstance(node.op, ast.Mult) and ast.dump(node.left) == ast.dump(node.right):
        return True
    return isinstance(node.op, ast.Add | ast.Mult) and is_sum_of_squares(node.left) and is_sum_of_squares(node.right)


def _of_call(node: ast.Call) -> bool:
    name = name_of(node.func)
    owner = node.func.value if isinstance(node.func, ast.Attribute) else None
    if name in _NOT_NEGATIVE:
        return True
    if name in _POWERS:
        return any(_is_even(given) for given in node.args[-1:])
    return name in _KEEPING and (is_sum_of_squares(owner) or is_sum_of_squares(node.args[0] if node.args else None))


def _is_even(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, int | float) and node.value % 2 == 0
