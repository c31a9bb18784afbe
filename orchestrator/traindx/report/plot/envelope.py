"""Long curves reduced to what a screen can show, spikes kept: the lowest and highest value per column of pixels."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from traindx.report.plot.chart import Line, Numbers

# More stretches than this are drawn as one band: nobody tells them apart.
MOST_STRETCHES = 40
# From here on single points crowd: all values are drawn pale, and the running median over them.
CROWDED = 300
TREND_COLUMNS = 160


@dataclass(frozen=True, eq=False)
class Stretch:
    """A piece of a curve without a gap, ready to be drawn: every value, and the usual level where values crowd."""

    x: Numbers
    y: Numbers
    trend_x: Numbers
    trend_y: Numbers

    @property
    def crowded(self) -> bool:
        """Whether there is a level beside the values."""
        return len(self.trend_x) > 0


def stretches(line: Line, low: float, high: float, columns: int) -> Iterator[Stretch]:
    """The pieces of a curve between `low` and `high`, none with more than four points per column."""
    crowded = int(np.count_nonzero(np.isfinite(line.y))) > CROWDED
    for x, y in _pieces(line):
        if len(x):
            yield _reduced(x, y, low, high, columns, crowded)


def _pieces(line: Line) -> Iterator[tuple[Numbers, Numbers]]:
    x, y = line.x, line.y
    if len(line.breaks) > MOST_STRETCHES:
        order = np.argsort(x, kind="stable")
        yield from _finite(x[order], y[order])
        return
    edges = [0, *sorted({at for at in line.breaks if 0 < at < len(x)}), len(x)]
    for first, last in pairwise(edges):
        part = x[first:last]
        if len(part) > 1 and bool(np.any(np.diff(part) < 0)):
            order = np.argsort(part, kind="stable")
            yield from _finite(part[order], y[first:last][order])
        else:
            yield from _finite(part, y[first:last])


def _finite(x: Numbers, y: Numbers) -> Iterator[tuple[Numbers, Numbers]]:
    """The stretches between values that are not finite; a few gaps in a long curve are left as they are."""
    sound = np.isfinite(y) & np.isfinite(x)
    if sound.all():
        yield x, y
        return
    turns = np.flatnonzero(np.diff(sound.astype(np.int8)))
    if len(turns) > MOST_STRETCHES:
        yield x[sound], y[sound]
        return
    edges = [0, *(turns + 1).tolist(), len(x)]
    for first, last in pairwise(edges):
        if sound[first]:
            yield x[first:last], y[first:last]


def _reduced(x: Numbers, y: Numbers, low: float, high: float, columns: int, crowded: bool) -> Stretch:
    none = np.array([])
    if not crowded or len(x) < 8:
        return Stretch(x, y, none, none)
    share = float(x[-1] - x[0]) / (high - low)
    starts = _columns(x, float(x[0]), float(x[-1]), max(2, round(TREND_COLUMNS * share)))
    edges = np.append(starts, len(x))
    pairs = list(pairwise(edges))
    trend_y = np.array([np.median(y[first:last]) for first, last in pairs])
    trend_x = np.array([(x[first] + x[last - 1]) / 2 for first, last in pairs])
    # The level of a stretch reaches its ends, not the middle of its first and last column.
    trend_x[0], trend_x[-1] = x[0], x[-1]
    if len(x) <= 4 * columns:
        return Stretch(x, y, trend_x, trend_y)
    starts = _columns(x, low, high, columns)
    ends = np.append(starts[1:], len(x)) - 1
    lowest, highest = np.minimum.reduceat(y, starts), np.maximum.reduceat(y, starts)
    band = np.stack([y[starts], lowest, highest, y[ends]], axis=1).ravel()
    return Stretch(np.repeat(x[starts], 4), band, trend_x, trend_y)


def _columns(x: Numbers, low: float, high: float, columns: int) -> npt.NDArray[np.intp]:
    """The first point of every column that holds one."""
    edges = np.linspace(low, high, columns + 1)[:-1]
    return np.unique(np.append(0, np.searchsorted(x, edges, side="left")).clip(0, len(x) - 1))
