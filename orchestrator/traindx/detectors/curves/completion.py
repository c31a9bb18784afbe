"""Whether the run came to its planned end."""

from __future__ import annotations

import math
import re

from traindx.contract import Signal
from traindx.detectors.citing import cite, cite_line, where
from traindx.detectors.curves.objective import Objective
from traindx.readers.model import Excerpt, Stretch
from traindx.readers.quoting import quote_of

SIGNALS = {
    "run-ended-in-order": "after the last value the log says the run finished, or was stopped early on purpose",
    "run-completed": "the last logged step is the last planned one",
}

# `Epoch 3/3` ends every script; thousands of steps to the last one are a training that went through.
FEWEST_STEPS = 100
AFTER = 12
"""lines after the last value in which a run says how it ended"""
FINISHED = re.compile(
    r"early[ -]?stopp(?:ed|ing)(?! counter)|(?:done|finished|completed?) (?:the )?(?:training|run|fit)"
    r"|training (?:is |was )?(?:done|finished|complete)|restoring (?:the )?best"
    r"|(?:best|final|last) (?:model|weights|checkpoint)(?: was)? (?:saved|restored|loaded|written)"
    r"|\b(?:saved|saving|wrote) (?:the )?final\b|\b(?:exit|return|exited with)(?: code)?:? 0\b|^\W{0,4}(?:all )?done\b"
    r"|Signaling Trainer to stop|Trainer\.fit` stopped|\bmax_(?:epochs|steps)=\d+` reached"
    r"|\btrain_runtime\b|\bCOMPLETED\b|\b(?:overall training speed|total training time)\b|\bepochs completed in \d"
    r"|^(?!.{0,200}\bepoch\b).{0,120}\btrain(?:ing)?[ _](?:time|duration)\b.{0,12}[:=] ?\d|\btraining took \d"
    r"|\bdone training in \d|\[after training is done\]|\[exiting program (?:after|at)\b|\*\*\* best metric:"
    r"|['\"](?:event|status|state|type)['\"]\s?:\s?"
    r"['\"](?:end|ended|finished|done|ok|success|succeeded|completed?|train_end|run_end)['\"]",
    re.IGNORECASE,
)
"""how a run says that it is over"""
OVER = re.compile(
    r"\btraining (?:\w{1,12} )?(?:is |was |has )?(?:done|finished|completed?d?|ended)\b"
    r"|\b(?:done|finished|completed) (?:the )?(?:training|fit)\b"
    r"|\b(?:saved|saving|wrote|writing|exported|uploaded|pushed)\b.{0,60}\bfinal\b"
    r"|\bfinal\b.{0,40}\b(?:saved|written|exported)\b"
    r"|\bmax_(?:epochs|steps)=\d+` reached|['\"]train_runtime['\"]|\[exiting program after ",
    re.IGNORECASE,
)
"""how it says so with its work done: what is raised after that belongs to the program's end, not to the training"""
NOT_OVER = re.compile(r"\b(?:fail|error|abort|exit ?code:? [1-9]|before training|until)", re.IGNORECASE)
_OUT_OF = re.compile(r"(?<![\d.])(\d{1,12})\s?/\s?(\d{1,12})(?![\d.])")


def wanted_lines(goal: Objective) -> Stretch | None:
    """Where a run says how it ended: the line of the last value, where that is finite, and those after it."""
    loss, last = goal.series, len(goal) - 1
    if last < 0 or loss.place != "line" or not math.isfinite(goal.costs[last]):
        return None
    line = int(loss.lines[last])
    return Stretch(loss.source_at(last), line, line + AFTER)


def detect(goal: Objective, ending: Excerpt) -> list[Signal]:
    """The last logged step is the last planned one, or the run says that it is done."""
    return [*_planned(goal, ending), *_in_order(ending)]


def _in_order(ending: Excerpt) -> list[Signal]:
    """The run says itself, after its last value, that it is done or was stopped on purpose."""
    for number, text in list(ending.numbered())[1:]:
        if FINISHED.search(text[:400]):
            quote = quote_of(text)
            place = cite_line(ending.source, number, "the run ends normally", quote)
            return [Signal(id="run-ended-in-order", claim=f"the run ended normally: {quote}", citations=[place])]
    return []


def _planned(goal: Objective, ending: Excerpt) -> list[Signal]:
    loss, last = goal.series, len(goal) - 1
    if loss.at[last] < FEWEST_STEPS:
        return []
    place = cite(loss, last, f"the planned end: {where(loss, last)}")
    counted = [
        (int(done), int(total)) for done, total in _OUT_OF.findall(quote_of("".join(ending.lines[:1]), place.quote))
    ]
    if (int(loss.at[last]), int(loss.at[last])) not in counted:
        return []
    claim = f"the run reached its planned end, {where(loss, last)}, with `{loss.original}` at {loss.values[last]:.4g}"
    return [Signal(id="run-completed", claim=claim, citations=[place])]
