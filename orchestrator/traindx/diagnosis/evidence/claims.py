"""What a claim says about a whole curve, computed again: its best, its mean, its direction, how many values it counts.

A quote shows that a number stands in a file. That it is the lowest, the mean or the end of a rise is another claim, and
only the series can bear it out.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt

from traindx.readers.model import Series

Numbers = npt.NDArray[np.float64]
Indexes = npt.NDArray[np.intp]
_NAME = r"(?:\s(?:of )?(?:the )?(?!epochs?\b|steps?\b|iterations?\b|lines?\b|rows?\b)`?[A-Za-z_][\w/]*`?)?"
_NUMBER = r"(?<![\d.])([-+]?(?:\d[\d,_]*(?:\.\d+)?|\.\d+)(?:[eE][-+]?\d+)?)(?![\d%\w]|\.\d)"
_LINK = r"(?:\s(?:is|was|of|at|a|the|its|value|loss|level|only|just|about|around|near|loss of|value of)|[:=,(`]|\s)*\s?"
_LOWEST = re.compile(rf"\b(?:lowest|minimum|minimal|smallest)\b{_NAME}{_LINK}{_NUMBER}", re.IGNORECASE)
_HIGHEST = re.compile(rf"\b(?:highest|maximum|maximal|largest|peak(?:s|ed)?)\b{_NAME}{_LINK}{_NUMBER}", re.IGNORECASE)
_BEST = re.compile(rf"\bbest\b(?! level){_NAME}{_LINK}{_NUMBER}", re.IGNORECASE)
_MEAN = re.compile(rf"\b(mean|average|median)\b{_NAME}{_LINK}{_NUMBER}", re.IGNORECASE)
_MOVED = re.compile(
    r"\b(?P<up>rises?|rose|rising|increas\w+|climb\w*|grows?|grew|goes up|went up|jump(?:s|ed)|up)\b"
    r"|\b(?P<down>falls?|fell|falling|drop\w*|decreas\w+|declin\w+|goes down|went down|down)\b",
    re.IGNORECASE,
)
_FROM_TO = re.compile(rf"\bfrom {_NUMBER}[^.;]{{0,60}}? to {_NUMBER}", re.IGNORECASE)
_SINCE = re.compile(r"\b(?:from|after|since|behind) (?:the )?(?P<axis>epoch|step) (?P<at>\d{1,12})\b", re.IGNORECASE)
_CLEAR = 0.1
"""of the range of a curve: what it must have moved for its direction to be told"""
_COUNT = re.compile(
    r"\b(\d[\d,]*)(?: of (?:the |its )?(\d[\d,]*))?"
    r"(?: \w+){0,2} (?:NaNs?|nans?|non-finite|not finite|infinit\w+|NaN or Inf)\b"
)
_POINTS = re.compile(r"\bover (\d[\d,]*) (?:points|values|epochs logged)\b")


def contradiction(claim: str, series: Sequence[Series]) -> str:
    """What the curves say instead; empty where they bear the claim out, or where it is about no whole curve."""
    rows = _spoken_of(claim, [row for row in series if len(row)])
    if not rows:
        return ""
    checks = (_extremes, _means, _moves, _directions, _counts)
    return next((found for check in checks if (found := check(claim, rows))), "")


def _spoken_of(claim: str, series: Sequence[Series]) -> Sequence[Series]:
    """The series that the claim names, else all that were cited."""
    named = [row for row in series if any(f"`{name}`" in claim for name in (row.name, row.original))]
    words = set(re.findall(r"[\w/.]+", claim))
    return named or [row for row in series if words & {row.name, row.original}] or series


def _extremes(claim: str, rows: Sequence[Series]) -> str:
    for pattern, word, extremes in (
        (_LOWEST, "lowest", (np.min,)),
        (_HIGHEST, "highest", (np.max,)),
        (_BEST, "best", (np.min, np.max)),
    ):
        for said in pattern.finditer(claim):
            if not any(
                _written_as(said[1], float(extreme(_finite(row))))
                for row in rows
                for extreme in extremes
                if len(_finite(row))
            ):
                return f"{said[1]} is not the {word} value of the curve"
    return ""


def _means(claim: str, rows: Sequence[Series]) -> str:
    for said in _MEAN.finditer(claim):
        measure: Callable[..., np.floating] = np.median if said[1].lower() == "median" else np.mean
        wholes = [float(measure(part)) for row in rows for part in _stretches(_finite(row))]
        if not any(_written_as(said[2], value) for value in wholes):
            return f"{said[2]} is not the {said[1].lower()} of the curve, nor of a part of it that was tried"
    return ""


def _stretches(values: Numbers) -> list[Numbers]:
    """The whole, its halves and quarters, and its ends of five, ten and a hundred points."""
    parts = [values, *np.array_split(values, 2), *np.array_split(values, 4)]
    parts += [part for size in (3, 5, 10, 20, 50, 100) for part in (values[:size], values[-size:])]
    return [part for part in parts if len(part)]


def _moves(claim: str, rows: Sequence[Series]) -> str:
    for said in _FROM_TO.finditer(claim):
        word = _last(_MOVED, claim[: said.start()])
        if word is None:
            continue
        first, last = _value(said[1]), _value(said[2])
        up = word["up"] is not None
        if first != last and up != (last > first):
            return f"from {said[1]} to {said[2]} is not {'up' if up else 'down'}"
        on_a_curve = [row for row in rows if _has(row, said[1]) and _has(row, said[2])]
        if on_a_curve and not any(_in_order(row, said[1], said[2]) for row in on_a_curve):
            return f"{said[2]} comes before {said[1]} on the curve"
    return ""


def _directions(claim: str, rows: Sequence[Series]) -> str:
    """A curve that is said to rise or fall from some point on, without a number."""
    since = _SINCE.search(claim)
    word = _last(_MOVED, claim[: since.start()]) if since else None
    if since is None or word is None or len(rows) != 1 or rows[0].axis != since["axis"].lower():
        return ""
    row = rows[0]
    later = row.values[(row.at >= float(since["at"])) & np.isfinite(row.values)]
    if len(later) < 3:
        return ""
    moved = float(np.mean(later[-max(1, len(later) // 4) :]) - later[0])
    whole = _finite(row)
    if abs(moved) < _CLEAR * float(whole.max() - whole.min()) or (moved > 0) == (word["up"] is not None):
        return ""
    return f"from {since['axis']} {since['at']} on the curve goes {'up' if moved > 0 else 'down'}"


def _counts(claim: str, rows: Sequence[Series]) -> str:
    for said in _COUNT.finditer(claim):
        lost = {int(np.count_nonzero(~np.isfinite(row.values))) for row in rows}
        lost.add(sum(lost))
        if int(_value(said[1])) not in lost:
            return f"the curve has not {said[1]} values that are not finite"
        if said[2] and int(_value(said[2])) not in {len(row) for row in rows}:
            return f"the curve has not {said[2]} values"
    for said in _POINTS.finditer(claim):
        if int(_value(said[1])) not in {len(row) for row in rows}:
            return f"the curve has not {said[1]} points"
    return ""


def _last(pattern: re.Pattern[str], text: str) -> re.Match[str] | None:
    found = list(pattern.finditer(text))
    return found[-1] if found else None


def _finite(row: Series) -> Numbers:
    return row.values[np.isfinite(row.values)]


def _value(text: str) -> float:
    return float(text.replace(",", "").replace("_", ""))


def _slack(text: str) -> float:
    """Half a unit of the last digit that was written."""
    mantissa, _, exponent = text.lower().partition("e")
    return float(0.5000001 * 10.0 ** (int(exponent or 0) - len(mantissa.partition(".")[2])))


def _written_as(text: str, value: float) -> bool:
    """Whether a value, rounded to the digits that were written, is what was written."""
    return abs(_value(text) - value) <= max(_slack(text), 5e-4 * abs(value))


def _indexes(row: Series, text: str) -> Indexes:
    with np.errstate(invalid="ignore"):
        near = np.abs(row.values - _value(text)) <= np.maximum(_slack(text), 5e-4 * np.abs(row.values))
    return np.flatnonzero(near)


def _has(row: Series, text: str) -> bool:
    return len(_indexes(row, text)) > 0


def _in_order(row: Series, first: str, last: str) -> bool:
    return bool(_indexes(row, first)[0] <= _indexes(row, last)[-1])
