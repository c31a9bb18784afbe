"""What a program calls its model, optimizer, loss, loader and the rest: for showing a fix in the user's own words."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from traindx.readers.code.codeunit import CodeUnit
from traindx.vocabulary.optimizers import KNOWN_OPTIMIZERS

_LOADERS = frozenset({"DataLoader", "prepare_data_loader", "StatefulDataLoader"})
_SCALERS = frozenset({"GradScaler"})


def names_in(units: Sequence[CodeUnit]) -> dict[str, str]:
    """The names by their part in the training, as far as the program tells; the first of each kind counts."""
    found: dict[str, str] = {}
    for unit in units:
        for node in ast.walk(unit.tree):
            for part, name in _told(node):
                if name and part not in found:
                    found[part] = name
    return found


def _told(node: ast.AST) -> Iterator[tuple[str, str]]:
    if isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.value, ast.Call):
        yield from _assigned(_name(node.targets[0]), node.value)
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        owner = _name(node.func.value)
        if node.func.attr == "backward" and isinstance(node.func.value, ast.Name | ast.Attribute):
            yield "loss", owner
        elif node.func.attr == "parameters":
            yield "model", owner
    elif isinstance(node, ast.For):
        over = node.iter
        if isinstance(over, ast.Call) and _called(over) in {"enumerate", "tqdm"} and over.args:
            over = over.args[0]
        name = _name(over)
        if "loader" in name.lower():
            yield "loader", name


def _assigned(target: str, call: ast.Call) -> Iterator[tuple[str, str]]:
    called = _called(call)
    if not target:
        return
    if KNOWN_OPTIMIZERS.fullmatch(called):
        yield "optimizer", target
    elif called in _LOADERS:
        yield "loader", target
    elif called in _SCALERS:
        yield "scaler", target
    elif called.endswith(("LR", "Scheduler")) or "scheduler" in called.lower():
        yield "scheduler", target


def _called(call: ast.Call) -> str:
    return call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")


def _name(node: ast.AST) -> str:
    """`model`, `self.net`; empty for anything more."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "self":
        return f"self.{node.attr}"
    return ""
