"""What each operation makes of the range of a tensor."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from traindx.program import ranges
from traindx.program.guessing import keeps_from_the_edge
from traindx.program.ranges import ANY, INF, Range
from traindx.program.values import Guess, Items, Library, Method, Plain, Tensor, Value, number

if TYPE_CHECKING:
    from traindx.program.calling import Call

Given = Sequence[Value]
_ACTS = {
    "softmax": "softmax", "log_softmax": "log_softmax", "sigmoid": "sigmoid", "logsigmoid": "log_sigmoid",
    "log_sigmoid": "log_sigmoid", "tanh": "tanh", "relu": "relu", "relu_": "relu", "relu6": "relu", "gelu": "gelu",
    "elu": "elu", "silu": "silu", "softplus": "softplus", "sigmoid_": "sigmoid", "tanh_": "tanh",
    "hardsigmoid": "relu", "gumbel_softmax": "softmax", "hardtanh": "tanh",
}  # fmt: skip


def range_of(value: Value | None) -> Range:
    """Between which numbers a value lies."""
    if isinstance(value, Tensor):
        return value.range or (ranges.BITS if value.dtype == "bool" else ANY)
    told = number(value)
    if told is not None:
        return ranges.exactly(told)
    if isinstance(value, Guess) and value.range is not None:
        return value.range
    name = value.name if isinstance(value, Guess | Plain | Method | Library) else ""
    return ranges.exactly(ranges.KEPT) if keeps_from_the_edge(name) else ANY


def arithmetic(op: ast.operator, left: Value, right: Value, a: Range, b: Range) -> Range:
    """The range of `left op right`."""
    if isinstance(op, ast.Add):
        return ranges.plus(a, b)
    if isinstance(op, ast.Sub):
        own = b.highest_of is not None and b.highest_of is left
        return ranges.below_its_highest(a) if own else ranges.minus(a, b)
    if isinstance(op, ast.Mult):
        return ranges.square(a) if left is right and isinstance(left, Tensor | Guess) else ranges.times(a, b)
    if isinstance(op, ast.Div):
        return ranges.over(a, b)
    return ranges.power(a, number(right)) if isinstance(op, ast.Pow) else ANY


def _bound(given: Given, call: Call, at: int, *names: str) -> Value | None:
    named = next((call.keywords[name] for name in names if name in call.keywords), None)
    return named if named is not None else given[at] if len(given) > at else None


def _clamped(given: Range, args: Given, call: Call) -> Range:
    least, most = _bound(args, call, 0, "min", "a_min", "clip_value_min"), _bound(args, call, 1, "max", "a_max")
    low, high = -INF, INF
    if least is not None and not (isinstance(least, Plain) and least.value is None):
        known = range_of(least)
        low = known.low if known.known else ranges.KEPT
    if most is not None and not (isinstance(most, Plain) and most.value is None):
        high = range_of(most).high
    return ranges.within(given, low, high)


def _clamped_above(given: Range, args: Given, call: Call) -> Range:
    return ranges.within(given, -INF, range_of(_bound(args, call, 0, "max")).high)


def _greater(given: Range, args: Given, call: Call) -> Range:
    other = range_of(_bound(args, call, 0, "other", "x2", "y"))
    return Range(max(given.low, other.low), max(given.high, other.high), max(given.peak, other.peak))


def _smaller(given: Range, args: Given, call: Call) -> Range:
    other = range_of(_bound(args, call, 0, "other", "x2", "y"))
    return Range(min(given.low, other.low), min(given.high, other.high))


def _is_value(args: Given) -> bool:
    """Whether `max` is given another tensor to compare with, not an axis."""
    return bool(args) and isinstance(args[0], Tensor)


def _highest(given: Range, args: Given, call: Call) -> Range:
    built_in = isinstance(call.node.func, ast.Name)
    if _is_value(args) or (built_in and args):
        return _greater(given, args, call)
    return Range(max(given.low, given.peak), given.high, -INF, "statistic")


def _lowest(given: Range, args: Given, call: Call) -> Range:
    if _is_value(args) or (isinstance(call.node.func, ast.Name) and args):
        return _smaller(given, args, call)
    return Range(given.low, given.high, -INF, "statistic")


def _filled(given: Range, args: Given, call: Call) -> Range:
    """Some elements are replaced: those at the edge, where the replacement is off it."""
    value = range_of(_bound(args, call, 1, "value"))
    if value.low > 0:
        return Range(max(given.low, ranges.KEPT), max(given.high, value.high))
    return Range(min(given.low, value.low), max(given.high, value.high), -INF)


def _chosen(given: Range, args: Given, call: Call) -> Range:
    """`where(x > 0, x, 1)`: the branches; where one is not known, the condition keeps it from the edge."""
    if len(call.args) == 2:  # `x.where(x > 0, 1)`
        sides = [given, range_of(call.args[1])]
    elif len(args) > 1:
        sides = [range_of(part) for part in args[:2]]
    else:
        return ANY
    both = ranges.joined(sides[0], sides[1])
    off = any(side.low > ranges.NORMAL for side in sides)
    return Range(ranges.KEPT, both.high) if off and both.low <= ranges.NORMAL else both


def _raised(given: Range, args: Given, call: Call) -> Range:
    return ranges.power(given, number(_bound(args, call, 0, "exponent")))


def _with(op: ast.operator) -> Callable[[Range, Given, Call], Range]:
    def step(given: Range, args: Given, call: Call) -> Range:
        other = _bound(args, call, 0, "other")
        return arithmetic(op, Plain(None), other or Plain(None), given, range_of(other))

    return step


def _of(act: str) -> Callable[[Range, Given, Call], Range]:
    return lambda given, args, call: ranges.after_act(act, given)  # noqa: ARG005


def _plainly(step: Callable[[Range], Range]) -> Callable[[Range, Given, Call], Range]:
    return lambda given, args, call: step(given)  # noqa: ARG005


def _prod(given: Range) -> Range:
    low = given.low if given.low >= 1 else ranges.UNDERFLOWS if given.low > 0 else 0.0 if given.low == 0 else -INF
    return Range(low, INF if given.high > 1 else given.high, -INF, "statistic")


def _mean(given: Range) -> Range:
    return Range(given.low, given.high, given.low)


EXTREMES = frozenset(["max", "amax"])
AFTER: dict[str, Callable[[Range, Given, Call], Range]] = {
    **{name: _of(act) for name, act in _ACTS.items()},
    **dict.fromkeys(("log", "log2", "log10"), _plainly(ranges.logarithm)),
    "log1p": _plainly(lambda given: Range(0.0, INF) if given.low >= 0 else ANY),
    "exp": _plainly(ranges.exponential),
    "exp_": _plainly(ranges.exponential),
    "sqrt": _plainly(ranges.root),
    "sqrt_": _plainly(ranges.root),
    "rsqrt": _plainly(lambda given: Range(ranges.UNDERFLOWS, INF) if given.low > 0 else ranges.NOT_NEGATIVE),
    "reciprocal": _plainly(lambda given: ranges.over(ranges.exactly(1.0), given)),
    **dict.fromkeys(("abs", "abs_", "absolute", "fabs"), _plainly(ranges.magnitude)),
    "square": _plainly(ranges.square),
    **dict.fromkeys(("sum", "nansum", "cumsum", "count_nonzero"), _plainly(ranges.total)),
    **dict.fromkeys(("mean", "nanmean", "median"), _plainly(_mean)),
    **dict.fromkeys(("std", "var", "nanstd"), _plainly(ranges.spread)),
    **dict.fromkeys(("norm", "vector_norm"), _plainly(lambda given: ranges.spread(given, norm=True))),
    "prod": _plainly(_prod),
    **dict.fromkeys(("max", "amax"), _highest),
    **dict.fromkeys(("min", "amin"), _lowest),
    **dict.fromkeys(("maximum", "fmax"), _greater),
    **dict.fromkeys(("minimum", "fmin"), _smaller),
    **dict.fromkeys(("clamp", "clamp_", "clip", "clip_", "clamp_min", "clamp_min_", "clip_by_value"), _clamped),
    **dict.fromkeys(("clamp_max", "clamp_max_"), _clamped_above),
    **dict.fromkeys(("masked_fill", "masked_fill_"), _filled),
    "where": _chosen,
    **dict.fromkeys(("pow", "pow_", "power"), _raised),
    **dict.fromkeys(("add", "add_"), _with(ast.Add())),
    **dict.fromkeys(("sub", "sub_", "subtract"), _with(ast.Sub())),
    **dict.fromkeys(("mul", "mul_", "multiply"), _with(ast.Mult())),
    **dict.fromkeys(("div", "div_", "divide", "true_divide"), _with(ast.Div())),
    **dict.fromkeys(("neg", "negative"), _plainly(ranges.negative)),
    "expm1": _plainly(lambda given: ranges.minus(ranges.exponential(given), ranges.exactly(1.0))),
    **dict.fromkeys(
        ("logsumexp", "erf", "floor", "ceil", "round", "matmul", "mm", "bmm", "lerp_"), _plainly(lambda _: ANY)
    ),
    **dict.fromkeys(("cosine_similarity", "sin", "cos", "sign", "normalize"), _plainly(lambda _: Range(-1.0, 1.0))),
    **dict.fromkeys(("mse_loss", "l1_loss", "cdist", "pairwise_distance"), _plainly(lambda _: ranges.NOT_NEGATIVE)),
    **dict.fromkeys(
        (
            "detach",
            "detach_",
            "numpy",
            "interpolate",
            "avg_pool1d",
            "avg_pool2d",
            "max_pool1d",
            "max_pool2d",
            "upsample",
        ),
        _plainly(lambda given: given),
    ),
}


def _filling(call: Call) -> Range:
    return range_of(call.args[1] if len(call.args) > 1 else call.keywords.get("fill_value"))


def _held(call: Call) -> Range:
    given = call.args[0] if call.args else None
    parts = given.items if isinstance(given, Items) and given.items and not given.more else [given]
    found = range_of(parts[0])
    for part in parts[1:]:
        found = ranges.joined(found, range_of(part))
    return found


MADE: dict[str, Callable[[Call], Range]] = {
    **dict.fromkeys(("zeros", "zeros_like", "new_zeros"), lambda _: ranges.exactly(0.0)),
    **dict.fromkeys(("ones", "ones_like", "new_ones"), lambda _: ranges.exactly(1.0)),
    **dict.fromkeys(("full", "full_like", "new_full"), _filling),
    **dict.fromkeys(("rand", "rand_like"), lambda _: ranges.BITS),
    **dict.fromkeys(("arange", "linspace", "logspace"), lambda _: ranges.POSITIVE),
    **dict.fromkeys(("tensor", "as_tensor", "FloatTensor"), _held),
    **dict.fromkeys(("eye", "one_hot", "bernoulli"), lambda _: ranges.BITS),
}
