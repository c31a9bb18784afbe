"""Splits written by hand: the same array picked twice, by two keys that share no row."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from itertools import combinations

from traindx.program.analysis import Analysis
from traindx.program.trace import Event
from traindx.program.values import Tensor
from traindx.readers.code.codeunit import CodeUnit


def hand_splits(analysis: Analysis) -> Iterator[tuple[Event, Tensor]]:
    """The first pick of every pair of picks that part an array, with the array."""
    groups: dict[tuple[str, str], dict[str, Event]] = {}
    for event in analysis.trace.of("picked"):
        node = event.place.node
        if isinstance(node, ast.Subscript):
            group = groups.setdefault((event.place.unit.path, ast.unparse(node.value)), {})
            group.setdefault(ast.unparse(node.slice), event)
    for rows in groups.values():
        for one, other in combinations(rows.values(), 2):
            if isinstance(one.subject, Tensor) and _apart(one, other):
                yield one, one.subject
                break


def _apart(one: Event, other: Event) -> bool:
    keys = [_resolved(event.place.unit, event.place.node.slice) for event in (one, other)]  # type: ignore[attr-defined]
    first, second = keys
    if isinstance(first, ast.Slice) and isinstance(second, ast.Slice):
        return _meet(first, second)
    if isinstance(first, ast.Subscript) and isinstance(second, ast.Subscript):
        same = ast.unparse(first.value) == ast.unparse(second.value)
        slices = isinstance(first.slice, ast.Slice) and isinstance(second.slice, ast.Slice)
        return same and slices and _meet(first.slice, second.slice)  # type: ignore[arg-type]
    if isinstance(first, ast.Compare) and isinstance(second, ast.Compare):
        kinds = {type(first.ops[0]), type(second.ops[0])}
        return kinds == {ast.Eq, ast.NotEq} and _sides(first) == _sides(second)
    for key, inverse in ((first, other), (second, one)):
        node = _resolved(inverse.place.unit, inverse.place.node.slice)  # type: ignore[attr-defined]
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Invert):
            return ast.unparse(_resolved(inverse.place.unit, node.operand)) == ast.unparse(key)
    return False


def _meet(one: ast.Slice, other: ast.Slice) -> bool:
    """`[:cut]` and `[cut:]`."""
    for low, high in ((one, other), (other, one)):
        if low.lower is None and low.upper is not None and high.lower is not None and high.upper is None:
            return ast.unparse(low.upper) == ast.unparse(high.lower)
    return False


def _sides(test: ast.Compare) -> list[str]:
    return [ast.unparse(test.left), ast.unparse(test.comparators[0])]


def _resolved(unit: CodeUnit, node: ast.expr) -> ast.expr:
    """What a name stands for, where the unit gives it a value once."""
    if not isinstance(node, ast.Name):
        return node
    values = unit.once(hand_splits, lambda: _assigned(unit))
    found = values.get(node.id, [])
    return found[0] if len(found) == 1 else node


def _assigned(unit: CodeUnit) -> dict[str, list[ast.expr]]:
    found: dict[str, list[ast.expr]] = {}
    for node in unit.nodes.of(ast.Assign):
        target, value = node.targets[0], node.value
        if isinstance(target, ast.Name):
            found.setdefault(target.id, []).append(value)
        elif isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple) and len(target.elts) == len(value.elts):
            for one, other in zip(target.elts, value.elts, strict=True):
                if isinstance(one, ast.Name):
                    found.setdefault(one.id, []).append(other)
    return found
