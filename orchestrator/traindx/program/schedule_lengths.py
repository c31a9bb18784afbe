"""How long a schedule was made to be, as it is written: the batches of one epoch, or of all."""

from __future__ import annotations

import ast

from traindx.program.trace import Loop
from traindx.program.values import Made
from traindx.readers.code.codeunit import CodeUnit
from traindx.readers.code.syntax import name_of


def is_one_epoch(made: Made, at: int, name: str, loop: Loop) -> bool:
    """Whether a length is `len(loader)` of the very loader that the loop over batches goes through."""
    node = made.place.node if made.place is not None else None
    if made.place is None or not isinstance(node, ast.Call):
        return False
    given = next((part.value for part in node.keywords if part.arg == name), None)
    given = given or (node.args[at] if at < len(node.args) else None)
    given = _meant(made.place.unit, given)
    if not isinstance(given, ast.Call) or name_of(given.func) != "len" or len(given.args) != 1:
        return False
    source = loop.node.iter if isinstance(loop.node, ast.For) else None
    parts = [ast.dump(part) for part in ast.walk(source)] if source is not None else []
    return ast.dump(given.args[0]) in parts


def _meant(unit: CodeUnit, node: ast.expr | None) -> ast.expr | None:
    """What a name stands for, where the file gives it a value once."""
    if not isinstance(node, ast.Name):
        return node
    found = [
        part.value
        for part in unit.nodes.of(ast.Assign)
        if any(isinstance(t, ast.Name) and t.id == node.id for t in part.targets)
    ]
    return found[0] if len(found) == 1 else None
