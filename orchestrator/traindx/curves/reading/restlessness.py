"""Curves that shoot up early, swing without a trend, or hardly move."""

from __future__ import annotations

import numpy as np

from traindx.artifacts import Run
from traindx.contract import Fact, Signal
from traindx.curves.objective import Objective
from traindx.curves.place import cite, where


def restlessness(run: Run, goal: Objective) -> list[Signal]:
    """The unrest that is neither a break nor plain noise."""
    shape, loss = goal.shape, goal.series
    index = np.flatnonzero(np.isfinite(goal.costs))
    values = goal.costs[index]
    if len(values) < 20 or shape.onset is not None:
        return []
    learned = max(shape.improvement, 1e-12)
    early = values[: max(3, len(values) // 10)]
    top = int(np.argmax(early))
    found: list[Signal] = []
    if top > 0 and early[top] - values[0] > max(0.5 * abs(values[0]), 8 * shape.noise, 0.5 * learned):
        at = int(index[top])
        claim = f"`{loss.original}` goes from {loss.values[index[0]]:.4g} to {loss.values[at]:.4g} at {where(loss, at)}"
        facts: dict[str, Fact] = {"spike": float(loss.values[at]), "spike_at": where(loss, at)}
        found.append(Signal(id="loss-unstable-early", claim=claim, citations=[cite(run, loss, at, claim)], facts=facts))
    half = values[len(values) // 2 :]
    swing = float(np.percentile(half, 90) - np.percentile(half, 10))
    drift = abs(float(np.mean(half[: len(half) // 2]) - np.mean(half[len(half) // 2 :])))
    last = len(loss) - 1
    if swing > 0.5 * learned and drift < 0.25 * swing and swing > 0.3 * abs(float(np.median(half))):
        claim = f"`{loss.original}` swings by {swing:.3g} over the second half of the run, with no trend"
        place = cite(run, loss, last, claim)
        found.append(Signal(id="loss-oscillates", claim=claim, citations=[place], facts={"swing": swing}))
    fallen = shape.improvement / max(abs(shape.start), 1e-12)
    if 0 < fallen < 0.15 and shape.slope > 0.15 and not goal.rewarded and falls_steadily(goal):
        claim = f"`{loss.original}` fell by only {fallen:.1%} over {shape.points} points, steadily to the end"
        found.append(Signal(id="loss-fell-slowly", claim=claim, citations=[cite(run, loss, last, claim)]))
    return found


def falls_steadily(goal: Objective) -> bool:
    """Whether the curve goes down in a nearly straight line that stands out of its noise."""
    values = goal.costs[np.isfinite(goal.costs)]
    if len(values) < 10:
        return False
    tenths = np.array([np.mean(part) for part in np.array_split(values, 10)])
    straight = float(np.corrcoef(np.arange(10), tenths)[0, 1]) if np.ptp(tenths) > 0 else 0.0
    return straight < -0.95 and float(tenths[0] - tenths[-1]) > 2 * goal.shape.noise
