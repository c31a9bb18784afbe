"""What operations make of the range of a tensor, and which of them are defined for some values only."""

from __future__ import annotations

import ast
from dataclasses import replace
from typing import TYPE_CHECKING

from traindx.program import ranges
from traindx.program.guessing import keeps_from_the_edge
from traindx.program.library.transfer import AFTER, EXTREMES, MADE, Given, arithmetic, range_of
from traindx.program.ranges import ANY, INF, Range
from traindx.program.values import Guess, Items, Plain, Tensor, Value, number, whole

if TYPE_CHECKING:
    from traindx.program.calling import Call
    from traindx.program.machine import Machine

LOGS = frozenset(["log", "log2", "log10"])
PARTIAL = {
    **dict.fromkeys(LOGS, "log"), "log1p": "log", "sqrt": "square root", "rsqrt": "square root", "exp": "exp",
    "pow": "fractional power", "power": "fractional power", "div": "division", "divide": "division",
    "true_divide": "division", "truediv": "division", "div_": "division", "reciprocal": "division",
    "acos": "arc cosine", "arccos": "arc cosine", "asin": "arc sine", "arcsin": "arc sine",
    "atanh": "inverse tanh", "arctanh": "inverse tanh",
}  # fmt: skip
"""operations that are not defined, or have no gradient, for some values"""
_OF_A_GUESS = LOGS | {"log1p", "sqrt", "rsqrt", "exp"}
_PLAIN = ("numpy", "math", "scipy", "cmath", "pandas")
"""packages without gradients"""


def ranged(value: Value, found: Range) -> Value:
    """The same value with its range."""
    kept = None if found is ANY or found == ANY else found
    if isinstance(value, Tensor):
        return value if value.range is kept else value.but(range=kept)
    if isinstance(value, Guess):
        return value if value.range is kept else Guess(value.name, kept)
    if isinstance(value, Items) and value.items:
        # `values, indices = x.max(1)`
        return Items([ranged(value.items[0], found), *value.items[1:]], value.kind, value.more)
    return value


def after_function(m: Machine, full: str, call: Call, value: Value) -> Value:
    """What a function of a library gives, with its range."""
    root, last = full.partition(".")[0], full.rpartition(".")[2].removeprefix("reduce_")
    if root == "builtins" and last not in {"max", "min", "abs", "pow"}:
        return value
    if keeps_from_the_edge(last) and isinstance(value, Guess):
        return ranged(value, ranges.POSITIVE)
    if last in MADE:
        return ranged(value, MADE[last](call)) if isinstance(value, Tensor) else value
    owner = call.args[0] if call.args else call.keywords.get("input", call.keywords.get("x"))
    if owner is None or (last not in AFTER and last not in PARTIAL):
        return value
    if root not in _PLAIN and root != "builtins":
        _partial(m, last, owner, call.args[1:], call, _node(call.node, "input"))
    return _after(m, last, owner, call.args[1:], call, value, root in _PLAIN)


def after_method(m: Machine, owner: Value, name: str, call: Call, value: Value) -> Value:
    """What a method of a tensor gives, or of something that may be one."""
    if name not in AFTER and name not in PARTIAL:
        if isinstance(value, Guess) and keeps_from_the_edge(name):
            return ranged(value, ranges.POSITIVE)
        return value
    if not isinstance(owner, Tensor | Guess) and not (isinstance(owner, Plain) and owner.value is None):
        return value
    if isinstance(owner, Tensor) or (name in _OF_A_GUESS and not call.args):
        func = call.node.func
        _partial(m, name, owner, call.args, call, func.value if isinstance(func, ast.Attribute) else None)
    made = _after(m, name, owner, call.args, call, value)
    if name.endswith("_") and not name.endswith("__"):
        _in_place(m, call, range_of(made))
    return made


