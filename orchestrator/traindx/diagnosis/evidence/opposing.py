"""Comparing a place with one that is held against it, from inside the worker."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from traindx.contract import Citation, Fact
from traindx.diagnosis.evidence.bearing import Bearing, Bearings, Pairs
from traindx.diagnosis.evidence.numbers import readings_of
from traindx.diagnosis.evidence.reopen import POINT, file_line, indexes_of, opened_at, positions_of
from traindx.errors import TraindxError
from traindx.readers import Run, Series
from traindx.readers.model import Setting
from traindx.runtime import tool
from traindx.vocabulary.metrics import normalise
from traindx.vocabulary.settings import plain

NEARBY = 10
"""lines of a program within which two places speak of the same thing"""
SAME = 0.01
"""two values this close are the same value"""
REACHED = 0.05
"""a schedule that comes this close to a rate has used it"""
BACK = 0.1
"""of a jump: what may be left of it where a curve has come back"""
BEFORE = 5
"""points before a jump whose median is the level it left"""
_COMMENT = re.compile(r"\s*(?:#|//)")
_ASSIGNED = re.compile(
    r"([A-Za-z_][\w.-]*)\s*[=:]\s*([-+]?\d[\w.+-]*|True|False|true|false|None|null|[\"'][^\"']*[\"'])"
)


@tool(timeout=60.0)
def oppose(given: Pairs, run: Run) -> Bearings:
    """Say of each pair whether the second place contradicts the first, bears on it, or has nothing to do with it."""
    return Bearings(bearings=[_bearing(pair.support, pair.contrary, run) for pair in given.pairs])


@dataclass(frozen=True)
class _Reading:
    """One quantity that a place gives a value: a setting, or a point of a curve."""

    name: str
    value: Fact
    setting: Setting | None = None
    series: Series | None = None
    index: int = 0


def _bearing(support: Citation, contrary: Citation, run: Run) -> Bearing:
    try:
        if not opened_at(contrary, run).verified:
            return Bearing(why="the place does not hold the quote")
        found = list(_compared(support, contrary, run))
    except TraindxError as error:
        return Bearing(why=str(error))
    strongest = sorted(found, key=lambda row: row.how != "contradicts")
    return strongest[0] if strongest else Bearing(why="it speaks of another matter")


def _compared(support: Citation, contrary: Citation, run: Run) -> Iterator[Bearing]:
    here, there = file_line(support, run), file_line(contrary, run)
    if support.source == contrary.source and here is not None and there is not None:
        if here == there and _is_comment(support, here, run):
            yield Bearing(how="contradicts", why=f"line {here} is a comment")
        if here < there and _went_on(support.source, here, there, run):
            yield Bearing(how="contradicts", why=f"the run went on: it logged steps at line {there}")
        if _is_code(support.source, run) and 0 < abs(here - there) <= NEARBY:
            yield Bearing(how="bears", why="it stands beside it")
    for one in _readings(support, run):
        for other in _readings(contrary, run):
            if one.name == other.name:
                yield from _of_one_quantity(one, other, run)


def _of_one_quantity(one: _Reading, other: _Reading, run: Run) -> Iterator[Bearing]:
    """`other` held against `one`, both of the same name."""
    name = one.name
    if one.series is not None and other.series is not None:
        yield from _of_one_curve(one, other)
    elif other.series is not None:
        if _number(one.value) is None or _is_reached(float(one.value), other.series):
            return
        yield Bearing(how="contradicts", why=f"`{name}` was never {one.value} in `{other.series.source}`")
    elif one.setting is not None and other.setting is not None and not _equal(one.value, other.value):
        overruled = _overrules(other.setting, one.setting, run)
        said = f"`{name}` is {other.value} there"
        yield Bearing(how="contradicts" if overruled else "bears", why=said)
    elif one.series is not None and not _equal(one.value, other.value):
        yield Bearing(how="bears", why=f"`{name}` is set to {other.value} there")


def _of_one_curve(one: _Reading, other: _Reading) -> Iterator[Bearing]:
    """A value at the same position that differs, or a later one that shows the curve back where it came from."""
    held, against = one.series, other.series
    if held is None or against is None or held.axis != against.axis:
        return
    at, later = float(held.at[one.index]), float(against.at[other.index])
    if at == later:
        if not _equal(one.value, other.value):
            yield Bearing(how="contradicts", why=f"`{one.name}` is {other.value} there at the same {held.axis}")
    elif later > at and _came_back(held, one.index, against, other.index):
        yield Bearing(how="contradicts", why=f"`{one.name}` is back at its level by {held.axis} {later:g}")


def _came_back(held: Series, index: int, against: Series, later: int) -> bool:
    before = held.values[max(0, index - BEFORE) : index]
    before = before[np.isfinite(before)]
    jump = float(held.values[index])
    if not len(before):
        return False
    level = float(np.median(before))
    left = BACK * (abs(jump - level) if math.isfinite(jump) else max(abs(level), 1.0))
    ends = (float(against.values[later]), float(against.values[-1]))
    return left > 0 and all(abs(end - level) <= left for end in ends)


def _went_on(source: str, here: int, there: int, run: Run) -> bool:
    """Whether the line `here` tells of an error, and the line `there` of later steps of the same log."""
    told = any(row.source == source and row.kind == "error" and here in (row.line, row.last_line) for row in run.errors)
    if not told:
        return False
    for row in run.series:
        points = indexes_of(row, there) if row.source == source else []
        if points and math.isfinite(row.values[points[0]]):
            earlier = row.at[row.lines < here]
            return not len(earlier) or float(row.at[points[0]]) > float(earlier.max())
    return False


def _overrules(given: Setting, held: Setting, run: Run) -> bool:
    """Whether one setting is in force where another stands elsewhere: what was printed before what was configured,
    that before a default in code, and of two lines of one file with the same whole key the later.
    """
    if (held.coded and given.coded) or _is_log(held.source, run):
        return False
    if given.source == held.source:
        return given.key == held.key and given.line > held.line
    return _is_log(given.source, run) or (held.coded and not given.coded)


def _readings(citation: Citation, run: Run) -> list[_Reading]:
    """The quantities at a place; where the quote names fewer than the line, those of the quote."""
    found = list(_read(citation, run))
    quoted = readings_of(citation.quote)
    said = [
        row for row in found if any(_equal(row.value, value) for value in quoted) or str(row.value) in citation.quote
    ]
    return said or found


def _read(citation: Citation, run: Run) -> Iterator[_Reading]:
    line = file_line(citation, run)
    point = POINT.search(citation.locator)
    for row in run.series:
        if not len(row) or citation.source not in {row.source, row.source_at(len(row) - 1)}:
            continue
        if line is not None:
            points = indexes_of(row, line)
        elif point and point[1] == row.axis and (not point[3] or point[3].strip(" `") in {row.name, row.original}):
            points = positions_of(row, float(point[2]))
        else:
            points = []
        for index in points[:2]:
            yield _Reading(row.name, float(row.values[index]), series=row, index=index)
    if line is None:
        return
    known = [one for one in run.settings if one.source == citation.source and one.line == line]
    for one in known:
        yield _Reading(_name(one.key), one.value, setting=one)
    if not known:
        for key, value in _ASSIGNED.findall(citation.quote):
            coded = _is_code(citation.source, run)
            setting = Setting(key, _fact(value), citation.source, line, coded=coded)
            yield _Reading(_name(key), setting.value, setting=setting)


def _name(key: str) -> str:
    """What a setting and a curve of the same thing are both called."""
    last = plain(key)
    seen = normalise(key.rsplit(".", 1)[-1])
    return seen.name if seen.kind == "rate" else last


def _fact(text: str) -> Fact:
    try:
        return float(text)
    except ValueError:
        return {"true": True, "false": False}.get(text.lower(), text.strip("\"'"))


def _equal(one: Fact, other: Fact) -> bool:
    first, second = _number(one), _number(other)
    if first is None or second is None:
        return str(one) == str(other)
    if math.isnan(first) or math.isnan(second):
        return math.isnan(first) and math.isnan(second)
    return math.isclose(first, second, rel_tol=SAME)


def _number(value: Fact) -> float | None:
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None


def _is_reached(value: float, row: Series) -> bool:
    return any(math.isclose(float(seen), value, rel_tol=REACHED) for seen in row.values)


def _is_comment(citation: Citation, line: int, run: Run) -> bool:
    text = run.lines(citation.source, line, line)
    return bool(text) and _COMMENT.match(text[0]) is not None and not _COMMENT.match(citation.quote)


def _is_code(source: str, run: Run) -> bool:
    return any(unit.path == source for unit in run.code)


def _is_log(source: str, run: Run) -> bool:
    return any(file.path == source and file.role == "log" for file in run.files)
