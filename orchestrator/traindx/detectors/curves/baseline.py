"""What a run says that something simpler reaches."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from traindx.contract import Fact, Signal
from traindx.detectors.citing import cite, cite_line
from traindx.detectors.curves.objective import Objective
from traindx.readers.model import Excerpt, Series, Stretch
from traindx.readers.quoting import quote_of
from traindx.vocabulary.metrics import normalise

SIGNALS = {"worse-than-baseline": "the run ends worse than the baseline in its own log"}

HEAD = 200
"""lines of a log in which a baseline is looked for"""
WORSE = 1.2
_NAMED = re.compile(r"([A-Za-z][\w ]{0,20}?)\s?[:=]?\s?(-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?)\b")


def wanted_lines(goal: Objective) -> Stretch | None:
    """Where a baseline may be named: the first lines of the file that holds the loss."""
    loss = goal.series
    return None if goal.rewarded or loss.place != "line" else Stretch(loss.source_at(0), 1, HEAD)


def detect(series: Sequence[Series], head: Excerpt) -> list[Signal]:
    """A run that ends worse than the baseline that the head of its own log names, in the same measure."""
    for number, text in head.numbered():
        if "baseline" not in text.lower() or len(text) > 400:
            continue
        for name, value in _NAMED.findall(text):
            measured = _of_the_same(series, name.split()[-2:])
            level = float(value)
            if measured is None or level <= 0:
                continue
            end = float(np.median(measured.values[-max(1, len(measured) // 10) :]))
            if np.isfinite(end) and end > WORSE * level:
                claim = f"`{measured.original}` ends at {end:.4g}, where a baseline reaches {level:.4g}"
                facts: dict[str, Fact] = {"baseline": level, "loss_end": end}
                named = cite_line(head.source, number, "the baseline", quote_of(text))
                places = [named, cite(measured, len(measured) - 1, claim)]
                return [Signal(id="worse-than-baseline", claim=claim, citations=places, facts=facts)]
    return []


def _of_the_same(series: Sequence[Series], words: list[str]) -> Series | None:
    """The series that measures what these words name; of a loss, where less is better."""
    wanted = normalise(" ".join(words))
    if wanted.kind != "loss":
        wanted = normalise(words[-1]) if words else wanted
    if wanted.kind != "loss":
        return None
    same = [row for row in series if row.name == wanted.name and len(row) > 2]
    return max(same, key=len, default=None)
