"""Which of the errors that a run printed came first: roots before cascades, and nothing that the run survived."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache

import numpy as np

from traindx.definitions.rules import ErrorPattern, ErrorRole
from traindx.detectors.curves.completion import NOT_OVER, OVER
from traindx.detectors.curves.objective import Objective
from traindx.detectors.errors import meaning
from traindx.detectors.errors.others import of_others
from traindx.detectors.errors.telling import is_installed
from traindx.readers.logs.ranks import job_in_name, rank_in_name
from traindx.readers.model import Excerpt, LogError, Series
from traindx.vocabulary.collectives import COLLECTIVE

_NAMED = r"(?:^|[\s:\]])([A-Za-z_][\w.]*(?:Error|Exception|Interrupt|Exit|Failure|Iteration))\b"
EXCEPTION = re.compile(_NAMED + r"|^(?:\S{1,40} )?(Exception)\b")
_OF_MODULE = re.compile(r"(?:^|[\]:] )(?:[a-z_]\w{0,60}\.){1,8}(?:[A-Z]\w{1,60}|error)(?::|$)")
"""an exception whose name does not say that it is one: `triton.runtime.errors.OutOfResources`, `cv2.error`"""
RECORDS = 2
"""values of one series after an error that show the run going on: a progress bar repeats its last one as it closes"""
LINGERS = 60
"""lines with values that a run may log after the scheduler's word: Slurm waits 30 s between SIGTERM and SIGKILL"""
MOST_ECHOES = 16
NEAR = 200
"""lines between a cause and the error that ended an attempt: tracebacks of several processes stand between"""
_BARE = re.compile(_NAMED + r"(?::|\s{0,4}$)")
"""an exception's line by itself: a program that catches what it meets prints no more than that"""
_LIBRARY = re.compile(r"\b(?:NCCL|RCCL|HCCL|Gloo) error in\b", re.IGNORECASE)
"""how an error of a communication library begins, whose next lines say what it was"""
_STAMP = re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d{1,9})?")


@dataclass(frozen=True)
class Reading:
    """An error, the family it belongs to, and what its line says in numbers and names."""

    row: LogError
    family: ErrorPattern | None = None
    facts: Mapping[str, str] = field(default_factory=dict)
    survived: bool = False
    inferred: bool = False
    """whether the family is known by clues, not by its words"""
    first: int = 0
    """the line in which its words were printed first, where it ended an earlier attempt of the run as well"""

    @property
    def role(self) -> ErrorRole | None:
        """What it can be; an exception of no family with a traceback can be a root, any other line is nothing."""
        if self.family is not None:
            return self.family.role
        raised = EXCEPTION.search(self.row.text) or _OF_MODULE.search(self.row.text)
        return "root" if self.row.frames and raised else None

    @property
    def bare(self) -> bool:
        """Whether it is the line of an exception of no family, without its traceback."""
        return self.family is None and not self.row.frames and _BARE.search(self.row.text) is not None

    @property
    def rank(self) -> int | None:
        """The process that printed it, as the line or the file's name says."""
        named = rank_in_name(self.row.source) if self.row.rank is None else None
        return named.number if named is not None else self.row.rank


