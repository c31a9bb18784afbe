"""Where two curves of the same metric part: the first point from which on they differ by more than their noise."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from traindx.detectors.citing import nearest_index
from traindx.detectors.curves.shape import Numbers
from traindx.readers.model import Series

WINDOWS = 200
FEWEST = 4
# Two seeds of one healthy run differ by two or three noise levels at times; six, and for good, is another run.
APART = 6.0
# Next to the whole movement of the curves, less than this is the same curve.
SMALL = 0.02
LASTING = 0.8


@dataclass(frozen=True)
class Parting:
    """The first point of each curve that lies apart from the other, and how many points before it are equal."""

    one: int
    other: int
    same: int
    """leading points with equal values: runs of one seed and one code are equal to the digit until they differ"""
    times: float
    """how many noise levels they are apart afterwards"""


def parting(one: Series, other: Series) -> Parting | None:
    """Where two series part for good; None where they never do, or cannot be laid over each other."""
    if one.axis != other.axis or min(len(one), len(other)) < FEWEST:
        return None
    low, high = max(one.at.min(), other.at.min()), min(one.at.max(), other.at.max())
    if not high > low:
        return None
    inside = min(_inside(one, low, high), _inside(other, low, high))
    if inside < FEWEST:
        return None
    # Several points a window where there are enough: their noise averages out.
    count = min(WINDOWS, max(min(inside, 20), inside // 4))
    edges = np.linspace(low, high, count + 1)
    a, b = _levels(one, edges), _levels(other, edges)
    noise = float(np.hypot(_scatter(a), _scatter(b)))
    span = max(_span(a), _span(b))
    with np.errstate(invalid="ignore"):
        gap = np.abs(a - b)
    far = max(APART * noise, SMALL * span)
    apart = (gap > far) | (np.isfinite(a) != np.isfinite(b))
    first = _for_good(apart)
    if first is None:
        # Curves that scatter widely lie apart on average long before any one point does.
        first = _on_average(a - b, noise, SMALL * span)
        far = SMALL * span
    if first is None:
        return None
    same = _same(one, other)
    index = _first_apart(one, other, float(edges[first]), far / 2, same)
    later = gap[first:][np.isfinite(gap[first:])]
    times = float(np.median(later)) / max(noise, 1e-3 * span, 1e-300) if len(later) else float("inf")
    return Parting(nearest_index(one, float(other.at[index])), index, same, times)


def _for_good(apart: npt.NDArray[np.bool_]) -> int | None:
    """The first window that is apart, with nearly all of the later ones; two schedules may meet again at zero."""
    count = len(apart)
    share = np.cumsum(apart[::-1])[::-1] / np.arange(count, 0, -1)
    fitting = np.flatnonzero(apart & (share >= LASTING))
    first = int(fitting[0]) if len(fitting) else count
    return first if first <= count - max(2, count // 50) and apart[first : first + 2].all() else None


def _on_average(gap: Numbers, noise: float, least: float) -> int | None:
    """The first window from which on the mean gap is far above what its noise allows, nearly always to one side."""
    if not np.isfinite(gap).all():
        return None
    count = np.arange(len(gap), 0, -1)
    mean = np.cumsum(gap[::-1])[::-1] / count
    sided = np.cumsum((np.sign(gap) * np.sign(mean))[::-1] > 0)[::-1] / count
    clear = (np.abs(mean) > np.maximum(APART * noise / np.sqrt(count), least)) & (sided >= LASTING)
    fitting = np.flatnonzero(clear & (count >= max(FEWEST, len(gap) // 10)))
    return int(fitting[0]) if len(fitting) else None


def _first_apart(one: Series, other: Series, since: float, far: float, same: int) -> int:
    """The first point of the other series, within the window where they part, that is clearly not on the one."""
    order = np.argsort(one.at, kind="stable")
    expected = np.interp(other.at, one.at[order], one.values[order])
    with np.errstate(invalid="ignore"):
        off = (np.abs(other.values - expected) > far) | (np.isfinite(other.values) != np.isfinite(expected))
    off[:same] = False
    found = np.flatnonzero(off & (other.at >= since))
    return int(found[0]) if len(found) else nearest_index(other, since)


def _inside(row: Series, low: float, high: float) -> int:
    return int(np.count_nonzero((row.at >= low) & (row.at <= high)))


def _levels(row: Series, edges: Numbers) -> Numbers:
    """The median in each window, NaN where most of it is not finite; a window without a point takes its neighbours."""
    order = np.argsort(row.at, kind="stable")
    at, values = row.at[order], row.values[order]
    places = np.searchsorted(at, edges, side="left")
    places[-1] = np.searchsorted(at, edges[-1], side="right")
    found = []
    for first, last in pairwise(places.tolist()):
        window = values[first:last] if last > first else values[max(0, first - 1) : first + 1]
        finite = window[np.isfinite(window)]
        found.append(float(np.median(finite)) if 2 * len(finite) >= max(1, len(window)) else np.nan)
    return np.array(found)


def _scatter(level: Numbers) -> float:
    finite = level[np.isfinite(level)]
    if len(finite) < 3:
        return 0.0
    bends = finite[1:-1] - (finite[:-2] + finite[2:]) / 2
    return float(1.4826 * np.median(np.abs(bends)) / np.sqrt(1.5))


def _span(level: Numbers) -> float:
    finite = level[np.isfinite(level)]
    return float(np.percentile(finite, 95) - np.percentile(finite, 5)) if len(finite) else 0.0


def _same(one: Series, other: Series) -> int:
    shared = min(len(one), len(other))
    equal = (one.at[:shared] == other.at[:shared]) & (one.values[:shared] == other.values[:shared])
    differing = np.flatnonzero(~equal)
    return int(differing[0]) if len(differing) else shared
