"""What the weights were worth before the first step, where they were evaluated then."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from traindx.detectors.curves.loss import validation_of
from traindx.detectors.curves.objective import Objective
from traindx.readers.model import Series

WORSE = 0.1
"""by which share every later evaluation is worse"""


def better_untrained(goal: Objective, series: Sequence[Series]) -> Series | None:
    """The validation loss, where it was best before the first step and training ended above that as well.

    Nothing was learned by heart then: what the weights could do was lost.
    """
    seen_on = None if goal.rewarded else validation_of(goal.series, series)
    if seen_on is None or seen_on is goal.series or len(seen_on) < 3 or not np.isfinite(seen_on.values).all():
        return None
    if not _before_training(goal.series, seen_on):
        return None
    first = float(seen_on.values[0])
    lost = first > 0 and float(seen_on.values[1:].min()) > (1 + WORSE) * first
    return seen_on if lost and goal.shape.end > first else None


def _before_training(loss: Series, seen_on: Series) -> bool:
    """Whether the first evaluation was made with the weights that the training began with."""
    if seen_on.axis == loss.axis and seen_on.axis != "row":
        return float(seen_on.at[0]) == 0 and float(loss.at[0]) > 0
    return seen_on.axis == "step" and float(seen_on.at[0]) == 0
