"""Columns that are chosen with the labels of all rows, before the rows are parted; read from the statements alone."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from typing import NamedTuple

CHOOSING = frozenset({"argsort", "argpartition", "topk", "nlargest", "flatnonzero", "argwhere", "nonzero", "where"})


class Selection(NamedTuple):
    """Where columns are scored with the labels, where they are chosen, and where rows are picked afterwards."""

    scored: ast.stmt
    chosen: ast.stmt
    parted: ast.AST
    data: str
    labels: str


def selections(body: Sequence[ast.stmt]) -> Iterator[Selection]:
    """Choices of columns in a block: `x = x[:, best]`, `best` from `x` and `y`, then `x[a], y[a]` and `x[b], y[b]`."""
    reads: dict[str, frozenset[str]] = {}
    chooses: dict[str, ast.stmt] = {}
    for place, statement in enumerate(body):
        if not isinstance(statement, ast.Assign):
            continue
        names = _names(statement.value)
        for target, value in _pairs(statement):
            data, by = _columns(value)
            if data and by in chooses:
                yield from _parted(body[place + 1 :], target, data, reads[by], statement, chooses[by])
        sources = names.union(*(reads.get(name, frozenset()) for name in names))
        for target, _ in _pairs(statement):
            reads[target] = sources
            if any(isinstance(node, ast.Call) and _called(node) in CHOOSING for node in ast.walk(statement.value)):
                chooses[target] = statement
            else:
                chooses.pop(target, None)


def _pairs(statement: ast.Assign) -> list[tuple[str, ast.expr]]:
    """The names that an assignment binds, each with its value."""
    target, value = statement.targets[0], statement.value
    if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple) and len(target.elts) == len(value.elts):
        both = zip(target.elts, value.elts, strict=True)
        return [(one.id, other) for one, other in both if isinstance(one, ast.Name)]
    return [(target.id, value)] if isinstance(target, ast.Name) else []


def _columns(value: ast.expr) -> tuple[str, str]:
    """`x` and `best` of `x[:, best]`."""
    if isinstance(value, ast.Subscript) and isinstance(value.value, ast.Name) and isinstance(value.slice, ast.Tuple):
        parts = value.slice.elts
        whole = isinstance(parts[0], ast.Slice) and parts[0].lower is None and parts[0].upper is None
        if len(parts) == 2 and whole and isinstance(parts[1], ast.Name):
            return value.value.id, parts[1].id
    return "", ""


def _parted(
    after: Sequence[ast.stmt], chosen: str, data: str, sources: frozenset[str], at: ast.stmt, scored: ast.stmt
) -> Iterator[Selection]:
    """Rows that are picked afterwards from the chosen columns and from an array that the choice was made with."""
    picked: dict[str, dict[str, ast.AST]] = {}
    for statement in after:
        for node in ast.walk(statement):
            if (
                isinstance(node, ast.Subscript)
                and isinstance(node.value, ast.Name)
                and isinstance(node.slice, ast.Name)
            ):
                picked.setdefault(node.value.id, {}).setdefault(node.slice.id, node)
    rows = picked.get(chosen, {})
    # Indices that the choice was made with are the training rows: it has not seen the others.
    if data not in sources or sources & rows.keys():
        return
    for labels in sorted(sources & picked.keys() - {chosen, data}):
        shared = [name for name in rows if name in picked[labels]]
        if len(shared) > 1:
            yield Selection(scored, at, rows[shared[0]], data, labels)
            return


def _names(node: ast.AST) -> frozenset[str]:
    return frozenset(one.id for one in ast.walk(node) if isinstance(one, ast.Name))


def _called(node: ast.Call) -> str:
    return node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
