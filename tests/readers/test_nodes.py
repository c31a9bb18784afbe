"""The nodes of a tree by kind."""

from __future__ import annotations

import ast

from traindx.readers.code.syntax import Nodes, all_nodes

CODE = """
import os
class A(B):
    x: int = 1
    def f(self, *a, key=None, **b):
        return [i for i in a if i] + [lambda: b"x"] if self.x else f"{key!r:>{self.x}}"
try:
    match os.name:
        case {"a": [1, *rest], **more} | None: print(rest, more, ...)
except (OSError, ValueError) as error:
    del error
"""


def test_they_are_those_of_ast_walk_but_for_contexts() -> None:
    tree = ast.parse(CODE)
    walked = [node for node in ast.walk(tree) if not isinstance(node, ast.expr_context)]
    assert all_nodes(tree) == walked


def test_of_a_kind_they_keep_their_order() -> None:
    tree = ast.parse(CODE)
    nodes = Nodes(tree)
    for kind in {type(node) for node in all_nodes(tree)}:
        assert nodes.of(kind) == [node for node in ast.walk(tree) if type(node) is kind]
    assert nodes.of(ast.Import, ast.ClassDef) == [*nodes.of(ast.Import), *nodes.of(ast.ClassDef)]
    assert nodes.of(ast.AsyncFor) == []
