"""Lines in which a run says that it was resumed: the step may simply go on, and only these lines tell."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace

from traindx.readers.model import Series

_SIGNS = (b"esum", b"ESUM", b"oaded", b"estored", b"ontinu", b"equeue")
_RESUMED = re.compile(
    rb"\bresum(?:ing|ed)\b[^\n]{0,40}\b(?:from|training|run|at)\b"
    rb"|\[resume\]|\brequeued\b|\bresum(?:ing|ed) (?:step|epoch|iter)"
    rb"|\bcontinu(?:es?|ed|ing)\b[^\n]{0,30}\b(?:from|at|with) (?:the |last |latest |step|epoch|iter|checkpoint|ckpt)"
    rb"|\b(?:loaded|restored) (?:from )?(?:(?:the|last|latest|model|training) ){0,3}(?:checkpoint|state)\b[^\n]{0,200}"
    rb"\b(?:step|epoch|iter|iteration|update)s?\b",
    re.IGNORECASE,
)
_MOST = 1_000


def speaks_of_resuming(lines: Iterable[bytes]) -> set[bytes]:
    """Those of the lines, with or without their digits, that say that the run goes on from a checkpoint."""
    return {line for line in lines if any(sign in line for sign in _SIGNS) and _RESUMED.search(line)}


def mark_resumed(series: list[Series], lines: list[int]) -> list[Series]:
    """The series of a log, each with its first point after a resumption among its restarts."""
    return [_marked(row, lines[:_MOST]) for row in series] if lines else series


def _marked(row: Series, lines: list[int]) -> Series:
    import numpy as np

    places = np.searchsorted(row.lines, np.array(lines), side="right")
    after = {int(place) for place in places if 0 < place < len(row)}
    return replace(row, restarts=tuple(sorted(after.union(row.restarts)))) if after else row
