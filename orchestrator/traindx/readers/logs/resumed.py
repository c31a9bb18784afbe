"""Lines in which a run says that it was resumed: the step may simply go on, and only these lines tell."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace

from traindx.readers.model import Series

_SIGNS = (
    b"esum", b"ESUM", b"oaded", b"estor", b"ontinu", b"equeue", b"oading", b"ecovered", b"estart", b"ick",
)  # fmt: skip
_RESUMED = re.compile(
    rb"\bresum(?:ing|ed)\b[^\n]{0,40}\b(?:from|training|run|at)\b"
    rb"|\bresume\b[^\n]{0,30}\bfrom\b[^\n]{1,120}\b(?:step|epoch|iter|iteration|update)s?\b"
    rb"|\b(?:auto-?)?resum\w*\b[^\n]{0,30}\b(?:checkpoint|ckpt|snapshot)\b[^\n]{0,80}\b(?:step|epoch|iter|iteration)s?\b"
    rb"|\[resume\]|\brequeued\b|\bresum(?:ing|ed) (?:step|epoch|iter)"
    rb"|\bcontinu(?:es?|ed|ing)\b[^\n]{0,30}\b(?:from|at|with) (?:the |last |latest |step|epoch|iter|checkpoint|ckpt)"
    rb"|\b(?:loaded|restored) (?:from )?(?:(?:the|last|latest|model|training) ){0,3}(?:checkpoint|state)\b[^\n]{0,200}"
    rb"\b(?:step|epoch|iter|iteration|update)s?\b"
    rb"|\b(?:restart(?:ing|ed)|pick(?:ing|ed) up)(?: again| training)? (?:from|at) (?:step|epoch|iter\w{0,7}|update)\b",
    re.IGNORECASE,
)
# `restored last.pt (step 1600)`: a file of weights and how far it had come.
_RESTORED = re.compile(
    rb"\b(?:(?:re)?load(?:ed|ing)|restor(?:ed|ing)|recovered)\b[^\n]{0,120}?\w"
    rb"\.(?:pt|pth|ckpt|tar|bin|npz|pkl|h5|keras|msgpack|safetensors|state)\b[^\n]{0,30}?"
    rb"\b(?:step|epoch|iter|iteration|update|ep)s?\b",
    re.IGNORECASE,
)
_OTHER_WEIGHTS = re.compile(rb"best|pre-?train|teacher|backbone|encoder|final|ema\b", re.IGNORECASE)
"""loaded for a test, or to begin with"""
_MOST = 1_000
_COUNTED = re.compile(
    r"\b(?P<axis>step|iter(?:ation)?|update|epoch)s?\b\W{0,3}(?:\w{2,8}\W{1,3})?(?P<at>\d[\d_,]{0,11})", re.IGNORECASE
)


def speaks_of_resuming(lines: Iterable[bytes]) -> set[bytes]:
    """Those of the lines, with or without their digits, that say that the run goes on from a checkpoint."""
    return {line for line in lines if any(sign in line for sign in _SIGNS) and _goes_on(line)}


def _goes_on(line: bytes) -> bool:
    return bool(_RESUMED.search(line) or (_RESTORED.search(line) and not _OTHER_WEIGHTS.search(line)))


def loads_weights_alone(lines: Iterable[bytes]) -> bool:
    """Whether nothing but a file of weights is spoken of: a new stage loads one as well."""
    return not any(_RESUMED.search(line) for line in lines)


def resumed_at(line: str) -> tuple[str, float] | None:
    """The axis and the count at which a line says that the run goes on: `resumed at step 1,000`."""
    found = _COUNTED.search(line)
    if found is None:
        return None
    axis = "epoch" if found["axis"].lower().startswith("epoch") else "step"
    return axis, float(found["at"].replace(",", "").replace("_", ""))


def mark_resumed_at(series: list[Series], points: Iterable[tuple[str, str, float]]) -> list[Series]:
    """The series of other files than the log that tells of a resumption, each with its first point after it among its
    restarts; `points` are source, axis and count.
    """
    given = list(points)[:_MOST]
    return [
        _marked_at(row, [at for source, axis, at in given if source != row.source and axis == row.axis])
        for row in series
    ]


def _marked_at(row: Series, points: list[float]) -> Series:
    import numpy as np

    if row.restarts or not points or not bool(np.all(np.diff(row.at) > 0)):
        return row  # it tells itself where it begins again
    places = np.searchsorted(row.at, np.array(points), side="right")
    after = {int(place) for place in places if 0 < place < len(row)}
    return replace(row, restarts=tuple(sorted(after))) if after else row


def mark_resumed(series: list[Series], lines: list[int]) -> list[Series]:
    """The series of a log, each with its first point after a resumption among its restarts."""
    return [_marked(row, lines[:_MOST]) for row in series] if lines else series


def _marked(row: Series, lines: list[int]) -> Series:
    import numpy as np

    places = np.searchsorted(row.lines, np.array(lines), side="right")
    after = {int(place) for place in places if 0 < place < len(row)}
    return replace(row, restarts=tuple(sorted(after.union(row.restarts)))) if after else row
