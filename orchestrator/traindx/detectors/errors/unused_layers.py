"""Layers that a model builds and none of its methods uses: data-parallel training waits for their gradients."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from traindx.contract import Citation
from traindx.detectors.citing import cite_code
from traindx.readers.code.codeunit import CodeUnit
from traindx.readers.code.syntax import all_nodes, name_of

MOST = 2
_MODULES = ("nn.", "torch.nn.", "torch_geometric.nn.", "timm.", "models.", "torchvision.models.")


def detect(code: Sequence[CodeUnit]) -> list[Citation]:
    """The lines that build such layers."""
    used = frozenset(
        node.attr
        for unit in code
        for node in all_nodes(unit.tree)
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load)
    )
    return [
        cite_code(unit, line, f"`self.{name}` is built here, and nothing uses it")
        for unit in code
        for name, line in _built(unit.tree)
        if name not in used
    ][:MOST]


def _built(tree: ast.Module) -> Iterator[tuple[str, int]]:
    """The layers that constructors of classes assign to their object."""
    for owner in (node for node in ast.walk(tree) if isinstance(node, ast.ClassDef)):
        for method in owner.body:
            if not isinstance(method, ast.FunctionDef) or method.name != "__init__":
                continue
            for node in ast.walk(method):
                target = node.targets[0] if isinstance(node, ast.Assign) else None
                if isinstance(target, ast.Attribute) and name_of(target.value) == "self" and _is_layer(node):
                    yield target.attr, node.lineno  # type: ignore[attr-defined]


def _is_layer(node: ast.AST) -> bool:
    value = node.value if isinstance(node, ast.Assign) else None
    if not isinstance(value, ast.Call):
        return False
    called = ast.unparse(value.func)
    return called.startswith(_MODULES) or called.rpartition(".")[2][:1].isupper()
