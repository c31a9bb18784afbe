"""What arithmetic means: a difference, a square, a weighted log-probability, a divergence, a loss with its sign."""

from __future__ import annotations

import ast
import re

from traindx.program.values import Guess, Plain, Tensor, Value, number

_ENTROPY = frozenset({"entropy", "entropy-added"})
_GOOD = re.compile(r"(?:^|[._\[])(?:adv\w*|gae|returns?|rewards?|targets?)(?:$|[\]_])", re.IGNORECASE)
"""names of what tells how good an action was"""


def marks_after(op: ast.operator, left: Value, right: Value) -> frozenset[str]:
    """The marks of both sides that the result keeps, and those that it gets."""
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
        "three-axes",
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
    elif isinstance(op, ast.Sub) and isinstance(left, Tensor) and isinstance(right, Tensor):
        # Of an `elbo = likelihood - divergence` nobody knows what it is by the squares inside one of them.
        kept -= {"squared", "positive", "logprob"} | ({"squared-difference"} if right.graph else set())
        kept |= {"difference"}
    return kept


def entropy_after(op: ast.operator, left: Value, right: Value) -> frozenset[str]:
    """`entropy` for an entropy times a positive number, `entropy-added` for a sum that it makes larger."""
    tensors = [side for side in (left, right) if isinstance(side, Tensor)]
    held = frozenset().union(*(side.marks for side in tensors)) & _ENTROPY
    if not held:
        return held
    if len(tensors) == 1:
        return held if _keeps_sign(op, left, right) else frozenset()
    if isinstance(op, ast.Add):
        return frozenset({"entropy-added"})
    return left.marks & {"entropy-added"} if isinstance(op, ast.Sub) and isinstance(left, Tensor) else frozenset()


def _keeps_sign(op: ast.operator, left: Value, right: Value) -> bool:
    """Whether the result grows with the tensor on one side: times a positive number, or one that is not known."""
    if isinstance(op, ast.Mult | ast.Div):
        other = right if isinstance(left, Tensor) else left
        factor = number(other)
        return factor > 0 if factor is not None else isinstance(other, Guess | Plain)
    return isinstance(op, ast.Add) or (isinstance(op, ast.Sub) and isinstance(left, Tensor))


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


def policy_after(op: ast.operator, left: Value, right: Value) -> frozenset[str]:
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


def still_means(node: ast.BinOp, result: Tensor, left: Value, right: Value) -> Tensor:
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
