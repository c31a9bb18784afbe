"""Arithmetic: on numbers that are known, and on tensors with their graphs."""

from __future__ import annotations

import ast
import operator
import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from traindx.program import contractions, ranges
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
    number,
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
_GOOD = re.compile(r"(?:^|[._\[])(?:adv\w*|gae|returns?|rewards?|targets?)(?:$|[\]_])", re.IGNORECASE)
"""names of what tells how good an action was"""
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
        return Items(left.items, left.kind, True)
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


def _concatenated(left: Value, right: Value) -> Value:
    if isinstance(left, Parameters) and isinstance(right, Parameters):
        return Parameters(left.layers | right.layers, left.known and right.known)
    if isinstance(left, Items) and isinstance(right, Items):
        return Items([*left.items, *right.items], left.kind, left.more or right.more)
    if isinstance(left, Items):
        return Items([*left.items, right] if not isinstance(right, Stream) else left.items, left.kind, True)
    return Items([left, *(right.items if isinstance(right, Items) else [right])], "list", True)


def _tensors(m: Machine, node: ast.BinOp, left: Value, right: Value) -> Value:
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
        marks=_marks(op, left, right)
        | _policy(op, left, right)
        | (_multiplied(m, node, left, right) if isinstance(op, ast.MatMult) else NOTHING),
        cut=next((part.cut for part in parts if part.cut), None) if not deps else None,
        origin=frozenset().union(*(part.origin for part in parts)),
        order=frozenset().union(*(part.order for part in parts)),
        dtype=next((part.dtype for part in parts if part.dtype), ""),
    )
    if not graph and result.states and any("detached" in part.marks for part in parts):
        result = result.marked("detached", "state")
    if isinstance(op, ast.Add | ast.Sub) and deps and len(parts) == 2:
        lost = next((part for part in parts if not part.deps and part.cut is not None and part.shape == ()), None)
        if lost is not None and lost.cut is not None:
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
    if graph and isinstance(op, ast.Sub) and is_negative_kl(node):
        m.event("grows", node, result, what="kl")
        result = result.marked("grows")
    return _meaning(node, result, left, right)


def _goes_around(node: ast.BinOp, left: Tensor, right: Tensor) -> bool:
    """Whether a sum leads something around the layers that the other side went through: `x + f(x)`, `out + skip`."""
    for kept, side, made in ((node.left, left, right), (node.right, right, left)):
        if isinstance(kept, ast.Name | ast.Attribute) and side.deps < made.deps and "parameter" not in made.marks:
            return True
    return False


def _multiplied(m: Machine, node: ast.BinOp, left: Value, right: Value) -> frozenset[str]:
    from traindx.program.library.initialising import nothing_times

    return contractions.marks_of(left, right) | nothing_times(m, node, left, right)


def _marks(op: ast.operator, left: Value, right: Value) -> frozenset[str]:
    marks = frozenset().union(*(side.marks for side in (left, right) if isinstance(side, Tensor)))
    stateful = [side for side in (left, right) if isinstance(side, Tensor) and "state" in side.marks]
    masked = frozenset({"maybe-fresh", "state"} if stateful and isinstance(op, ast.Mult) else ())
    kept = masked | marks & {
        "input",
        "target",
        "pixels",
        "logprob",
        "positive",
        "fitted-on-all",
        "zeros",
        "sorted",
        "squared",
        "squared-difference",
        "half",
        "amp-scaled",
        "summed",
        "lost",
        "batched",
        "scores",
        "cut-leaf",
        "some-rows",
    }
    if isinstance(op, ast.Div | ast.Sub | ast.Mult):
        kept -= {"zeros"}
    if isinstance(left, Tensor) and isinstance(right, Tensor):
        kept -= {"logprob"}
    kept |= marks & {"gradient"}
    if isinstance(op, ast.Div) and "pixels" in kept and (number(right) is None or (number(right) or 0) > 1):
        kept -= {"pixels"}
    if isinstance(op, ast.Div) and (number(right) or 0) >= 200:
        kept |= {"unit"}
    if isinstance(op, ast.Mult) and "pixels" in kept and (number(right) is None or abs(number(right) or 1) < 1):
        kept -= {"pixels"}
    if isinstance(op, ast.Sub | ast.Div) and not isinstance(right, Plain):
        kept -= {"pixels"}
    if isinstance(op, ast.Pow) and (number(right) or 0) == 2:
        kept |= {"squared-difference" if "difference" in marks else "squared"}
    elif isinstance(op, ast.Sub):
        kept -= {"squared", "positive", "logprob"} if isinstance(left, Tensor) and isinstance(right, Tensor) else {""}
        if isinstance(left, Tensor) and isinstance(right, Tensor):
            kept |= {"difference"}
    return kept


