"""Opening citations again, from inside the worker."""

from __future__ import annotations

import math
import re

from traindx.artifacts import Run, Series
from traindx.contract import Citation
from traindx.errors import TraindxError
from traindx.evidence.model import Opened, Question, Verdicts
from traindx.toolbelt import tool

LINE = re.compile(r"\bline (\d{1,12})\b")
POINT = re.compile(r"\b(epoch|step|row) (-?[\d.]+(?:e[+-]?\d+)?)(?: of ([^,]+))?")
NUMBER = re.compile(r"[-+]?(?:\d[\d,_]*\.?\d*(?:[eE][-+]?\d+)?|nan|inf)", re.IGNORECASE)


@tool(timeout=60.0)
def reopen(question: Question, run: Run) -> Verdicts:
    """Open every cited place again and compare what stands there with the quote."""
    return Verdicts(verdicts=[_open(citation, run) for citation in question.citations])


def _open(citation: Citation, run: Run) -> Opened:
    if not citation.quote.strip():
        return Opened(verified=False, why="nothing is quoted")
    line, point = LINE.search(citation.locator), POINT.search(citation.locator)
    try:
        if line:
            return _at_line(citation, int(line.group(1)), run)
        if point:
            return _at_point(citation, point, run)
    except TraindxError as error:
        return Opened(verified=False, why=str(error))
    return Opened(verified=False, why="the locator names neither a line nor a point of a series")


def _at_line(citation: Citation, number: int, run: Run) -> Opened:
    text = run.lines(citation.source, number, number)
    if not text:
        return Opened(verified=False, why=f"`{citation.source}` has no line {number}")
    if _folded(citation.quote) not in _folded(text[0]):
        return Opened(verified=False, why=f"line {number} of `{citation.source}` reads otherwise")
    return Opened(verified=True)


def _at_point(citation: Citation, point: re.Match[str], run: Run) -> Opened:
    axis, position, name = point.groups()
    rows = [row for row in run.series if row.source == citation.source and row.axis == axis]
    rows = [row for row in rows if name is None or name in {row.name, row.original}]
    quoted = NUMBER.fullmatch(citation.quote.strip())
    if quoted is None:
        return Opened(verified=False, why="a point of a series is quoted by its number")
    value = float(quoted.group().replace(",", "").replace("_", ""))
    if any(_holds(row, float(position), value) for row in rows):
        return Opened(verified=True)
    return Opened(verified=False, why=f"no series of `{citation.source}` has {citation.quote} at {axis} {position}")


def _holds(row: Series, position: float, value: float) -> bool:
    here = row.values[abs(row.at - position) <= 1e-9 * max(1.0, abs(position))].tolist()
    # A quote may be rounded to the digits a person would write, not to another value.
    return any((math.isnan(seen) and math.isnan(value)) or math.isclose(seen, value, rel_tol=5e-3) for seen in here)


def _folded(text: str) -> str:
    return " ".join(text.split())
