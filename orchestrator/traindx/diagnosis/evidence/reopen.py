"""Opening citations again, from inside the worker."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence, Set
from dataclasses import replace

from traindx.contract import Citation
from traindx.diagnosis.evidence.claims import contradiction
from traindx.diagnosis.evidence.data_places import in_data, is_in_data
from traindx.diagnosis.evidence.in_checkpoint import in_checkpoint, names_checkpoint
from traindx.diagnosis.evidence.numbers import Known, named_places, readings_of, strays, values_in
from traindx.diagnosis.evidence.verify import Citations, Opened, Verdicts
from traindx.errors import TraindxError
from traindx.readers import Run, Series
from traindx.readers.code.cells import CELL
from traindx.readers.quoting import MOST_LINES
from traindx.readers.traces.flight import PLACE
from traindx.redaction import Redactor
from traindx.runtime import tool

LINE = re.compile(r"\blines? (\d{1,12})\b(?:-(\d{1,12})\b)?")
POINT = re.compile(r"\b(epoch|step|row) (-?[\d.]+(?:e[+-]?\d+)?)(?: of ([^,]+))?")
NUMBER = re.compile(r"[-+]?(?:\d[\d,_]*\.?\d*(?:[eE][-+]?\d+)?|nan|inf)", re.IGNORECASE)
NEIGHBOURS = 2
MOST_SEARCHED = 64 * 1024 * 1024
MOST_CURVES = 40
MOST_NUMBERS = 400


@tool(timeout=60.0)
def reopen(given: Citations, run: Run) -> Verdicts:
    """Open every cited place again and compare what stands there with the quote and with the claim's numbers."""
    said = set(given.said)
    return Verdicts(verdicts=[_open(citation, run, given.measured, said) for citation in given.citations])


def opened_at(citation: Citation, run: Run) -> Opened:
    """Whether the quote stands at its place, whatever is claimed of it."""
    return _at_its_place(citation, run)[0]


def _open(citation: Citation, run: Run, measured: Mapping[str, Sequence[float]], said: Set[str]) -> Opened:
    try:
        found, known = _at_its_place(citation, run)
    except TraindxError as error:
        return _refuted(str(error))
    numbers = [value for value in (*known.here, *known.near) if math.isfinite(value)][:MOST_NUMBERS]
    found = found.model_copy(update={"numbers": numbers})
    wrong = "" if found.refuted else contradiction(citation.claim, _cited_curves(citation, run))
    if wrong:
        return _refuted(wrong)
    # What a tool has said word for word was measured by code already.
    if found.refuted or all(part in said for part in citation.claim.split("; ")):
        return found
    settings = [float(row.value) for row in run.settings if _is_number(row.value)]
    near = [*known.near, *values_in(citation.locator), *measured.get(citation.source, ()), *settings]
    stray = strays(citation.claim, replace(known, near=near))
    if stray:
        return _refuted(f"{', '.join(stray)} in the claim: not shown at that place")
    lost = _lost_places(citation, run)
    return _refuted(f"`{citation.source}` has no {lost}") if lost else found


def _cited_curves(citation: Citation, run: Run) -> list[Series]:
    """The series that a citation may speak of: those with a point on its line, else those of its file."""
    own = [row for row in run.series if row.source_at(len(row) - 1) == citation.source or row.source == citation.source]
    number = file_line(citation, run)
    here = [row for row in own if number is not None and indexes_of(row, number)]
    return here or own


def file_line(citation: Citation, run: Run) -> int | None:
    """The line of the file that a citation names, also by a cell of a notebook."""
    cell, _ = run.cell_at(citation.source, citation.locator)
    if cell is not None:
        return cell.file_line
    line = LINE.search(citation.locator)
    return int(line.group(1)) if line else None


