"""A confusion matrix that a log prints, with everything in one column."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

import numpy as np

from traindx.contract import Fact, Signal
from traindx.detectors.citing import cite_line
from traindx.detectors.outputs import one_class
from traindx.readers.model import Excerpt, Series, Stretch
from traindx.readers.quoting import quote_of

SIGNALS = {name: one_class.SIGNALS[name] for name in ("one-class-predicted",)}

_ROWS = re.compile(r"\[([\d,\s]{3,400})\]")
_COUNT = re.compile(r"(?<![\w.])\d{1,9}(?![\w.])")
MOST_CLASSES = 30
ONE_CLASS = 0.98
TAIL = 400
"""lines before the end in which a matrix is looked for"""


def wanted_lines(path: str, series: Sequence[Series]) -> Stretch:
    """Where the last confusion matrix of a log stands: around the last of its values."""
    last = max((int(row.lines[-1]) for row in series if row.source == path and len(row)), default=TAIL)
    return Stretch(path, max(1, last - TAIL), last + 2 * MOST_CLASSES)


def detect(endings: Iterable[Excerpt]) -> list[Signal]:
    """The last confusion matrix that the end of a log shows, where one column of it holds everything."""
    for ending in endings:
        found = None
        for first, text in _about_confusion(ending):
            rows = [[int(cell) for cell in _COUNT.findall(row)] for row in _ROWS.findall(text)]
            rows = rows or _under(ending, first)
            square = len(rows) > 1 and all(len(row) == len(rows) for row in rows)
            found = (first, text, np.array(rows)) if square else found
        if found is None:
            continue
        line, text, matrix = found
        real, predicted = matrix.sum(axis=1), matrix.sum(axis=0)
        if np.count_nonzero(real) > 1 and predicted.max() >= ONE_CLASS * predicted.sum() > 0:
            others = predicted.sum() - predicted.max()
            claim = f"all but {others} of {predicted.sum()} predictions are class {predicted.argmax()}"
            place = cite_line(ending.source, line, claim, quote_of(text))
            facts: dict[str, Fact] = {"frozen_series": "the confusion matrix", "frozen_value": int(predicted.argmax())}
            return [Signal(id="one-class-predicted", claim=claim, citations=[place], facts=facts)]
    return []


def _about_confusion(ending: Excerpt) -> list[tuple[int, str]]:
    """Lines that speak of a confusion matrix; the last lines are there for the rows under it."""
    lines = zip(range(ending.first, ending.last - MOST_CLASSES + 1), ending.lines, strict=False)
    return [(number, text) for number, text in lines if len(text) < 2_000 and "confusion" in text.lower()]


def _under(ending: Excerpt, line: int) -> list[list[int]]:
    """The rows of whole numbers that stand under a heading, their names aside."""
    rows: list[list[int]] = []
    after = line + 1 - ending.first
    for text in ending.lines[after : after + MOST_CLASSES]:
        cells = [int(cell) for cell in _COUNT.findall(text)]
        if len(cells) < 2 or "." in text or (rows and len(cells) != len(rows[0])):
            if rows:
                break
            continue
        rows.append(cells)
    return rows