def after_binary(m: Machine, node: ast.BinOp, left: Value, right: Value, value: Value) -> Value:
    """What `left op right` gives."""
    if not isinstance(value, Tensor | Guess):
        return value
    a, b = range_of(left), range_of(right)
    if b.of_many and isinstance(node.op, ast.Div):
        _event(m, "division", node, right, b, node.right, other=left)
    if isinstance(node.op, ast.Pow) and isinstance(left, Tensor):
        _power(m, node, left, a, right, node.left)
    if a is ANY and b is ANY and not isinstance(node.op, ast.Mult | ast.Pow):
        return ranged(value, ANY)
    return ranged(value, arithmetic(node.op, left, right, a, b))


def _after(m: Machine, name: str, owner: Value, args: Given, call: Call, value: Value, plain: bool = False) -> Value:
    step = AFTER.get(name)
    if step is None:
        return value
    given = range_of(owner)
    if given.peak > -INF and _along_another(owner, args, call):
        given = replace(given, peak=-INF)  # of shares, one is large along their own axis alone
    found = step(given, args, call)
    if name in EXTREMES and (not args or not isinstance(args[0], Tensor)):
        found = replace(found, highest_of=owner if name != "min" else None)
    if plain and found.kind:
        found = replace(found, kind="")
    elif found.kind == "statistic" and (
        call.keywords.get("dim", call.keywords.get("axis")) or (args and name != "norm")
    ):
        found = replace(found, kind="statistics")
    return ranged(value, found)


def _along_another(owner: Value, args: Given, call: Call) -> bool:
    """Whether shares are put together along an axis that they do not add up to one along."""
    dim = whole(call.keywords.get("dim", call.keywords.get("axis", args[0] if args else None)))
    if not isinstance(owner, Tensor) or owner.act_dim is None or dim is None or owner.shape is None:
        return False
    return dim % max(1, len(owner.shape)) != owner.act_dim % max(1, len(owner.shape))


def _partial(m: Machine, name: str, owner: Value, args: Given, call: Call, node: ast.expr | None) -> None:
    operation = PARTIAL.get(name)
    if operation is None or not isinstance(owner, Tensor | Guess):
        return
    given = range_of(owner)
    if operation == "division":
        inverse = name == "reciprocal"
        right = owner if inverse else (args[0] if args else call.keywords.get("other"))
        if right is not None and range_of(right).of_many:
            operand = node if inverse else _last(call.node)
            _event(m, operation, call.node, right, range_of(right), operand, other=owner)
    elif operation == "fractional power":
        _power(m, call.node, owner, given, args[0] if args else call.keywords.get("exponent"), node)
    else:
        # A logarithm of one plus x is one of a number above minus one.
        moved = ranges.plus(Range(given.low, given.high), ranges.exactly(1.0)) if name == "log1p" else given
        moved = ANY if name == "log1p" and given.low == -INF else moved
        _event(m, operation, call.node, owner, moved, node)


def _power(
    m: Machine, node: ast.AST, owner: Value, given: Range, power: Value | None, operand: ast.expr | None
) -> None:
    told = number(power)
    if told is not None and told < 1 and told != int(told) and isinstance(owner, Tensor):
        _event(m, "fractional power", node, owner, given, operand, inverse=told < 0)


def _event(
    m: Machine, operation: str, node: ast.AST, subject: Value, given: Range, operand: ast.expr | None, **facts: object
) -> None:
    if m.telling:
        return
    told = {"operation": operation, "range": given, "operand": operand, "inside": m.inside_modules}
    m.event("math", node, subject, **told, **facts)


def _node(node: ast.Call, keyword: str) -> ast.expr | None:
    if node.args:
        return node.args[0]
    return next((part.value for part in node.keywords if part.arg == keyword), None)


def _last(node: ast.Call) -> ast.expr | None:
    return node.args[-1] if node.args else None


def _in_place(m: Machine, call: Call, found: Range) -> None:
    """`x.clamp_(min=1e-8)`: what the name holds has the new range."""
    func = call.node.func
    if isinstance(func, ast.Attribute) and isinstance(func.value, ast.Name):
        held = m.scope.names.get(func.value.id)
        if isinstance(held, Tensor | Guess):
            m.bind(func.value.id, ranged(held, found))
