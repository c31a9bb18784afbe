"""Between which numbers the values of a tensor lie, as far as the program shows it."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

INF = math.inf
UNDERFLOWS = 1e-40
"""the least value of what is positive in theory and zero in single precision: a softmax, an exponential"""
NORMAL = 1e-37
"""whatever may be smaller counts as zero"""
KEPT = 1e-12
"""the least value of what the program keeps away from zero by a number that is not known here"""
EVENLY = 1e-6
"""the largest of a row of shares is at least this, for up to a million of them"""


@dataclass(frozen=True, slots=True)
class Range:
    """The least and the largest value of a tensor's elements."""

    low: float = -INF
    high: float = INF
    peak: float = -INF
    """what the largest element is at least"""
    kind: str = ""
    """`statistic` for a sum, spread or norm that can be zero, `statistics` for one of each row or column; `free` for
    the unbounded output of a layer"""
    highest_of: object = field(default=None, compare=False)
    """the value whose largest element this is"""

    @property
    def exact(self) -> bool:
        """Whether it is one number."""
        return self.low == self.high

    @property
    def of_many(self) -> bool:
        """Whether it is a number that stands for many."""
        return self.kind in {"statistic", "statistics"}

    @property
    def known(self) -> bool:
        """Whether anything is known of it."""
        return self.low > -INF or self.high < INF


ANY = Range()
FREE = Range(kind="free")
BITS = Range(0.0, 1.0)
SHARES = Range(UNDERFLOWS, 1.0, EVENLY)
POSITIVE = Range(KEPT, INF)
NOT_NEGATIVE = Range(0.0, INF)
_ACTS = {
    "softmax": SHARES,
    "sigmoid": Range(UNDERFLOWS, 1.0),
    "log_softmax": Range(-INF, 0.0),
    "log_sigmoid": Range(-INF, 0.0),
    "tanh": Range(-1.0, 1.0),
    "gelu": Range(-0.2, INF),
    "elu": Range(-2.0, INF),
    "silu": Range(-0.4, INF),
    "softplus": POSITIVE,
}


def exactly(value: float) -> Range:
    """The range of a number."""
    return Range(value, value, value)


def after_act(act: str, given: Range) -> Range:
    """After an activation function."""
    if act == "relu":
        return Range(max(given.low, 0.0), max(given.high, 0.0), max(given.peak, 0.0))
    return _ACTS.get(act, ANY)


def joined(one: Range, other: Range) -> Range:
    """Either of two."""
    if one == other:
        return one
    kind = one.kind if one.kind == other.kind else ""
    return Range(min(one.low, other.low), max(one.high, other.high), min(one.peak, other.peak), kind)


def plus(one: Range, other: Range) -> Range:
    """The sum. A number that is added to something unknown is the writer's word that this is not negative."""
    for a, b in ((one, other), (other, one)):
        if a.low == -INF and b.exact and b.low > 0 and a.high > 0:
            return Range(b.low, a.high + b.low, b.low)
    kind = "free" if "free" in {one.kind, other.kind} and not (one.known or other.known) else ""
    kind = "free" if (one.kind == "free" and other.exact) or (other.kind == "free" and one.exact) else kind
    return Range(one.low + other.low, one.high + other.high, max(one.peak + other.low, other.peak + one.low), kind)


def minus(one: Range, other: Range) -> Range:
    """The difference."""
    return Range(_number(one.low - other.high, -INF), _number(one.high - other.low, INF))


def below_its_highest(other: Range) -> Range:
    """`x - x.max()`: nothing is above zero, and something is zero."""
    return Range(-INF, 0.0, 0.0) if other.low == -INF else Range(other.low - other.high, 0.0, 0.0)


def times(one: Range, other: Range) -> Range:
    """The product."""
    corners = [_product(a, b) for a in (one.low, one.high) for b in (other.low, other.high)]
    kind, peak = "", -INF
    for a, b in ((one, other), (other, one)):
        if b.exact and b.low > 0:
            # Half a logarithm of a variance, or less, is how densities are written.
            kind = a.kind if a.of_many or b.low > 0.5 else ""
            peak = a.peak * b.low
    return Range(min(corners), max(corners), peak, kind)


def square(given: Range) -> Range:
    """`x * x` and even powers."""
    high = _product(max(abs(given.low), abs(given.high)), max(abs(given.low), abs(given.high)))
    least = 0.0 if given.low <= 0 <= given.high else min(abs(given.low), abs(given.high))
    return Range(_product(least, least), high)


def over(one: Range, other: Range) -> Range:
    """The quotient."""
    if other.low > 0:
        upside = Range(1 / other.high if other.high < INF else 0.0, 1 / other.low)
        made = times(one, upside)
        low = UNDERFLOWS if one.low > 0 and made.low <= 0 else made.low
        kind = one.kind if other.exact and (one.of_many or other.low < 2) else ""
        return Range(low, made.high, -INF, kind)
    return NOT_NEGATIVE if one.low >= 0 and other.low >= 0 else ANY


def power(given: Range, exponent: float | None) -> Range:
    """A power with a known exponent."""
    if exponent is None:
        return NOT_NEGATIVE if given.low >= 0 else ANY
    if exponent > 0 and exponent % 2 == 0:
        return square(given)
    if exponent <= 0:
        return Range(UNDERFLOWS, INF) if given.low > 0 else ANY
    if given.low < 0 and exponent != int(exponent):
        return NOT_NEGATIVE
    return Range(_raised(given.low, exponent), _raised(given.high, exponent))


def exponential(given: Range) -> Range:
    """`exp(x)`: it comes down to zero where nothing keeps its argument up."""
    low = max(UNDERFLOWS, _exp(given.low))
    return Range(low, _exp(given.high), _exp(given.peak) if given.peak > -INF else -INF)


def logarithm(given: Range) -> Range:
    """`log(x)`."""
    low = math.log(given.low) if given.low > NORMAL else -INF
    return Range(low, math.log(given.high) if 0 < given.high < INF else INF)


def root(given: Range) -> Range:
    """`sqrt(x)`."""
    low = max(given.low, 0.0)
    return Range(math.sqrt(low) if low < INF else INF, math.sqrt(given.high) if 0 <= given.high < INF else INF)


def magnitude(given: Range) -> Range:
    """`abs(x)`."""
    sides = (abs(given.low), abs(given.high))
    return Range(0.0 if given.low <= 0 <= given.high else min(sides), max(sides), -INF, "statistic")


def total(given: Range) -> Range:
    """A sum of elements: at least the largest of them, where none is negative."""
    low = max(given.low, given.peak) if given.low >= 0 else -INF
    return Range(low, 0.0 if given.high <= 0 else INF, -INF, "statistic")


def spread(given: Range, norm: bool = False) -> Range:
    """A standard deviation, a variance; a norm, which is at least as large as any element."""
    return Range(max(0.0, given.low, given.peak) if norm else 0.0, INF, -INF, "statistic")


def negative(given: Range) -> Range:
    """`-x`."""
    return Range(-given.high, -given.low)


def within(given: Range, low: float, high: float) -> Range:
    """After a clamp."""
    return Range(min(max(given.low, low), high), max(min(given.high, high), low), -INF, given.kind)


def _number(value: float, otherwise: float) -> float:
    return otherwise if math.isnan(value) else value


def _product(a: float, b: float) -> float:
    return 0.0 if a == 0 or b == 0 else a * b


def _raised(value: float, exponent: float) -> float:
    try:
        return math.copysign(abs(value) ** exponent, value)
    except OverflowError:
        return math.copysign(INF, value)


def _exp(value: float) -> float:
    return math.exp(value) if value < 700 else INF