def _at_its_place(citation: Citation, run: Run) -> tuple[Opened, Known]:
    """The verdict on the place, and the numbers that stand there and beside it."""
    line, point = LINE.search(citation.locator), POINT.search(citation.locator)
    if CELL.search(citation.locator):
        return _in_cell(citation, run)
    if line:
        first = int(line.group(1))
        return _at_line(citation, first, min(int(line.group(2) or first), first + MOST_LINES), run)
    if point:
        return _at_point(citation, point, run)
    if citation.locator.startswith(PLACE):
        return _in_flight(citation, run)
    if names_checkpoint(citation):
        return in_checkpoint(citation, [*run.checkpoints, *run.pickles])
    if is_in_data(citation):
        return in_data(citation, run)
    if not citation.quote.strip():
        return Opened(verified=False, why="nothing is quoted, and the locator names no place"), Known()
    if not _somewhere(citation, run):
        return _refuted(f"`{citation.source}` does not contain the quote"), Known()
    why = "the locator names neither a line, a point of a series nor a part of a checkpoint"
    return Opened(verified=False, why=why), Known(readings_of(citation.quote))


def _at_line(citation: Citation, number: int, last: int, run: Run) -> tuple[Opened, Known]:
    around = run.lines(citation.source, max(1, number - NEIGHBOURS), last + NEIGHBOURS)
    text = ["\n".join(row) for row in [run.lines(citation.source, number, last)] if row]
    if not text:
        return _refuted(f"`{citation.source}` has no line {number}"), Known()
    beside = [value for row in around for value in readings_of(row)]
    curves = [_around(row, indexes_of(row, number)) for row in run.series if row.source == citation.source]
    known = Known(readings_of(text[0]), beside + _summaries(run, citation.source), curves[:MOST_CURVES])
    if not citation.quote.strip():
        return Opened(verified=False, why="nothing is quoted"), known
    if not _holds_quote(text[0], citation.quote):
        return _refuted(f"line {number} of `{citation.source}` says something else"), known
    return Opened(verified=True), known


def _in_cell(citation: Citation, run: Run) -> tuple[Opened, Known]:
    cell, around = run.cell_at(citation.source, citation.locator)
    if cell is None:
        return _refuted(f"`{citation.source}` has no {CELL.search(citation.locator)[0]}"), Known()  # type: ignore[index]
    curves = [_around(row, indexes_of(row, cell.file_line)) for row in run.series if row.source == citation.source]
    beside = [value for row in around for value in readings_of(row)]
    known = Known(readings_of(cell.text), beside + _summaries(run, citation.source), curves[:MOST_CURVES])
    if not citation.quote.strip():
        return Opened(verified=False, why="nothing is quoted"), known
    if not _holds_quote(cell.text, citation.quote):
        return _refuted(f"{cell.locator} of `{citation.source}` says something else"), known
    return Opened(verified=True), known


def _at_point(citation: Citation, point: re.Match[str], run: Run) -> tuple[Opened, Known]:
    axis, position, name = point.groups()
    rows = [row for row in run.series if row.source == citation.source and row.axis == axis]
    rows = [row for row in rows if name is None or name.strip(" `") in {row.name, row.original}]
    at = float(position)
    here = [float(row.values[index]) for row in rows for index in positions_of(row, at)[:4]]
    curves = [_around(row, positions_of(row, at)) for row in rows[:MOST_CURVES]]
    known = Known(here, [*_summaries(run, citation.source), *(value for curve in curves for value in curve)], curves)
    if not any(positions_of(row, float(position)) for row in rows):
        return _refuted(f"`{citation.source}` has no {axis} {position}" + (f" of {name}" if name else "")), known
    if not citation.quote.strip():
        return Opened(verified=False, why="nothing is quoted"), known
    quoted = NUMBER.fullmatch(citation.quote.strip())
    if quoted is None:
        return _refuted("a point of a series is quoted by its number alone"), known
    value = float(quoted.group().replace(",", "").replace("_", ""))
    if any(_holds(row, float(position), value) for row in rows):
        return Opened(verified=True), known
    return _refuted(f"no series of `{citation.source}` has {citation.quote} at {axis} {position}"), known


def _in_flight(citation: Citation, run: Run) -> tuple[Opened, Known]:
    """What a flight recorder's dump says of a rank's collectives."""
    said = [row.text for row in run.flights if row.source == citation.source]
    known = Known([value for text in said for value in readings_of(text)])
    if citation.quote.strip() and any(_folded(citation.quote) in _folded(text) for text in said):
        return Opened(verified=True), known
    return _refuted(f"the dump `{citation.source}` says something else"), known


