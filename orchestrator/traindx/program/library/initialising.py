"""First values of parameters: how a program draws them, and which of them it sets to one number."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from traindx.program.guessing import looks_like_weights
from traindx.program.values import Guess, Layer, Parameters, Plain, Tensor, Value, number

if TYPE_CHECKING:
    from traindx.program.calling import Call
    from traindx.program.machine import Machine

_NUMBERS = {"zeros_": 0.0, "zero_": 0.0, "ones_": 1.0}
_FILLING = frozenset({"constant_", "fill_"})
_DRAWN = frozenset({"normal_", "trunc_normal_", "uniform_"})
_GAINS = frozenset({"xavier_normal_", "xavier_uniform_", "orthogonal_", "kaiming_normal_", "kaiming_uniform_"})
SETTING = _DRAWN | _GAINS | _FILLING | _NUMBERS.keys()
"""functions and methods that give a tensor its first values"""
_OF_A_LAYER = frozenset({"weight", "bias", "data"})


def initialised(m: Machine, name: str, given: Value, call: Call, rest: list[Value]) -> None:
    """Note what a call of `torch.nn.init` or a method in place makes of parameters."""
    told = rest[0] if rest else call.keywords.get("val", call.keywords.get("value"))
    value = _NUMBERS.get(name, number(told) if name in _FILLING else None)
    parts = _parts(m, given)
    if not parts and (name not in SETTING or not _may_be_parameters(given)):
        return
    target = _target(call.node, len(rest) < len(call.args))
    spread, gain = _spread(name, call, rest), _gain(name, call, rest)
    facts = {"name": name, "target": target, "spread": spread, "gain": gain, "whichever": _whichever(m, target)}
    for layer, part in parts:
        m.journal.set(layer.fields, f"@{part}", Plain(value, "constant" if not m.guards else "varies"))
        m.event("initialised", call.node, layer, part=part, value=value, **facts)
    if not parts:
        m.event("initialised", call.node, given, part=_last_part(target), value=value, **facts)


def is_constant(name: str) -> bool:
    """Whether a function or method sets all of a tensor to one number."""
    return name in _NUMBERS or name in _FILLING


def written_out(m: Machine, target: ast.Name | ast.Attribute, value: Tensor, node: ast.AST) -> None:
    """Note an array of one number that is given the name of a weight matrix: `W1 = np.full((4, 8), 0.5)`."""
    name = target.id if isinstance(target, ast.Name) else target.attr
    made = value.made.node if value.made is not None else None
    if made is getattr(node, "value", node) and value.marks & {"zeros", "constant"} and looks_like_weights(name):
        m.event("initialised", node, value, part="weight", value=None, name="written", target=target)


def _spread(name: str, call: Call, rest: list[Value]) -> float | None:
    """The standard deviation of what is drawn; None where it is not drawn, or its spread is not known."""
    if name not in _DRAWN:
        return None
    words = ("std",) if name != "uniform_" else ("b", "to")
    given = next((call.keywords[word] for word in words if word in call.keywords), None)
    given = rest[1] if given is None and len(rest) > 1 else given
    told = number(given) if given is not None else 1.0
    return told / 3**0.5 if told is not None and name == "uniform_" else told


def _gain(name: str, call: Call, rest: list[Value]) -> float | None:
    """The factor on top of the usual spread; None where there is none, or it is not known."""
    if name not in _GAINS:
        return None
    given = call.keywords.get("gain", rest[0] if rest and "kaiming" not in name else Plain(1.0))
    return number(given)


def _target(node: ast.Call, function: bool) -> ast.expr | None:
    """What is set: `m.weight` of `init.zeros_(m.weight)` and of `m.weight.data.zero_()`."""
    found = node.args[0] if function and node.args else getattr(node.func, "value", None)
    while isinstance(found, ast.Attribute) and found.attr == "data":
        found = found.value
    return found if isinstance(found, ast.expr) else None


def _whichever(m: Machine, target: ast.expr | None) -> bool:
    """Whether it is the weight of whichever layer a loop or a function is given, not one that is named."""
    while isinstance(target, ast.Attribute) and target.attr in _OF_A_LAYER:
        target = target.value
    if not isinstance(target, ast.Name):
        return False
    function = m.frames[-1].function if m.frames else None
    given = function.node.args if function is not None else None
    names = {part.arg for part in (*given.posonlyargs, *given.args, *given.kwonlyargs)} if given is not None else set()
    for turn in m.turns:
        bound = getattr(turn.loop.node, "target", None)
        names |= {part.id for part in ast.walk(bound) if isinstance(part, ast.Name)} if bound is not None else set()
    return target.id in names - {"self"}


def _last_part(target: ast.expr | None) -> str:
    return target.attr if isinstance(target, ast.Attribute) else ""


def _may_be_parameters(given: Value) -> bool:
    return isinstance(given, Guess | Parameters) or (isinstance(given, Tensor) and "parameter" in given.marks)


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


def nothing_and(m: Machine, left: Value, right: Value) -> frozenset[str]:
    """The mark of a sum of zeros: of what is nothing, and a bias that begins as zeros."""
    return frozenset({"null"} if _is_nothing(m, left) and _is_nothing(m, right) else ())


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
