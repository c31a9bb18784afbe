"""Whether the run came to its planned end."""

from __future__ import annotations

import math
import re

from traindx.artifacts import Run
from traindx.contract import Signal
from traindx.curves.objective import Objective
from traindx.curves.place import cite, where

# `Epoch 3/3` ends every script; thousands of steps to the last one are a training that went through.
FEWEST_STEPS = 100
_OUT_OF = re.compile(r"(?<![\d.])(\d{1,12})\s?/\s?(\d{1,12})(?![\d.])")


def completion(run: Run, goal: Objective) -> list[Signal]:
    """The last logged step is the last planned one, and its loss is finite."""
    loss, last = goal.series, len(goal) - 1
    if last < 0 or loss.place != "line" or not math.isfinite(goal.costs[last]) or loss.at[last] < FEWEST_STEPS:
        return []
    place = cite(run, loss, last, f"the planned end: {where(loss, last)}")
    counted = [(int(done), int(total)) for done, total in _OUT_OF.findall(place.quote)]
    if (int(loss.at[last]), int(loss.at[last])) not in counted:
        return []
    claim = f"the run came to its planned end, {where(loss, last)}, with `{loss.original}` at {loss.values[last]:.4g}"
    return [Signal(id="run-completed", claim=claim, citations=[place])]
