"""Arithmetic: on numbers that are known, and on tensors with their graphs."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from traindx.program import contractions, ranges
from traindx.program.meanings import entropy_after, is_negative_kl, marks_after, policy_after, still_means
from traindx.program.values import (
    LEAF,
    NOTHING,
    UNKNOWN,
    Guess,
    Items,
    Layer,
    Parameters,
    Plain,
    Shape,
    Stream,
    Tensor,
    Value,
)

if TYPE_CHECKING:
    from traindx.program.machine import Machine

_ARITHMETIC: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
}
LONGEST_LIST = 60
_SURE = ("constant", "omitted", "default", "config", "varies")


def binary(m: Machine, node: ast.BinOp, left: Value, right: Value) -> Value:
    """`left op right`."""
    from traindx.program.library.mathematics import after_binary

    return after_binary(m, node, left, right, _binary(m, node, left, right))


def _binary(m: Machine, node: ast.BinOp, left: Value, right: Value) -> Value:
    if not isinstance(node.op, ast.Add):
        left, right = (_weights(side) if isinstance(side, Parameters) else side for side in (left, right))
    if isinstance(left, Tensor) or isinstance(right, Tensor):
        return _tensors(m, node, left, right)
    if isinstance(left, Plain) and isinstance(right, Plain):
        return _plain(node.op, left, right)
    if isinstance(node.op, ast.Add) and isinstance(left, Layer):
        from traindx.program.library import growing

        return growing.together(m, left, right) if growing.is_container(left) else UNKNOWN
    if isinstance(node.op, ast.Add) and (isinstance(left, Items | Parameters) or isinstance(right, Items | Parameters)):
        return _concatenated(left, right)
    if isinstance(node.op, ast.Mult) and isinstance(left, Items):
        return _repeated(left, right)
    if isinstance(node.op, ast.Mult) and isinstance(right, Items):
        return _repeated(right, left)
    for side in (left, right):
        if isinstance(side, Plain) and side.counts:
            return Plain(None, "varies", "", side.counts)
    if isinstance(left, Guess) or isinstance(right, Guess):
        return Guess("")
    return UNKNOWN


def _weights(given: Parameters) -> Tensor:
    """One of some parameters, as a number to calculate with."""
    return Tensor(graph=LEAF, deps=given.layers, sure=given.known, marks=frozenset({"parameter"}))


def _plain(op: ast.operator, left: Plain, right: Plain) -> Value:
    a, b = left.value, right.value
    sure = max((left.sure, right.sure), key=lambda word: _SURE.index(word) if word in _SURE else 3)
    counts = _counted(op, left.counts, right.counts)
    if isinstance(a, int | float) and isinstance(b, int | float) and abs(a) < 1e15 and abs(b) < 1e15:
        try:
            if isinstance(op, ast.Pow):
                return Plain(float(a) ** float(b) if abs(b) <= 64 else None, sure, "", counts)
            made = _ARITHMETIC.get(type(op))
            if made is not None:
                return Plain(made(a, b), sure, "", counts)
        except (ArithmeticError, ValueError, TypeError):
            return Plain(None, "varies", "", counts)
    if isinstance(a, str) and isinstance(b, str) and isinstance(op, ast.Add):
        return Plain((a + b)[:500], sure)
    return Plain(None, "varies", "", counts)


def _counted(op: ast.operator, one: str, other: str) -> str:
    if isinstance(op, ast.Mult):
        return "batches" if "batches" in {one, other} else one or other
    if isinstance(op, ast.Div | ast.FloorDiv | ast.Mod):
        return one if one and not other else ""
    return one or other


def _repeated(listed: Items, count: Value) -> Items:
    """`[width] * depth`: with its length where that is known, of numbers and other plain values."""
    times = count.value if isinstance(count, Plain) and count.sure != "varies" else None
    plain = not listed.more and all(isinstance(item, Plain) for item in listed.items)
    if plain and type(times) is int and 0 < times * len(listed.items) <= LONGEST_LIST:
        return Items(listed.items * times, listed.kind)
    return Items(listed.items, listed.kind, True)


def _concatenated(left: Value, right: Value) -> Value:
    if isinstance(left, Parameters) and isinstance(right, Parameters):
        return Parameters(left.layers | right.layers, left.known and right.known)
    if isinstance(left, Items) and isinstance(right, Items):
        return Items([*left.items, *right.items], left.kind, left.more or right.more)
    if isinstance(left, Items):
        return Items([*left.items, right] if not isinstance(right, Stream) else left.items, left.kind, True)
    return Items([left, *(right.items if isinstance(right, Items) else [right])], "list", True)


def _tensors(m: Machine, node: ast.BinOp, left: Value, right: Value) -> Value:
    from traindx.program.library.initialising import nothing_and

    parts = [side for side in (left, right) if isinstance(side, Tensor)]
    graph, sure, deps = m.attached(parts)
    op = node.op
    shape = broadcast(left, right) if not isinstance(op, ast.MatMult) else product(left, right)
    if isinstance(op, ast.MatMult):
        contractions.product(m, node, left)
    if isinstance(op, ast.MatMult | ast.Mult):
        contractions.of_one(m, node, left, right)
    result = Tensor(
        graph=graph,
        sure=sure,
        deps=deps,
        shape=shape,
        states=frozenset().union(*(part.states for part in parts)),
        marks=marks_after(op, left, right)
        | policy_after(op, left, right)
        | entropy_after(op, left, right)
        | (_multiplied(m, node, left, right) if isinstance(op, ast.MatMult) else NOTHING)
        | (nothing_and(m, left, right) if isinstance(op, ast.Add) else NOTHING),
        cut=next((part.cut for part in parts if part.cut), None) if not deps else None,
        origin=frozenset().union(*(part.origin for part in parts)),
        order=frozenset().union(*(part.order for part in parts)),
        dtype=next((part.dtype for part in parts if part.dtype), ""),
    )
    if shape is None and any("flat" in part.marks for part in parts):
        result = result.marked("flat")
    if not graph and result.states and any("detached" in part.marks for part in parts):
        result = result.marked("detached", "state")
    if isinstance(op, ast.Add | ast.Sub) and deps and len(parts) == 2:
        lost = next((part for part in parts if not part.deps and part.cut is not None and part.shape == ()), None)
        # Next to what is no number and no loss it is a target: `returns - critic(state)`.
        number = any(part.deps and (part.shape == () or part.loss is not None) for part in parts)
        if number and lost is not None and lost.cut is not None:
            m.event("lost-term", node, result, cut=lost.cut)
            result = result.marked("lost")
    if isinstance(op, ast.Add) and len(parts) == 2 and _goes_around(node, parts[0], parts[1]):
        m.event("residual", node, result)
    if isinstance(op, ast.Mult) and len(parts) == 2:
        result = contractions.weighted(left, right, result)
    if isinstance(op, ast.Sub) and graph:
        m.event("difference", node, result, left=left, right=right)
    if "grows" in result.marks and isinstance(op, ast.Mult) and not any("grows" in part.marks for part in parts):
        m.event("grows", node, result, what="policy")
    if "entropy-added" in result.marks and not any("entropy-added" in part.marks for part in parts):
        m.event("entropy-added", node, result)
    if graph and isinstance(op, ast.Sub) and is_negative_kl(node):
        m.event("grows", node, result, what="kl")
        result = result.marked("grows")
    return still_means(node, result, left, right)


def _goes_around(node: ast.BinOp, left: Tensor, right: Tensor) -> bool:
    """Whether a sum leads something around the layers that the other side went through: `x + f(x)`, `out + skip`."""
    for kept, side, made in ((node.left, left, right), (node.right, right, left)):
        if isinstance(kept, ast.Name | ast.Attribute) and side.deps < made.deps and "parameter" not in made.marks:
            return True
    return False


def _multiplied(m: Machine, node: ast.BinOp, left: Value, right: Value) -> frozenset[str]:
    from traindx.program.library.initialising import nothing_times

    return contractions.marks_of(left, right) | nothing_times(m, node, left, right)


def broadcast(left: Value, right: Value) -> Shape | None:
    """The shape of an element-wise operation."""
    shapes = [side.shape for side in (left, right) if isinstance(side, Tensor)]
    if len(shapes) == 1:
        return shapes[0]
    one, other = shapes
    if one is None or other is None:
        return None
    size = max(len(one), len(other))
    a = (1,) * (size - len(one)) + one
    b = (1,) * (size - len(other)) + other
    return tuple(y if x == 1 else x if y == 1 or x is not None else y for x, y in zip(a, b, strict=True))


def product(left: Value, right: Value) -> Shape | None:
    """The shape of a matrix product, as far as it is known."""
    if isinstance(left, Tensor) and isinstance(right, Tensor) and left.shape and right.shape:
        if len(right.shape) == 1:
            return left.shape[:-1]
        if len(left.shape) == 1:
            return right.shape[:-2] + right.shape[-1:]
        return (*left.shape[:-1], right.shape[-1])
    return None


def negated(m: Machine, value: Value) -> Value:
    """`-value`."""
    if isinstance(value, Tensor):
        graph, sure, deps = m.attached([value])
        act = "linear" if value.act == "linear" else ""
        # The negative of a log-probability is a loss, not a negated one.
        sign = value.sign if "logprob" in value.marks and value.loss is None else -value.sign
        turned = ranges.negative(value.range) if value.range is not None else None
        marks = _flipped(value.marks)
        return value.but(graph=graph, sure=sure, deps=deps, sign=sign, act=act, marks=marks, range=turned)
    if isinstance(value, Plain) and isinstance(value.value, int | float):
        return Plain(-value.value, value.sure, "", value.counts)
    return UNKNOWN


def _flipped(marks: frozenset[str]) -> frozenset[str]:
    if "logprob" in marks:
        return (marks - {"logprob", "entropy", "entropy-added"}) | {"nll"}
    return marks - {"squared", "positive", "grows", "entropy", "entropy-added"}


def augmented(m: Machine, node: ast.AugAssign) -> Value:
    """`target op= value`, evaluated."""
    from traindx.program.expressions import evaluate

    left, right = evaluate(m, node.target), evaluate(m, node.value)
    if isinstance(left, Tensor) and left.graph:
        m.event("in-place", node, left, value=right)
    if isinstance(left, Tensor) and "leaf" in left.marks and not m.grad:
        return left  # a parameter that is updated by hand stays one
    if isinstance(left, Layer) and isinstance(node.op, ast.Add):
        from traindx.program.library import growing

        return growing.extended(m, left, right) if growing.is_container(left) else UNKNOWN
    if isinstance(left, Items) and isinstance(node.op, ast.Add):
        more = right.items if isinstance(right, Items) else [right]
        m.journal.put(left, "items", [*left.items, *more][:LONGEST_LIST])
        return left
    if isinstance(left, Plain) and isinstance(right, Plain) and m.turns:
        made = _plain(node.op, left, right)
        return Plain(made.value, "varies", left.name) if isinstance(made, Plain) else made
    held = ast.BinOp(left=node.target, op=node.op, right=node.value)
    ast.copy_location(held, node)
    if isinstance(left, Plain) and left.value == 0 and isinstance(right, Tensor) and isinstance(node.op, ast.Sub):
        return negated(m, right)
    if isinstance(left, Plain) and left.value == 0 and isinstance(right, Tensor):
        return right.but(marks=right.marks & {"logprob", "grows"}) if right.loss is None else right
    return binary(m, held, left, right) if left is not UNKNOWN or isinstance(right, Tensor) else UNKNOWN


def empty_graph(value: Tensor) -> Tensor:
    """The same numbers without their history."""
    return value.but(graph=NOTHING, deps=NOTHING, sure=True)
