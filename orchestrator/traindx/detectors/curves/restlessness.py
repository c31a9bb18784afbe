"""Curves that shoot up early, swing without a trend, or hardly move."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from traindx.contract import Fact, Signal
from traindx.detectors.citing import cite, where
from traindx.detectors.curves.loss import validation_of
from traindx.detectors.curves.objective import Objective, measured
from traindx.detectors.curves.shape import Numbers
from traindx.readers.model import Series

SIGNALS = {
    "loss-unstable-early": "the loss shoots up within the first tenth of the run before it settles",
    "loss-oscillates": "the loss swings widely without a trend",
    "loss-fell-slowly": "the loss falls steadily but has barely left its start",
}

FEWEST_HELD = 3
"""evaluations that show whether the weights swing with the batches"""
RECURRING = 3
"""points of the second half that make a height one of the batches, not of the start"""
STILL = 0.05
"""of the swing of the batches: what the loss on fixed data may move when steps hardly change the model"""


def detect(goal: Objective, series: Sequence[Series], rate: Series | None, chance: Signal | None) -> list[Signal]:
    """The unrest that is neither a break nor plain noise; `rate` is the logged one, `chance` is from `at_chance`."""
    shape, loss = goal.shape, goal.series
    index = np.flatnonzero(np.isfinite(goal.costs))
    values = goal.costs[index]
    if len(values) < 10 or shape.onset is not None:
        return []
    fallen = shape.improvement / max(abs(shape.start), 1e-12)
    slow = 0 < fallen < 0.15 and not goal.rewarded and (chance is None or _ruled(values))
    if len(values) < 20:
        return _slowly(goal, series, rate) if slow else []
    learned = max(shape.improvement, 1e-12)
    early = values[: max(3, len(values) // 10)]
    top = int(np.argmax(early))
    found: list[Signal] = []
    high = early[top] - values[0] > max(0.5 * abs(values[0]), 8 * shape.noise, 0.5 * learned)
    if top > 0 and high and not _recurs(float(early[top]), values[len(values) // 2 :]):
        at = int(index[top])
        claim = f"`{loss.original}` goes from {loss.values[index[0]]:.4g} to {loss.values[at]:.4g} at {where(loss, at)}"
        facts: dict[str, Fact] = {"spike": float(loss.values[at]), "spike_at": where(loss, at)}
        found.append(Signal(id="loss-unstable-early", claim=claim, citations=[cite(loss, at, claim)], facts=facts))
    half = values[len(values) // 2 :]
    swing = float(np.percentile(half, 90) - np.percentile(half, 10))
    drift = abs(float(np.mean(half[: len(half) // 2]) - np.mean(half[len(half) // 2 :])))
    last = len(loss) - 1
    wide = swing > 0.5 * learned and drift < 0.25 * swing and swing > 0.3 * abs(float(np.median(half)))
    if wide and not _of_the_sample(goal, series, swing):
        claim = f"`{loss.original}` swings by {swing:.3g} over the second half of the run, with no trend"
        place = cite(loss, last, claim)
        found.append(Signal(id="loss-oscillates", claim=claim, citations=[place], facts={"swing": swing}))
    return [*found, *_slowly(goal, series, rate)] if slow else found


def _recurs(peak: float, later: Numbers) -> bool:
    """Whether single points reach a height again and again, far above the level there: some batches are like that."""
    return int(np.sum(later >= peak)) >= RECURRING and float(np.median(later)) < 0.5 * peak


def _of_the_sample(goal: Objective, series: Sequence[Series], swing: float) -> bool:
    """Whether the loss on held-out data stands still while that of the batches swings: the batches differ, no more."""
    held = validation_of(goal.series, series)
    if held is None or held is goal.series or len(held) < FEWEST_HELD or not np.isfinite(held.values).all():
        return False
    return float(np.ptp(held.values)) < STILL * swing


def _slowly(goal: Objective, series: Sequence[Series], rate: Series | None) -> list[Signal]:
    """A fall in a straight line, or as straight as the rate was lowered; seen in validation where training is noisy."""
    seen_on = validation_of(goal.series, series)
    for one in (goal, *([measured(seen_on)] if seen_on is not None else [])):
        fallen = one.shape.improvement / max(abs(one.shape.start), 1e-12)
        straight = one.shape.slope > 0.15 and falls_steadily(one)
        least = 0.0 if straight and _ruled(one.costs[np.isfinite(one.costs)]) else 0.005
        if least < fallen < 0.15 and (straight or _falls_with_the_rate(one, rate)):
            way = "steadily to the end" if straight else "in step with the decaying learning rate"
            claim = f"`{one.series.original}` fell by only {fallen:.1%} over {one.shape.points} points, {way}"
            place = cite(one.series, len(one.series) - 1, claim)
            return [Signal(id="loss-fell-slowly", claim=claim, citations=[place])]
    return []


def _ruled(values: Numbers) -> bool:
    """A fall as if drawn along a ruler, no point above the one before: however small, it is no plateau."""
    steps = np.diff(values)
    # Of twenty fair coins fewer than one in a thousand throws shows seventeen heads.
    most = 0.85 if len(values) >= 20 else 0.95
    return len(values) >= 10 and float(np.mean(steps <= 0)) > most and float(np.mean(steps < 0)) > 0.7


def falls_steadily(goal: Objective) -> bool:
    """Whether the curve goes down in a nearly straight line that stands out of its noise."""
    values = goal.costs[np.isfinite(goal.costs)]
    return _falls_along(np.arange(len(values), dtype=np.float64), values, goal.shape.noise)


def _falls_with_the_rate(goal: Objective, rate: Series | None) -> bool:
    """Whether every bit of learning rate brought as much as any other, to the last: nothing was near its end."""
    loss = goal.series
    finite = np.isfinite(goal.costs)
    if rate is None or rate.axis != loss.axis or rate.source != loss.source or int(finite.sum()) < 10:
        return False
    at, known = loss.at[finite], np.isfinite(rate.values)
    if not known.any() or bool((np.diff(at) < 0).any()) or bool((np.diff(rate.at[known]) < 0).any()):
        return False
    spent = np.cumsum(np.interp(at, rate.at[known], rate.values[known]) * np.diff(at, prepend=0.0))
    return _falls_along(spent, goal.costs[finite], goal.shape.noise)


def _falls_along(places: Numbers, values: Numbers, noise: float) -> bool:
    if len(values) < 10 or places[-1] <= places[0]:
        return False
    edges = np.searchsorted(places, np.linspace(places[0], places[-1], 11)[1:-1])
    parts = [part for part in np.split(values, edges) if len(part)]
    tenths = np.array([np.mean(part) for part in parts])
    if len(tenths) < 6 or np.ptp(tenths) == 0:
        return False
    straight = float(np.corrcoef(np.arange(len(tenths)), tenths)[0, 1])
    return straight < -0.95 and float(tenths[0] - tenths[-1]) > 2 * noise
