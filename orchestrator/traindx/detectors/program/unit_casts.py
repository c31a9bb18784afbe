"""Where a program casts values that it scaled to the range 0 to 1 to integers: all but the largest become 0."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from traindx.contract import Citation
from traindx.detectors.citing import cite_code
from traindx.readers.code.codeunit import CodeUnit
from traindx.readers.code.syntax import all_nodes, name_of

MOST = 2
_INTEGERS = frozenset({"uint8", "int8", "int16", "int32", "int64", "int", "long"})
_LOWEST = frozenset({"min", "amin", "nanmin"})
_HIGHEST = frozenset({"max", "amax", "nanmax", "ptp"})


def detect(code: Sequence[CodeUnit]) -> list[Citation]:
    """The lines of such casts, in the order of the programs."""
    claim = "values between 0 and 1 are cast to integers: nearly all of them become 0"
    return [cite_code(unit, line, claim) for unit in code for line in _lines(unit.tree)][:MOST]


def _lines(tree: ast.Module) -> Iterator[int]:
    assigned: dict[str, list[ast.expr]] = {}
    for node in all_nodes(tree):
        if isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
            assigned.setdefault(node.targets[0].id, []).append(node.value)
    for node in all_nodes(tree):
        value = _cast(node)
        if isinstance(value, ast.Name):
            given = assigned.get(value.id, [])
            if given and all(map(_is_unit, given)):
                yield node.lineno  # type: ignore[attr-defined]
        elif value is not None and _is_unit(value):
            yield node.lineno  # type: ignore[attr-defined]


def _cast(node: ast.AST) -> ast.expr | None:
    """What is cast to integers: `x.astype(np.uint8)`, `x.to(torch.uint8)`, `x.byte()`, `np.uint8(x)`."""
    if not isinstance(node, ast.Call):
        return None
    called = name_of(node.func).rpartition(".")[2]
    if isinstance(node.func, ast.Attribute) and called in {"astype", "to", "type"} and len(node.args) == 1:
        kind = node.args[0]
        named = kind.value if isinstance(kind, ast.Constant) else name_of(kind).rpartition(".")[2]
        return node.func.value if named in _INTEGERS else None
    if isinstance(node.func, ast.Attribute) and called == "byte" and not node.args:
        return node.func.value
    return node.args[0] if called in {"uint8", "int8", "int16"} and len(node.args) == 1 else None


def _is_unit(value: ast.expr) -> bool:
    """Whether it is a difference to the lowest value over the range, or clipped to 0 and 1."""
    if isinstance(value, ast.Call) and name_of(value.func).rpartition(".")[2] in {"clip", "clamp"}:
        numbers = [one.value for one in value.args if isinstance(one, ast.Constant)]
        return numbers[-2:] in ([0, 1], [0.0, 1.0])
    if not (isinstance(value, ast.BinOp) and isinstance(value.op, ast.Div)):
        return False
    above = (
        isinstance(value.left, ast.BinOp) and isinstance(value.left.op, ast.Sub) and _asks(value.left.right, _LOWEST)
    )
    return above and _asks(value.right, _HIGHEST)


def _asks(node: ast.expr, names: frozenset[str]) -> bool:
    return any(isinstance(one, ast.Call) and name_of(one.func).rpartition(".")[2] in names for one in ast.walk(node))
