"""First values of parameters: which of them a program sets to one number."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from traindx.program.values import Layer, Parameters, Plain, Tensor, Value, number

if TYPE_CHECKING:
    from traindx.program.calling import Call
    from traindx.program.machine import Machine

_NUMBERS = {"zeros_": 0.0, "zero_": 0.0, "ones_": 1.0}
_FILLING = frozenset({"constant_", "fill_"})


def initialised(m: Machine, name: str, given: Value, call: Call, rest: list[Value]) -> None:
    """Note what a call of `torch.nn.init` or a method in place makes of parameters."""
    told = rest[0] if rest else call.keywords.get("val", call.keywords.get("value"))
    value = _NUMBERS.get(name, number(told) if name in _FILLING else None)
    for layer, part in _parts(m, given):
        m.journal.set(layer.fields, f"@{part}", Plain(value, "constant" if not m.guards else "varies"))
        m.event("initialised", call.node, layer, part=part, value=value)


def first_value(layer: Layer, part: str) -> float | None:
    """The one number that every element of a weight or a bias begins with, where that is certain."""
    told = layer.fields.get(f"@{part}")
    return number(told) if isinstance(told, Plain) and told.sure == "constant" else None


def nothing_times(m: Machine, node: ast.AST, left: Value, right: Value) -> frozenset[str]:
    """The mark of a matrix product that is all zeros because a parameter in it begins as zeros; where both sides are,
    no gradient ever reaches either of them.
    """
    zero = [_is_nothing(m, side) for side in (left, right)]
    if not any(zero):
        return frozenset()
    if all(zero) and m.grad:
        m.event("null-product", node, right, left=left)
    return frozenset({"null"})


def _is_nothing(m: Machine, side: Value) -> bool:
    if not isinstance(side, Tensor):
        return False
    if "parameter" in side.marks and len(side.deps) == 1:
        layer = m.trace.layers.get(next(iter(side.deps)))
        return layer is not None and first_value(layer, "weight") == 0.0
    return "null" in side.marks


def _parts(m: Machine, given: Value) -> list[tuple[Layer, str]]:
    if isinstance(given, Parameters) and isinstance(given.owner, Plain):
        numbers, part = given.layers, str(given.owner.value)
    elif isinstance(given, Parameters):
        # Parameters that are gone through one after the other: all of them may be meant.
        rows = [m.trace.layers[number] for number in given.layers if number in m.trace.layers]
        return [(layer, part) for layer in rows for part in ("weight", "bias")]
    elif isinstance(given, Tensor) and "parameter" in given.marks:
        numbers, part = given.deps, "weight"
    else:
        return []
    return [(m.trace.layers[number], part) for number in numbers if number in m.trace.layers]