def is_negative_kl(node: ast.BinOp) -> bool:
    """Whether an expression is `1 + logvar - mu ** 2 - exp(logvar)`, in any order: the negative of a divergence."""
    added, taken = _terms(node, True)
    if len(added) + len(taken) != 4:
        return False
    one = any(isinstance(part, ast.Constant) and part.value == 1 for part in added)
    logs = {ast.unparse(part) for part in added}
    grown = [_inside(part, "exp") for part in taken]
    squared = [part for part in taken if _inside(part, "pow", "square") or _is_power(part) or _is_square(part)]
    return one and bool(squared) and any(part and part in logs for part in grown)


def _terms(node: ast.expr, plus: bool) -> tuple[list[ast.expr], list[ast.expr]]:
    """What a sum adds and what it takes away."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add | ast.Sub):
        left, right = _terms(node.left, plus), _terms(node.right, plus is isinstance(node.op, ast.Add))
        return left[0] + right[0], left[1] + right[1]
    return ([node], []) if plus else ([], [node])


def _inside(node: ast.expr, *names: str) -> str:
    """What a function of one of these names is applied to."""
    if not isinstance(node, ast.Call) or getattr(node.func, "attr", getattr(node.func, "id", "")) not in names:
        return ""
    method = isinstance(node.func, ast.Attribute) and not (isinstance(node.func.value, ast.Name) and node.args)
    if method and isinstance(node.func, ast.Attribute):
        return ast.unparse(node.func.value)
    return ast.unparse(node.args[0]) if node.args else ""


def _is_power(node: ast.expr) -> bool:
    return isinstance(node, ast.BinOp) and isinstance(node.op, ast.Pow)


def _is_square(node: ast.expr) -> bool:
    return isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult) and ast.dump(node.left) == ast.dump(node.right)


def _policy(op: ast.operator, left: Value, right: Value) -> frozenset[str]:
    """Log-probabilities weighted by something without a graph (advantages, returns, soft targets), with a plus sign."""
    tensors = [side for side in (left, right) if isinstance(side, Tensor)]
    if isinstance(op, ast.Mult):
        guessed = next((side.name for side in (left, right) if isinstance(side, Guess)), "")
        if _GOOD.search(guessed) and tensors[0].graph and tensors[0].marks & {"logprob", "ratio"}:
            return frozenset({"grows"} if tensors[0].sign > 0 else ())
    if isinstance(op, ast.Mult) and len(tensors) == 2:
        for one, other in ((tensors[0], tensors[1]), (tensors[1], tensors[0])):
            likely = one.graph and one.marks & {"logprob", "ratio"} and one.sign > 0
            positive = other.sign > 0 and not other.marks & {"turned", "zeros"}
            if likely and positive and not other.graph and (other.shape != () or "element" in other.marks):
                return frozenset({"grows"})
    if isinstance(op, ast.Sub) and isinstance(left, Tensor) and isinstance(right, Tensor | Guess):
        first, second = left, right if isinstance(right, Tensor) else Tensor()
        made = set[str]()
        if first.deps and not second.deps:
            made.add("turned")
        if "logprob" in first.marks and first.graph and not second.graph:
            made.add("log-ratio")
        # `alpha * log_prob - q`: beside a critic the log-probability is meant to be small.
        if "grows" in first.marks and second.deps <= first.deps:
            made.add("grows")
        return frozenset(made)
    held = [side for side in tensors if "grows" in side.marks]
    if not held or isinstance(op, ast.Sub | ast.Pow | ast.MatMult):
        return frozenset({"grows"} if held and isinstance(op, ast.Sub) and held[0] is left else ())
    scalar = next((side for side in (left, right) if not isinstance(side, Tensor)), None)
    if isinstance(op, ast.Mult | ast.Div) and scalar is not None:
        factor = number(scalar)
        kept = isinstance(scalar, Guess) if factor is None and not isinstance(scalar, Plain) else (factor or 1) > 0
        return frozenset({"grows"} if kept else ())
    return frozenset({"grows"})


def _meaning(node: ast.BinOp, result: Tensor, left: Value, right: Value) -> Tensor:
    """What the sum, product or quotient still is: a loss with its sign, logits that were scaled."""
    op = node.op
    tensors = [side for side in (left, right) if isinstance(side, Tensor)]
    first = left if isinstance(left, Tensor) else tensors[0]
    losses = [side for side in tensors if side.loss is not None]
    if losses:
        chosen = losses[0]
        sign = chosen.sign
        if isinstance(op, ast.Sub) and chosen is right:
            # `1 - loss` of a similarity is a loss; `x - loss` with x a loss as well is a difference of two.
            sign = 0 if len(losses) > 1 or not isinstance(left, Plain) else -sign
        elif isinstance(op, ast.Sub) and len(tensors) > 1:
            sign = chosen.sign
        elif isinstance(op, ast.Mult | ast.Div):
            factor = number(right if chosen is left else left)
            sign = -sign if factor is not None and factor < 0 else sign
            if len(tensors) > 1 and not all(side.loss for side in tensors):
                sign = 0 if chosen.sign < 0 else chosen.sign
        elif isinstance(op, ast.Add) and len(losses) == 2 and losses[0].sign != losses[1].sign:
            sign = 0
        divides = isinstance(op, ast.Div) and first is left
        scales = isinstance(op, ast.Mult) and (number(right) is None or abs(number(right) or 1) < 1)
        divided = any(part.divided for part in losses) or divides or scales
        return result.but(loss=chosen.loss, sign=sign, divided=divided)
    if len(tensors) == 1 and isinstance(op, ast.Mult | ast.Div):
        scalar = right if isinstance(left, Tensor) else left
        # A temperature, or a number: logits stay logits.
        if tensors[0].act == "linear" and isinstance(scalar, Plain | Guess):
            return result.but(act="linear", act_at=tensors[0].act_at)
    if isinstance(op, ast.Add) and all(side.act == "linear" for side in tensors):
        return result.but(act="linear", act_at=tensors[0].act_at)
    if isinstance(op, ast.MatMult) and any("parameter" in side.marks for side in tensors):
        return result.but(act="linear")
    return result


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
        return (marks - {"logprob"}) | {"nll"}
    return marks - {"squared", "positive", "grows"}


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
        m.journal.put(left, "items", [*left.items, *more][:60])
        return left
    if isinstance(left, Plain) and isinstance(right, Plain) and m.turns:
        made = _plain(node.op, left, right)
        return Plain(made.value, "varies", left.name) if isinstance(made, Plain) else made
    held = ast.BinOp(left=node.target, op=node.op, right=node.value)
    ast.copy_location(held, node)
    if isinstance(left, Plain) and left.value == 0 and isinstance(right, Tensor):
        return right.but(marks=right.marks & {"logprob", "grows"}) if right.loss is None else right
    return binary(m, held, left, right) if left is not UNKNOWN or isinstance(right, Tensor) else UNKNOWN


def empty_graph(value: Tensor) -> Tensor:
    """The same numbers without their history."""
    return value.but(graph=NOTHING, deps=NOTHING, sure=True)
