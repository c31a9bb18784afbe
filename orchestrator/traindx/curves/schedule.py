"""What a logged learning rate did over the run."""

from __future__ import annotations

import numpy as np

from traindx.artifacts import Series

# A schedule that has come down to a thousandth of its peak no longer trains.
NOTHING = 1e-3
# Schedules end at zero by design; only what lies well before the end is lost training.
LOST_SHARE = 0.1


def stalled_from(rate: Series, end: float) -> int | None:
    """The point from which on the rate is (nearly) zero, when a good part of the run up to `end` comes after it."""
    values = np.where(np.isfinite(rate.values), rate.values, 0.0)
    peak = float(values.max(initial=0.0))
    alive = np.flatnonzero(values > NOTHING * peak)
    if peak <= 0 or len(alive) == 0 or alive[-1] + 1 >= len(values):
        return None
    first = int(alive[-1]) + 1
    span = end - float(rate.at[0])
    return first if span > 0 and (end - float(rate.at[first])) / span >= LOST_SHARE else None


def warms_up(rate: Series) -> bool:
    """Whether the rate starts low and climbs to its peak in the first part of the run."""
    values = rate.values[np.isfinite(rate.values)]
    return len(values) > 2 and float(values[0]) < 0.5 * float(values.max())
