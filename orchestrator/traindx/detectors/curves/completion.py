"""Whether the run came to its planned end."""

from __future__ import annotations

import math
import re

from traindx.contract import Citation, Signal
from traindx.detectors.citing import cite, where
from traindx.detectors.curves.objective import Objective
from traindx.readers import Run

# `Epoch 3/3` ends every script; thousands of steps to the last one are a training that went through.
FEWEST_STEPS = 100
AFTER = 12
"""lines after the last value in which a run says how it ended"""
_DONE = re.compile(
    r"early[ -]?stopp(?:ed|ing)(?! counter)|(?:done|finished|completed?) (?:the )?(?:training|run|fit)"
    r"|training (?:is |was )?(?:done|finished|complete)|restoring (?:the )?best"
    r"|(?:best|final) (?:model|weights|checkpoint) (?:saved|restored|loaded)",
    re.IGNORECASE,
)
_OUT_OF = re.compile(r"(?<![\d.])(\d{1,12})\s?/\s?(\d{1,12})(?![\d.])")


def completion(run: Run, goal: Objective) -> list[Signal]:
    """The last logged step is the last planned one, and its loss is finite."""
    loss, last = goal.series, len(goal) - 1
    if last < 0 or loss.place != "line" or not math.isfinite(goal.costs[last]):
        return []
    return [*_planned(run, goal), *_in_order(run, goal)]


def _in_order(run: Run, goal: Objective) -> list[Signal]:
    """The run says itself, after its last value, that it is done or was stopped on purpose."""
    loss, last = goal.series, len(goal) - 1
    source, line = loss.source_at(last), int(loss.lines[last])
    for number, text in enumerate(run.lines(source, line + 1, line + AFTER), line + 1):
        if _DONE.search(text[:400]):
            quote = text.strip()[:240]
            place = Citation(claim="the run ends in order", source=source, locator=f"line {number}", quote=quote)
            return [Signal(id="run-ended-in-order", claim=f"the run ended in order: {quote}", citations=[place])]
    return []


def _planned(run: Run, goal: Objective) -> list[Signal]:
    loss, last = goal.series, len(goal) - 1
    if loss.at[last] < FEWEST_STEPS:
        return []
    place = cite(run, loss, last, f"the planned end: {where(loss, last)}")
    counted = [(int(done), int(total)) for done, total in _OUT_OF.findall(place.quote)]
    if (int(loss.at[last]), int(loss.at[last])) not in counted:
        return []
    claim = f"the run came to its planned end, {where(loss, last)}, with `{loss.original}` at {loss.values[last]:.4g}"
    return [Signal(id="run-completed", claim=claim, citations=[place])]
