"""Operations of a model that leave the range of fp16, in a run that computes all of it in fp16."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence

from traindx.contract import Fact, Signal
from traindx.detectors.citing import cite_code
from traindx.detectors.program.squares import is_sum_of_squares
from traindx.readers.code.codeunit import CodeUnit
from traindx.readers.code.syntax import all_nodes, name_of, number_of
from traindx.readers.model import LogError, Setting

SIGNALS = {"half-range-left": "the model computes what fp16 cannot hold: a sum of squares, a constant beyond 65504"}

LARGEST = 65504.0
"""of fp16; a sum over some hundred squares of values near ten is larger"""
_SUMS = frozenset({"sum", "nansum", "cumsum"})
_FILLS = frozenset({"masked_fill", "masked_fill_", "full", "full_like", "where", "fill_", "new_full"})
_WIDE = re.compile(r"grad|float32|float64|\bdouble\b|\.float\(|\.double\(|bfloat16|enabled\s*=\s*False")
_LOWERED = (ast.Div, ast.Mult)
_OWN_CASTS = frozenset({"amp", "transformers", "lightning", "keras"})
"""autocast keeps sums, powers and exponentials in single precision"""
_TROUBLE = re.compile(r"overflow|loss.?scal|non-?finite|\bnan\b|\binf\b|FloatingPointError", re.IGNORECASE)


def is_in_trouble(errors: Sequence[LogError]) -> bool:
    """Whether an error or a warning of the log speaks of values out of range."""
    return any(_TROUBLE.search(row.text[:2_000]) for row in errors)


def detect(code: Sequence[CodeUnit], half: Setting | None) -> list[Signal]:
    """The operations of the model that pass the largest number of fp16."""
    if half is None or any(unit.traits & _OWN_CASTS for unit in code):
        return []
    found = [(unit, node, what) for unit in code for node, what in _operations(unit)]
    if not found:
        return []
    places = [cite_code(unit, node.lineno, what) for unit, node, what in found]
    unit, node, what = found[0]
    quote = unit.quote(node.lineno).strip()[:120]
    facts: dict[str, Fact] = {"range_quote": f"`{quote}`", "range_place": f"{unit.path}:{unit.file_line(node.lineno)}"}
    claim = f"`{quote}` leaves the range of fp16, which ends at 65504: {what}"
    return [Signal(id="half-range-left", claim=claim, citations=places[:3], facts=facts)]


def _operations(unit: CodeUnit) -> Iterator[tuple[ast.expr, str]]:
    for node in all_nodes(unit.tree):
        if not isinstance(node, ast.FunctionDef) or node.name.startswith("__"):
            continue
        for part in ast.walk(node):
            if isinstance(part, ast.Call) and _sums_squares(part):
                yield part, "a sum of squares"
            elif isinstance(part, ast.Call) and name_of(part.func) in _FILLS and _too_large(part.args):
                yield part, "a constant beyond its largest number"


def _sums_squares(call: ast.Call) -> bool:
    if name_of(call.func) not in _SUMS or _WIDE.search(ast.unparse(call)):
        return False
    owner = call.func.value if isinstance(call.func, ast.Attribute) else None
    if not _over_several_axes(call, is_sum_of_squares(owner)):
        return False
    for summed in (owner, call.args[0] if call.args else None):
        if summed is not None and is_sum_of_squares(summed) and not _is_lowered(summed):
            return True
    return False


def _over_several_axes(call: ast.Call, by_method: bool) -> bool:
    """Whether a sum has no axis or more than one: along the features alone there are too few squares to be sure."""
    given = call.args[0 if by_method else 1 :]
    axis = next((part.value for part in call.keywords if part.arg in {"dim", "axis"}), given[0] if given else None)
    return axis is None or (isinstance(axis, ast.Tuple | ast.List) and len(axis.elts) > 1)


def _is_lowered(node: ast.AST) -> bool:
    """Whether what is squared was divided or scaled before."""
    for part in ast.walk(node):
        is_power = isinstance(part, ast.Call) and name_of(part.func) in {"pow", "square"}
        base = (
            part.func.value
            if is_power and isinstance(part, ast.Call) and isinstance(part.func, ast.Attribute)
            else None
        )
        base = part.left if isinstance(part, ast.BinOp) and isinstance(part.op, ast.Pow) else base
        if isinstance(base, ast.BinOp) and isinstance(base.op, _LOWERED):
            return True
        if isinstance(base, ast.BinOp) and isinstance(base.op, ast.Sub):
            return True  # a difference, as in a loss or a variance, is of another size than what it is made of
    return False


def _too_large(given: Sequence[ast.expr]) -> bool:
    return any(abs(value) > LARGEST for part in given if (value := number_of(part)) is not None)
