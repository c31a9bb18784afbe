"""Whether a run looks like the fine-tuning of a model that knew its task."""

from __future__ import annotations

from traindx.contract import Signal
from traindx.detectors.citing import cite
from traindx.detectors.curves.objective import Objective

SIGNALS = {"fine-tuning-rate": "a fine-tuning learning rate, and a loss that is low from the start"}

FINE_TUNING = 1e-4
LOW_LOSS = 0.5


def detect(goal: Objective | None, peak: float | None) -> list[Signal]:
    """A low, flat loss at a rate (`peak` is its highest) for fine-tuning: the model knew the task when it started."""
    if goal is None or goal.rewarded or peak is None or peak > FINE_TUNING or not 0 < goal.shape.start < LOW_LOSS:
        return []
    claim = f"a peak rate of {peak:g}, and a loss of {goal.first:.4g} from the start: the task was already learned"
    return [Signal(id="fine-tuning-rate", claim=claim, citations=[cite(goal.series, 0, claim)])]