def _somewhere(citation: Citation, run: Run) -> bool:
    """Whether the quote stands anywhere in the file, as far as it is searched."""
    wanted = _folded(citation.quote)
    with run.scope.open(citation.source) as handle:
        text = handle.read(MOST_SEARCHED).decode("utf-8", "replace")
    return any(wanted in _folded(line) for line in text.splitlines())


def _lost_places(citation: Citation, run: Run) -> str:
    """An epoch, step or line that the claim names and the file has not; empty when there is none."""
    cited = values_in(citation.locator)
    for axis, position in named_places(citation.claim):
        if position in cited or position in readings_of(citation.quote):
            continue
        if axis == "line":
            if citation.source.endswith(".ipynb"):
                continue  # of a cell, not of the file
            if not run.lines(citation.source, int(position), int(position)):
                return f"line {position:g}"
            continue
        rows = [row for row in run.series if row.axis == axis and len(row)]
        own = [row for row in rows if row.source == citation.source] or rows
        if own and not any(float(row.at.min()) <= position <= float(row.at.max()) for row in own):
            return f"{axis} {position:g}"
    return ""


def _summaries(run: Run, source: str) -> list[float]:
    """What is said of whole curves: where they begin and end, their extremes, their length."""
    known: list[float] = []
    for row in run.series:
        if row.source == source and len(row) and len(known) < 200:
            finite = [float(value) for value in (row.values[0], row.values[-1]) if math.isfinite(value)]
            good = row.values[abs(row.values) < math.inf]
            known += [*finite, float(len(row))] + ([float(good.min()), float(good.max())] if len(good) else [])
    return known


def _around(row: Series, indexes: Sequence[int]) -> list[float]:
    """What a claim may compare on one curve: the cited values, their neighbours, the ends and the extremes."""
    known: list[float] = []
    for index in indexes[:4]:
        known += [float(value) for value in row.values[max(0, index - NEIGHBOURS) : index + NEIGHBOURS + 1]]
    if not known:
        return []
    good = row.values[abs(row.values) < math.inf]
    ends = [float(good[0]), float(good[-1]), float(good.min()), float(good.max())] if len(good) else []
    return [*known, *ends]


def indexes_of(row: Series, line: int) -> list[int]:
    """Which points of a series were read from a line."""
    return [int(index) for index in (row.lines == line).nonzero()[0]] if len(row.lines) == len(row) else []


def positions_of(row: Series, position: float) -> list[int]:
    """Which points of a series stand at a position of its axis."""
    near = abs(row.at - position) <= 1e-9 * max(1.0, abs(position))
    return [int(index) for index in near.nonzero()[0]]


def _holds(row: Series, position: float, value: float) -> bool:
    here = [float(row.values[index]) for index in positions_of(row, position)]
    # A quote may be rounded to the digits a person would write, not to another value.
    return any((math.isnan(seen) and math.isnan(value)) or math.isclose(seen, value, rel_tol=5e-3) for seen in here)


def _holds_quote(line: str, quote: str) -> bool:
    """Whether a line holds a quote; a specialist may have seen the line with its secrets masked."""
    wanted = _folded(quote)
    if wanted in _folded(line) or _holds_each(line, quote):
        return True
    masked = "[masked:" in quote or "[user]" in quote
    return masked and wanted in _folded(Redactor(user_names="[user]" in quote).clean(line))


def _holds_each(text: str, quote: str) -> bool:
    """Whether the lines of a quote stand in a text in this order, each of them perhaps cut short."""
    left = iter([_folded(row) for row in text.split("\n")])
    rows = [_folded(row) for row in quote.split("\n")]
    return len(rows) > 1 and all(any(row in other for other in left) for row in rows if row)


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _refuted(why: str) -> Opened:
    return Opened(verified=False, why=why, refuted=True)


def _folded(text: str) -> str:
    return " ".join(text.split())
