"""What a run says that something simpler reaches."""

from __future__ import annotations

import re

import numpy as np

from traindx.contract import Citation, Fact, Signal
from traindx.detectors.citing import cite
from traindx.detectors.curves.objective import Objective
from traindx.readers import Run, Series
from traindx.vocabulary.metrics import normalise

HEAD = 200
"""lines of a log in which a baseline is looked for"""
WORSE = 1.2
_NAMED = re.compile(r"([A-Za-z][\w ]{0,20}?)\s?[:=]?\s?(-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?)\b")


def baseline(run: Run, goal: Objective) -> list[Signal]:
    """A run that ends worse than the baseline that its own log names, in the same measure."""
    loss = goal.series
    if goal.rewarded or loss.place != "line":
        return []
    for number, text in enumerate(run.lines(loss.source_at(0), 1, HEAD), 1):
        if "baseline" not in text.lower() or len(text) > 400:
            continue
        for name, value in _NAMED.findall(text):
            measured = _of_the_same(run, name.split()[-2:])
            level = float(value)
            if measured is None or level <= 0:
                continue
            end = float(np.median(measured.values[-max(1, len(measured) // 10) :]))
            if np.isfinite(end) and end > WORSE * level:
                claim = f"`{measured.original}` ends at {end:.4g}, where a baseline reaches {level:.4g}"
                facts: dict[str, Fact] = {"baseline": level, "loss_end": end}
                quote = Citation(
                    claim="the baseline", source=loss.source_at(0), locator=f"line {number}", quote=text.strip()[:240]
                )
                places = [quote, cite(run, measured, len(measured) - 1, claim)]
                return [Signal(id="worse-than-baseline", claim=claim, citations=places, facts=facts)]
    return []


def _of_the_same(run: Run, words: list[str]) -> Series | None:
    """The series that measures what these words name; of a loss, where less is better."""
    wanted = normalise(" ".join(words))
    if wanted.kind != "loss":
        wanted = normalise(words[-1]) if words else wanted
    if wanted.kind != "loss":
        return None
    same = [row for row in run.series if row.name == wanted.name and len(row) > 2]
    return max(same, key=len, default=None)
