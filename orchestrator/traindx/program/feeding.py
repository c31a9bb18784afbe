"""Calls that hand a framework the data to train on and the data to evaluate on: whether both are the same."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from traindx.program.values import Place
from traindx.readers.code.codeunit import CodeUnit
from traindx.readers.code.syntax import name_of

_PAIRS = (
    ("train_dataset", "eval_dataset"),
    ("train_dataloaders", "val_dataloaders"),
    ("train_dataset", "val_dataset"),
    ("train_dataloader", "eval_dataloader"),
)
"""the names under which frameworks take both"""


def fed_twice(unit: CodeUnit) -> Iterator[tuple[Place, str]]:
    """Arguments for evaluation that are, word for word, what the same call trains on."""
    for node in unit.nodes.of(ast.Call):
        given = {part.arg: part.value for part in node.keywords if part.arg is not None}
        for train, held in _PAIRS:
            if train in given and held in given and _same(given[train], given[held]):
                yield Place(unit, given[held]), held
        if name_of(node.func) == "fit" and "validation_data" in given and _same_rows(node, given):
            yield Place(unit, given["validation_data"]), "validation_data"


def _same_rows(node: ast.Call, given: dict[str, ast.expr]) -> bool:
    """`fit(x, y, validation_data=(x, y))`, `fit(rows, validation_data=rows)`."""
    held = given["validation_data"]
    parts = held.elts if isinstance(held, ast.Tuple) else [held]
    trained = [*node.args, *(given[name] for name in ("x", "y") if name in given)]
    return len(trained) >= len(parts) > 0 and all(_same(*pair) for pair in zip(trained, parts, strict=False))


def _same(one: ast.expr, other: ast.expr) -> bool:
    """A name, a field or an entry that stands there twice; a call may give something new each time."""
    if not isinstance(one, ast.Name | ast.Attribute | ast.Subscript):
        return False
    if isinstance(one, ast.Subscript) and any(isinstance(part, ast.Call) for part in ast.walk(one)):
        return False
    return ast.dump(one) == ast.dump(other)
