"""From values to pixels, and the ticks between them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from traindx.report.plot.chart import Numbers

Kind = Literal["linear", "log", "symlog"]
# Past this ratio the small values of a linear axis lie on top of each other.
WIDE = 50.0
MANY = 20_000
# Room for a margin on either side of the axis within the range of a float.
LARGEST = 1e280
_SUFFIXES = ((1e12, "T"), (1e9, "B"), (1e6, "M"))


@dataclass(frozen=True)
class Scale:
    """An axis from `low` to `high`, drawn from pixel `begin` to pixel `end`."""

    kind: Kind
    low: float
    high: float
    begin: float
    end: float
    unit: float = 1.0
    """`symlog`: below this size the axis is linear"""

    def pixels(self, values: Numbers) -> Numbers:
        """Where values lie; what is not finite stays so."""
        low, high = self._bent(np.array([self.low, self.high]))
        share = np.clip((self._bent(values) - low) / (high - low), 0.0, 1.0)
        placed: Numbers = self.begin + share * (self.end - self.begin)
        return placed

    def pixel(self, value: float) -> float:
        """Where one value lies."""
        return float(self.pixels(np.array([value]))[0])

    def ticks(self, most: int) -> list[tuple[float, str]]:
        """Round values within the axis, and how they are written."""
        if self.kind == "linear":
            return _linear_ticks(self.low, self.high, most)
        if self.kind == "log":
            return _log_ticks(self.low, self.high, most)
        sizes = [value for value, _ in _log_ticks(self.unit, max(abs(self.low), abs(self.high)), max(2, most // 2))]
        values = [-size for size in reversed(sizes)] + [0.0] + sizes
        return [(value, brief(value)) for value in values if self.low <= value <= self.high]

    def _bent(self, values: Numbers) -> Numbers:
        with np.errstate(all="ignore"):
            if self.kind == "log":
                return np.log10(np.where(values > 0, values, np.nan))
            if self.kind == "symlog":
                bent: Numbers = np.arcsinh(values / self.unit)
                return bent
        return values


def fitted(rows: Sequence[Numbers], begin: float, end: float) -> Scale:
    """The scale that shows every finite value: logarithmic where they span more than a linear axis can show."""
    parts = [row[np.isfinite(row)] for row in rows]
    values = np.concatenate(parts) if parts else np.array([])
    if not len(values):
        return Scale("linear", 0.0, 1.0, begin, end)
    low, high = max(float(values.min()), -LARGEST), min(float(values.max()), LARGEST)
    if low > 0 and high > WIDE * low:
        # A few samples next to zero do not get half of the picture: they are drawn at its lower edge.
        low = max(low, float(np.quantile(values[:: len(values) // MANY], 0.005)) / 10) if len(values) >= MANY else low
        first, last = math.log10(max(low, 1 / LARGEST)), math.log10(high)
        room = 0.03 * (last - first)
        return Scale("log", 10 ** (first - room), 10 ** (last + room), begin, end)
    sizes = np.abs(values[values != 0])
    usual = float(np.median(sizes)) if len(sizes) else 0.0
    if low <= 0 and usual > 0 and max(abs(low), abs(high)) > WIDE * usual:
        grown = np.arcsinh(np.array([low, high]) / usual)
        room = 0.03 * float(grown[1] - grown[0])
        ends = usual * np.sinh(grown + np.array([-room, room]))
        return Scale("symlog", float(ends[0]), float(ends[1]), begin, end, usual)
    room = 0.04 * (high - low) or max(0.05 * abs(high), 1e-12)
    return Scale("linear", low - room, high + room, begin, end)


def brief(value: float) -> str:
    """A number as short as it can be told: `0.25`, `1e-5`, `20,000`, `2.5M`."""
    value += 0.0  # turns -0.0 into 0.0
    size = abs(value)
    for unit, suffix in _SUFFIXES:
        if unit <= size < 1e15:
            return f"{value / unit:.4g}{suffix}"
    if 1000 <= size < 1e6 and abs(value - round(value)) < 1e-6 * size:
        return f"{value:,.0f}"
    text = f"{value:.4g}"
    if "e" not in text:
        return text
    digits, _, power = text.partition("e")
    return f"{digits}e{int(power)}"


def _linear_ticks(low: float, high: float, most: int) -> list[tuple[float, str]]:
    span = high - low
    if not (span > 0 and math.isfinite(span)):
        return [(low, brief(low))]
    rough = span / max(most, 1)
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(factor * power for factor in (1, 2, 5, 10) if factor * power >= rough * (1 - 1e-9))
    first = math.ceil(low / step - 1e-9)
    values = [index * step for index in range(first, math.floor(high / step + 1e-9) + 1)]
    if len(values) < 2 and most < 12:
        return _linear_ticks(low, high, most + 2)
    decimals = max(0, -math.floor(math.log10(step) + 1e-9))
    largest = max(abs(low), abs(high))
    plain = step >= 1e-4 and largest < 1e6 and decimals <= 5 and len(values) > 1
    return [(value, f"{value:,.{decimals}f}" if plain else brief(round(value / step) * step)) for value in values]


def _log_ticks(low: float, high: float, most: int) -> list[tuple[float, str]]:
    first, last = math.ceil(math.log10(low) - 1e-9), math.floor(math.log10(high) + 1e-9)
    decades = list(range(first, last + 1))
    if len(decades) * 3 <= most:
        factors = [10.0**power * factor for power in range(first - 1, last + 1) for factor in (1, 2, 5)]
        return [(value, brief(value)) for value in factors if low <= value <= high]
    stride = max(1, math.ceil(len(decades) / max(most, 1)))
    return [(10.0**power, brief(10.0**power)) for power in decades[::stride]]
