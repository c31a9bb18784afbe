"""Small questions to a syntax tree."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from types import EllipsisType
from typing import Any, TypeVar

Node = TypeVar("Node", bound=ast.AST)
_NO_NODES = frozenset([int, str, float, bool, complex, bytes, type(None), EllipsisType, ast.Load, ast.Store, ast.Del])
"""the kinds of most fields: plain values, and contexts, which tell nothing that their parent does not"""


def name_of(node: ast.AST | None) -> str:
    """The last name of `a.b.c` or `c`; empty for anything else."""
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""


def number_of(node: ast.AST | None) -> float | None:
    """The value of a number written out, also of `-1e-3`; None for anything else."""
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        value = number_of(node.operand)
        return None if value is None else -value
    if isinstance(node, ast.Constant) and isinstance(node.value, int | float) and not isinstance(node.value, bool):
        return float(node.value)
    return None


def assigned(scope: ast.AST, name: str) -> Iterator[ast.expr]:
    """Everything that a scope assigns to a plain name."""
    for node in ast.walk(scope):
        if isinstance(node, ast.Assign):
            targets = node.targets
        elif isinstance(node, ast.AugAssign | ast.AnnAssign):
            targets = [node.target]
        else:
            continue
        if node.value is not None and any(isinstance(target, ast.Name) and target.id == name for target in targets):
            yield node.value


def all_nodes(tree: ast.AST) -> list[ast.AST]:
    """Every node in the order of `ast.walk` but for contexts (`Load`, `Store`), in a third of its time."""
    found = [tree]
    add = found.append
    for node in found:
        for value in vars(node).values():
            kind = type(value)
            if kind in _NO_NODES:
                continue
            if kind is list:
                for part in value:
                    if type(part) not in _NO_NODES:
                        add(part)
            elif isinstance(value, ast.AST):
                add(value)
    return found


class Nodes:
    """Every node of a tree by its kind, gathered once: most questions are about calls, or classes, or assignments."""

    def __init__(self, tree: ast.AST) -> None:
        self._kinds: dict[type, list[Any]] = {}
        for node in all_nodes(tree):
            kind = type(node)
            if kind in self._kinds:
                self._kinds[kind].append(node)
            else:
                self._kinds[kind] = [node]

    def of(self, kind: type[Node], *more: type[Node]) -> list[Node]:
        """The nodes of one kind in the order of `ast.walk`; of several, those of the first kind first."""
        found: list[Node] = self._kinds.get(kind, [])
        return [*found, *(node for one in more for node in self._kinds.get(one, ()))] if more else found
