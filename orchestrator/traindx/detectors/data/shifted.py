"""Whether a program moves the labels of a column before it uses them: `row["stars"] - 1`, codes, a mapping."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from traindx.readers.code.codeunit import CodeUnit
from traindx.readers.code.syntax import all_nodes, name_of

_REMAPS = frozenset({
    "map", "replace", "factorize", "astype_category", "fit_transform", "transform", "index", "get", "searchsorted",
    "unique", "cat", "codes", "sub", "subtract", "class_encode_column", "cast_column", "apply", "clip", "bucketize",
    "digitize", "cut", "qcut", "where",
})  # fmt: skip


def moved(column: str, low: float, code: Sequence[CodeUnit]) -> bool:
    """Whether some statement takes the column, or what it was put into, and counts from its lowest label or maps it."""
    return any(
        _moves(node, names, column, low)
        for unit in code
        for names in [_names(unit, column)]
        for node in all_nodes(unit.tree)
    )


def _names(unit: CodeUnit, column: str) -> frozenset[str]:
    """The column, and the names that the program gives to what it reads from there."""
    given = {
        target.id
        for node in all_nodes(unit.tree)
        if isinstance(node, ast.Assign) and _takes(node.value, frozenset(), column)
        for target in node.targets
        if isinstance(target, ast.Name)
    }
    return frozenset(given)


def _moves(node: ast.AST, names: frozenset[str], column: str, low: float) -> bool:
    if isinstance(node, ast.BinOp | ast.AugAssign) and isinstance(node.op, ast.Sub):
        left, right = (node.left, node.right) if isinstance(node, ast.BinOp) else (node.target, node.value)
        by_constant = isinstance(right, ast.Constant) and isinstance(right.value, int | float) and right.value == low
        by_lowest = isinstance(right, ast.Call) and name_of(right.func).endswith("min")
        return (by_constant or by_lowest) and _takes(left, names, column)
    if isinstance(node, ast.Call):
        # `df["c"].map(ids)`, `encoder.fit_transform(df["c"])`, `ids.get(row["c"])`
        return name_of(node.func).rpartition(".")[2] in _REMAPS and _takes(node, names, column)
    if isinstance(node, ast.Subscript):
        # `ids[row["c"]]`: the label is looked up
        return isinstance(node.slice, ast.Subscript) and _takes(node.slice, names, column)
    return isinstance(node, ast.Attribute) and node.attr in {"cat", "codes"} and _takes(node.value, names, column)


def _takes(node: ast.AST, names: frozenset[str], column: str) -> bool:
    """Whether an expression holds the column by its name, or a name that was given to it."""
    return any(
        (isinstance(part, ast.Subscript) and isinstance(part.slice, ast.Constant) and part.slice.value == column)
        or (isinstance(part, ast.Attribute) and part.attr == column)
        or (isinstance(part, ast.Name) and part.id in names)
        or (
            isinstance(part, ast.Call)
            and any(isinstance(one, ast.Constant) and one.value == column for one in part.args)
        )
        for part in ast.walk(node)
    )
