"""The shape of a loss curve: where it was best, whether it broke, and from where on."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import numpy.typing as npt

Numbers = npt.NDArray[np.float64]

# A rise counts as lasting when it undoes a quarter of all that was learned and stands six noise levels above the
# best: healthy runs in the wild wander by up to a tenth of their improvement.
LASTING_SHARE = 0.25
LASTING_NOISE = 6.0
CLEARLY_LEARNED = 20
FEWEST_POINTS = 5
MOSTLY = 0.9
"""of the points from somewhere on: since there a curve is up"""
# Past this many points a curve is looked at in windows, so that the cost stays linear and the noise averages out.
MOST_WINDOWS = 400


@dataclass(frozen=True)
class Shape:
    """What can be said of a loss curve. Indices refer to the points of the original series."""

    points: int
    start: float
    best: float
    best_index: int
    end: float
    noise: float
    non_finite: int
    first_non_finite: int | None
    onset: int | None
    """first point of a lasting rise, None when there is none"""
    peak_index: int | None
    """top of the highest excursion that came back down, None when there is none"""
    slope: float
    """share of the improvement that the last quarter of the run contributed"""
    settled: float = 1.0
    """share of the run after which all but a twentieth of the improvement was made"""

    @property
    def improvement(self) -> float:
        """How much was learned: from the start to the best."""
        return self.start - self.best

    @property
    def rise(self) -> float:
        """How far the end stands above the best."""
        return self.end - self.best

    @property
    def broke(self) -> int | None:
        """Where it went wrong: the onset of a lasting rise or the first NaN, whichever came first."""
        return min((at for at in (self.onset, self.first_non_finite) if at is not None), default=None)

    @property
    def enough(self) -> bool:
        """Whether there are points enough to judge at all: four epochs say whether a loss fell."""
        return self.points - self.non_finite >= FEWEST_POINTS - 1


def shape_of(values: Numbers) -> Shape:
    """Measure a loss curve (lower is better)."""
    finite = np.isfinite(values)
    bad = np.flatnonzero(~finite)
    index = np.flatnonzero(finite)
    if len(index) == 0:
        return Shape(len(values), np.nan, np.nan, 0, np.nan, np.nan, len(bad), _first(bad), None, None, 0.0)
    edges = np.linspace(0, len(index), min(len(index), MOST_WINDOWS) + 1).astype(int)
    level = np.array([np.median(values[index[a:b]]) for a, b in pairwise(edges)])
    noise = _noise(level)
    tail = max(1, min(len(level) // 4, max(2, len(level) // 10)))
    start = float(np.median(level[: max(1, len(level) // 50)]))
    end = float(np.median(level[-tail:]))
    best_window = int(np.argmin(_smooth(level)))
    best = float(_smooth(level)[best_window])
    onset_window = _onset(level, best_window, best, start, end, noise)
    onset = None if onset_window is None else _first_above(values, index, edges, onset_window, best, end)
    quarter = level[: max(1, 3 * len(level) // 4)]
    gained = start - best
    slope = float((np.min(_smooth(quarter)) - best) / gained) if gained > 0 else 0.0
    return Shape(
        points=len(values),
        start=start,
        best=best,
        best_index=_lowest(values, index, edges, best_window),
        end=end,
        noise=noise,
        non_finite=len(bad),
        first_non_finite=_first(bad),
        onset=onset,
        peak_index=None if onset is not None else _recovered_peak(values, index, level, edges, noise),
        slope=slope,
        settled=_settled(level, start, best, noise),
    )


def _lowest(values: Numbers, index: npt.NDArray[np.intp], edges: npt.NDArray[np.int_], window: int) -> int:
    """The lowest point around the best window: a smoothed curve is lowest a little before or after it."""
    near = index[edges[max(0, window - 1)] : edges[min(len(edges) - 1, window + 2)]]
    return int(near[np.argmin(values[near])])


def _settled(level: Numbers, start: float, best: float, noise: float) -> float:
    near = np.flatnonzero(_smooth(level) <= best + max(0.05 * (start - best), noise))
    return float(near[0]) / len(level) if len(near) and start > best else 1.0


def _first(positions: npt.NDArray[np.intp]) -> int | None:
    return int(positions[0]) if len(positions) else None


def _noise(level: Numbers) -> float:
    """Point-to-point scatter: the median absolute step, which a trend or a jump hardly moves."""
    if len(level) < 3:
        return 0.0
    bends = level[1:-1] - (level[:-2] + level[2:]) / 2
    return float(1.4826 * np.median(np.abs(bends)) / np.sqrt(1.5))


def _smooth(level: Numbers) -> Numbers:
    """Running median of three: one lucky or unlucky point is not a level."""
    if len(level) < FEWEST_POINTS:
        return level
    padded = np.concatenate([level[:1], level, level[-1:]])
    smoothed: Numbers = np.median(np.stack([padded[:-2], padded[1:-1], padded[2:]]), axis=0)
    return smoothed


def _onset(level: Numbers, best_window: int, best: float, start: float, end: float, noise: float) -> int | None:
    if len(level) < FEWEST_POINTS or best_window >= len(level) - 1:
        return None
    rise = end - best
    learned = max(start - best, 0.0)
    # A rise must also be a fiftieth of the level, unless all of a clear fall is undone: that is its own measure.
    undone = learned >= CLEARLY_LEARNED * noise and rise >= learned
    level_counts = 0.0 if undone else 0.02 * abs(best)
    floor = max(LASTING_SHARE * learned, LASTING_NOISE * noise, level_counts)
    if rise <= floor:
        return None
    above = level > best + max(3 * noise, 0.2 * rise)
    lasting = np.flatnonzero(~above[best_window:])
    first = best_window + int(lasting[-1]) + 1
    # A curve whose very last point is back down has not risen lastingly.
    return first if first < len(level) else None


def _first_above(
    values: Numbers,
    index: npt.NDArray[np.intp],
    edges: npt.NDArray[np.int_],
    window: int,
    best: float,
    end: float,
) -> int:
    bar = best + 0.2 * (end - best)
    inside = index[edges[window] : edges[window + 1]]
    high = np.flatnonzero(values[inside] > bar)
    if not len(high):
        return int(inside[0])
    # A rise near the end of the window before it has not moved that one's median.
    before = index[edges[max(0, window - 1)] : edges[window]] if high[0] <= 1 else index[:0]
    above = values[before] > bar
    share = np.cumsum(above[::-1])[::-1] / np.arange(len(above), 0, -1)
    since = np.flatnonzero(above & (share >= MOSTLY))
    return int(before[since[0]] if len(since) else inside[high[0]])


def _recovered_peak(
    values: Numbers, index: npt.NDArray[np.intp], level: Numbers, edges: npt.NDArray[np.int_], noise: float
) -> int | None:
    """The highest excursion above what had been reached, if it stands out and the curve came back from it."""
    if len(level) < FEWEST_POINTS:
        return None
    reached = np.minimum.accumulate(_smooth(level))
    excess = level - np.concatenate([reached[:1], reached[:-1]])
    top = int(np.argmax(excess))
    learned = max(float(level[0] - np.min(level)), 0.0)
    if top == 0 or excess[top] <= max(LASTING_SHARE * learned, 2 * LASTING_NOISE * noise):
        return None
    inside = index[edges[top] : edges[top + 1]]
    return int(inside[np.argmax(values[inside])])
