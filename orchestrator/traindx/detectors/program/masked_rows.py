"""Scores that are filled with minus infinity where the batch says so, and go into a softmax: a row that is masked whole
gives NaN.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from traindx.program.analysis import Analysis
from traindx.program.values import Place
from traindx.readers.code.codeunit import CodeUnit
from traindx.readers.code.syntax import all_nodes, name_of

_FILLING = frozenset(["masked_fill", "masked_fill_", "where"])
_CAUSAL = frozenset(["tril", "triu", "tril_", "triu_", "causal", "causal_mask", "subsequent_mask", "tri"])
"""of such a mask every row keeps its own position"""
_SAVED = frozenset(["nan_to_num", "nan_to_num_", "isnan", "isfinite"])


class MaskedRow(NamedTuple):
    """Where the scores are filled, and where they become weights."""

    filled: Place
    softmax: Place


def masked_rows(analyses: Sequence[Analysis]) -> Iterator[MaskedRow]:
    """Softmaxes that a gradient passes, over scores that a mask may have filled from end to end."""
    done: set[str] = set()
    for analysis in analyses:
        for event in analysis.trace.of("softmax"):
            place = event.place
            if place.text in done or not event.grad or not place.unit.names.isdisjoint(_SAVED):
                continue
            done.add(place.text)
            function = _around(place)
            filled = _filled(place.unit, function, place) if function is not None else None
            if filled is not None:
                yield MaskedRow(Place(place.unit, filled), place)


def _around(place: Place) -> ast.FunctionDef | None:
    inside = [
        node
        for node in place.unit.nodes.of(ast.FunctionDef)
        if node.lineno <= place.line <= (node.end_lineno or node.lineno)
    ]
    return max(inside, key=lambda node: node.lineno) if inside else None


def _filled(unit: CodeUnit, function: ast.FunctionDef, softmax: Place) -> ast.Call | None:
    """The last call above a softmax, or in it, that fills with minus infinity by a mask from outside the function."""
    calls = [node for node in all_nodes(function) if isinstance(node, ast.Call) and name_of(node.func) in _FILLING]
    calls = [node for node in calls if node.lineno <= softmax.line and any(map(_is_minus_infinity, node.args))]
    names = {name_of(node) for node in all_nodes(function)}
    if not calls or not names.isdisjoint(_CAUSAL) or not unit.names.isdisjoint(_CAUSAL):
        return None
    last = max(calls, key=lambda node: node.lineno)
    given = {part.arg for part in (*function.args.args, *function.args.kwonlyargs)}
    used = {node.id for part in last.args for node in all_nodes(part) if isinstance(node, ast.Name)}
    return last if used & given else None


def _is_minus_infinity(node: ast.expr) -> bool:
    """`-inf`, `-np.inf`, `float("-inf")`."""
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        inner = node.operand
        return name_of(inner) in {"inf", "infty", "Inf"} or _is_float_of(inner, {"inf", "infinity"})
    return _is_float_of(node, {"-inf", "-infinity"})


def _is_float_of(node: ast.expr, words: set[str]) -> bool:
    if not isinstance(node, ast.Call) or name_of(node.func) != "float" or not node.args:
        return False
    told = node.args[0]
    return isinstance(told, ast.Constant) and isinstance(told.value, str) and told.value.lower() in words