class Logged:
    """Where in each file a run went on logging values."""

    def __init__(self, series: Iterable[Series], goal: Objective | None, tails: Iterable[Excerpt] = ()) -> None:
        self._over = {tail.source: line for tail in tails if (line := _line_of_end(tail))}
        stretches: dict[str, list[tuple[int, int]]] = {}
        series = list(series)
        self.began = goal is not None
        ends: dict[str, set[int]] = {}
        for one in series:
            if one.place == "line" and not one.parts:
                ends.setdefault(one.source, set()).update(np.unique(one.lines[-16:])[-RECORDS:].tolist())
        rows: dict[str, set[int]] = {}
        for one in series:
            if one.place == "line" and not one.parts:
                rows.setdefault(one.source, set()).update(one.lines[-5 * LINGERS :].tolist())
        self._last = {source: sorted(lines)[-5 * LINGERS :] for source, lines in rows.items()}
        self._ends = {source: sorted(lines)[-RECORDS] for source, lines in ends.items() if len(lines) >= RECORDS}
        plain = [one for one in series if one.place == "line" and len(one) > RECORDS and not one.parts]
        for one in plain:
            stretches.setdefault(one.source, []).append(_stretch(one.lines, int(one.lines[0])))
        if goal is not None and len(goal) >= RECORDS and goal.series.place == "line":
            # The curve that the run is judged by shows it going on even where the error came before all its values.
            last = goal.series.source_at(len(goal) - 1)
            own = np.array([row for place, row in enumerate(goal.series.lines) if goal.series.source_at(place) == last])
            if len(own) >= RECORDS:
                stretches.setdefault(last, []).append(_stretch(own, 0))
        # Where the files of several jobs were put together, the later job went on from what ended the earlier one.
        parts = [source for _, source in goal.series.parts] if goal is not None else []
        self._earlier = (frozenset(parts[:-1]) - set(parts[-1:])) | _resumed_jobs(plain)
        self._stretches = {source: np.array(rows) for source, rows in stretches.items()}

    def outlived(self, row: LogError, family: ErrorPattern | None) -> bool:
        """Whether the run came to its end all the same: it says so later, or said so before a part of it was torn down.

        The main program's traceback begins in the user's file; one of libraries alone is a thread's or an exit hook's.
        """
        over = self._over.get(row.source, 0)
        if not over:
            return False
        if row.line < over:
            return row.last_line < over
        return is_installed(row.frames) if row.frames else family is None

    def after(self, source: str, line: int) -> bool:
        """Whether a series that the file had before goes on after the line, or in the file of a later job."""
        rows = self._stretches.get(source)
        return source in self._earlier or (rows is not None and bool(((rows[:, 0] < line) & (line < rows[:, 1])).any()))

    def lingers(self, source: str, line: int) -> bool:
        """Whether few lines with values follow: as many as a run logs between being told to end and being killed."""
        rows = self._last.get(source, [])
        after = sum(row > line for row in rows)
        return source not in self._earlier and after <= min(LINGERS, (len(rows) - after) // 4)

    def began_without(self, row: LogError) -> bool:
        """Whether the run logged values, and the line does not stand behind all that its own file has."""
        return self.began and not (self._last.get(row.source) and row.line > self._last[row.source][-1])

    def goes_on(self, source: str, line: int) -> bool:
        """Whether values of any series stand in lines after it, or in the file of a later job."""
        return source in self._earlier or self._ends.get(source, 0) > line


def _line_of_end(tail: Excerpt) -> int:
    """The last line in which the run says that its work is done; 0 where none does."""
    said = [n for n, text in tail.numbered() if OVER.search(text[:400]) and not NOT_OVER.search(text[:400])]
    return said[-1] if said else 0


def _resumed_jobs(series: Sequence[Series]) -> frozenset[str]:
    """Files of jobs that a later job took up: one of their series goes on in its file."""
    numbered = [(one, number) for one in series if (number := job_in_name(one.source)) is not None]
    by_name: dict[str, list[tuple[Series, int]]] = {}
    for one, number in numbered:
        by_name.setdefault(one.name, []).append((one, number))
    return frozenset(
        earlier.source
        for rows in by_name.values()
        for earlier, first in rows
        for later, second in rows
        if second > first and earlier.at[0] < later.at[0] <= earlier.at[-1] < later.at[-1]
    )


def _stretch(lines: np.ndarray[tuple[int, ...], np.dtype[np.int64]], first: int) -> tuple[int, int]:
    """The line of the first value, and that of the last value but one: several values may share a line."""
    distinct = np.unique(lines[-1_000:])
    return first, int(distinct[-RECORDS]) if len(distinct) >= RECORDS else 0


def read(errors: Iterable[LogError], patterns: Sequence[ErrorPattern], logged: Logged | None) -> list[Reading]:
    """What each of the errors is."""
    families = [family for family in patterns if family.role != "warning"]
    rows = list(_without_echoes(errors))
    foreign = of_others(rows)
    return [_reading(row, families, logged, foreign=id(row) in foreign) for row in rows]


def _without_echoes(errors: Iterable[LogError]) -> Iterator[LogError]:
    """All but what hundreds of ranks say in the same words when a collective hangs."""
    heard = 0
    for row in errors:
        heard += COLLECTIVE.search(row.text) is not None
        if heard <= MOST_ECHOES or COLLECTIVE.search(row.text) is None:
            yield row


def _reading(row: LogError, patterns: Sequence[ErrorPattern], logged: Logged | None, *, foreign: bool) -> Reading:
    went_on, first = logged is not None and logged.after(row.source, row.line), 0
    if went_on and logged is not None and row.last_line and not logged.after(row.source, row.last_line):
        went_on, first, row = False, row.line, replace(row, line=row.last_line)  # survived at first, not in the end
    family, facts = _family_of(row.text, row.code, tuple(patterns))
    if went_on and logged is not None and family is not None and family.lingers:
        went_on = not logged.lingers(row.source, row.line)
    if row.more and (family is None or _LIBRARY.search(row.text)):
        # Of a message of several lines the first may say no more than that something failed.
        family, facts = _family_of_lines(row.more.split("\n"), patterns, (family, facts))
    outlived = logged is not None and (
        logged.outlived(row, family) or (family is not None and family.before_start and logged.began_without(row))
    )
    survived = row.ignored or foreign or went_on or outlived or (family is not None and family.role == "survived")
    asked = family is None or family.role == "root"
    by_clues = meaning.family_of(row, patterns, first=family is not None) if asked else None
    if by_clues is not None and by_clues is not family:
        return Reading(row, by_clues, {}, survived, inferred=True, first=first)
    return Reading(row, family, facts, survived, first=first)


def _family_of_lines(
    lines: Sequence[str], patterns: Sequence[ErrorPattern], first: tuple[ErrorPattern | None, Mapping[str, str]]
) -> tuple[ErrorPattern | None, Mapping[str, str]]:
    """What the further lines of a message name: a root, or a cascade that says more than a lost peer."""
    asked: tuple[ErrorRole, ...] = ("root",) if first[0] is None or first[0].role != "teardown" else ("root", "cascade")
    for role in asked:
        naming = tuple(one for one in patterns if one.role == role)
        for line in lines:
            found = _family_of(line, "", naming)
            if found[0] is not None:
                return found
    return first


@lru_cache(maxsize=8_192)
def _family_of(
    text: str, code: str, patterns: tuple[ErrorPattern, ...]
) -> tuple[ErrorPattern | None, Mapping[str, str]]:
    """The first family that a line belongs to, and the facts it names; several tools ask about the same lines."""
    for family in patterns:
        facts = family.found_in(text, code)
        if facts is not None:
            return family, facts
    return None, {}


def first_cause(readings: Sequence[Reading]) -> Reading | None:
    """The error that came first: a root, or where there is none, what else names a cause."""
    living = [one for one in readings if not one.survived]
    roots = [one for one in living if one.role == "root"]
    if not roots and any(one.role in {"cascade", "teardown"} for one in living):
        # One process of several fell; the others went on for a few steps before they noticed.
        roots = [one for one in readings if one.role == "root" and one.row.frames and one.rank is not None][-1:]
        roots = roots or _of_an_earlier_attempt(living, readings)
    bare = [one for one in living if one.bare]
    candidates = _heads(roots) or bare or [one for one in living if one.role == "cascade"]
    if not candidates:
        return None
    blamed = {one.row.rank for one in readings if one.row.rank is not None and _tells_first(one)}
    chosen = min(candidates, key=_order(candidates, blamed))
    before = chosen.family.follows if chosen.family is not None else ()
    chosen = next((one for one in candidates if one.family is not None and one.family.name in before), chosen)
    if not _tells_first(chosen):
        return chosen
    # The launcher repeats how a process ended; what the process printed of it itself says more.
    itself = (one for one in candidates if one.family is chosen.family and not _tells_first(one) and one.rank is None)
    return next(itself, chosen)


def _of_an_earlier_attempt(living: Sequence[Reading], readings: Sequence[Reading]) -> list[Reading]:
    """Where the run was started again and ended with the same words, what came right before them the first time."""
    again = [one for one in living if one.first]
    return [
        root
        for root in readings
        if root.role == "root"
        and any(root.row.source == one.row.source and one.first - NEAR <= root.row.line < one.first for one in again)
    ]


def _tells_first(one: Reading) -> bool:
    """Whether it is the row of a launcher's summary that names the process which failed first."""
    return one.row.text.lstrip().startswith("exitcode")


def _heads(roots: Sequence[Reading]) -> list[Reading]:
    """Of exceptions that were raised one from another, the first that is known, or else the first."""
    chains: list[list[Reading]] = []
    for one in roots:
        if one.row.follows and chains and _same_process(chains[-1][-1], one):
            chains[-1].append(one)
        else:
            chains.append([one])
    return [min(chain, key=lambda one: (one.family is None, one.inferred)) for chain in chains]


def _same_process(earlier: Reading, later: Reading) -> bool:
    return (earlier.row.source, earlier.row.rank) == (later.row.source, later.row.rank)


def _order(candidates: Sequence[Reading], blamed: Collection[int | None]) -> _Key:
    return _Key(
        blamed,
        one_file=len({one.row.source for one in candidates}) == 1,
        timed=all(_STAMP.search(one.row.text) for one in candidates),
    )


@dataclass(frozen=True)
class _Key:
    """Orders errors: the process that the launcher blames, then time, then what is known, then the place."""

    blamed: Collection[int | None]
    one_file: bool
    timed: bool

    def __call__(self, one: Reading) -> tuple[bool, str, int, str, int]:
        stamp = _STAMP.search(one.row.text)
        time = stamp[0].replace("T", " ").replace(",", ".") if stamp and self.timed and not self.one_file else ""
        known = 0 if self.one_file else one.family.rank if one.family else 1_000
        return one.rank not in self.blamed, time, known, one.row.source, one.row.line
