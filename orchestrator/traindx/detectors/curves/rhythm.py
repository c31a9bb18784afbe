"""A pattern that comes back every epoch."""

from __future__ import annotations

import numpy as np

from traindx.contract import Signal
from traindx.detectors.citing import cite
from traindx.detectors.curves.objective import Objective

SIGNALS = {"loss-repeats-every-epoch": "the same ups and downs repeat in every epoch"}

FEWEST_PERIODS = 3
FEWEST_POINTS_PER_PERIOD = 6
# The share of the unrest (the curve without its trend) that the repeated pattern explains.
TELLING = 0.6


def detect(goal: Objective) -> list[Signal]:
    """Whether the same ups and downs repeat in every epoch: data in a fixed order, or one bad stretch of it."""
    epochs = goal.series.epochs
    finite = np.isfinite(goal.costs)
    if epochs is None or not finite.all() or not np.isfinite(epochs).all():
        return []
    turns = np.flatnonzero(np.diff(np.floor(epochs)) > 0) + 1
    lengths = np.diff(turns)
    if len(lengths) < FEWEST_PERIODS or np.ptp(lengths) > 1 or lengths.min() < FEWEST_POINTS_PER_PERIOD:
        return []
    length = int(lengths.min())
    rows = np.stack([goal.costs[start : start + length] for start in turns[: len(lengths)]])
    unrest = rows - rows.mean(axis=1, keepdims=True)
    # A fall within each epoch is learning; what is left after a straight line per epoch is the pattern.
    axis = np.arange(length) - (length - 1) / 2
    unrest -= np.outer(unrest @ axis / (axis @ axis), axis)
    explained = float(np.var(unrest.mean(axis=0)) / max(np.var(unrest), 1e-30))
    bound = 1.0 / len(rows)
    if explained < TELLING or explained < 3 * bound or np.std(unrest) < 0.02 * max(abs(goal.shape.end), 1e-12):
        return []
    claim = f"the ups and downs of `{goal.series.original}` are the same in every epoch ({explained:.0%} of them)"
    place = cite(goal.series, int(turns[-1]), claim)
    return [Signal(id="loss-repeats-every-epoch", claim=claim, citations=[place])]
