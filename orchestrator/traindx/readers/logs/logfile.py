"""One text log as what it is: without the program printed into it, and split into the attempts that wrote it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, BinaryIO

from traindx.definitions.rules import LogFormat
from traindx.readers.coverage import Allowance
from traindx.readers.faults import Remarks
from traindx.readers.folder.listings import Listing, code_of, find_listings
from traindx.readers.folder.parts import Part, lines_of, without_listings
from traindx.readers.logs.attempts import Attempt, find_attempts
from traindx.readers.logs.clock import Clock, read_clock
from traindx.readers.logs.errors import read_errors
from traindx.readers.logs.formats import read_formatted
from traindx.readers.logs.logsettings import read_log_settings
from traindx.readers.logs.ranks import ClusterFacts, read_cluster
from traindx.readers.logs.resumed import mark_resumed
from traindx.readers.logs.textlog import read_log
from traindx.readers.model import LogError, Series, Setting
from traindx.readers.tables.plaintable import read_plain

if TYPE_CHECKING:
    from traindx.readers.model import LineNumbers, Numbers

Opens = Callable[[str], AbstractContextManager[BinaryIO]]


@dataclass
class LogFile:
    """What a log holds, each read on first use; `handle` is the open file whenever something is asked."""

    path: str
    remark: Remarks
    formats: Sequence[LogFormat]
    opens: Opens
    allowance: Callable[[str], Allowance] = lambda kind: Allowance()  # noqa: ARG005
    """what it may take of the time for a kind of reading"""
    wanted: int | None = None
    """the attempt that is judged, from 1; the last one where none is asked for"""
    attempts: tuple[Attempt, ...] = ()
    listings: tuple[Listing, ...] = ()
    _part: Part | None = None
    _series: list[Series] = field(default_factory=list)
    _is_table: bool = False
    """whether its numbers stand in plain columns, or in the form that the project declares"""
    _errors: list[LogError] | None = None
    _resumed: list[int] = field(default_factory=list)
    _clock: Clock | None = None

    def series(self, handle: BinaryIO) -> list[Series]:
        """The metrics of the attempt that is judged."""
        self.errors(handle)  # hears of resumptions on its way
        if self._is_table:
            return self._series
        return [replace(row, clock=self._written_at) for row in mark_resumed(self._series, self._resumed)]

    def errors(self, handle: BinaryIO) -> list[LogError]:
        """Its errors and warnings."""
        if self._errors is None:
            part = self._settle(handle)
            allowance = self._allowance("errors", part)
            found = read_errors(part.view(handle), self.path, self.remark, self._resumed.append, allowance)
            ahead = part.first - 1
            self._errors = [
                replace(
                    row,
                    line=row.line + ahead,
                    last_line=row.last_line and row.last_line + ahead,
                    follows=row.follows and row.follows + ahead,
                )
                for row in found
            ]
            self._resumed = [line + part.first - 1 for line in self._resumed]
        return self._errors

    @property
    def resumed(self) -> Sequence[int]:
        """The lines in which the run says that it goes on from a checkpoint, once its errors were read."""
        return self._resumed

    def settings(self, handle: BinaryIO) -> list[Setting]:
        """The settings that it prints before it trains."""
        part = self._settle(handle)
        return [replace(row, line=row.line + part.first - 1) for row in read_log_settings(part.view(handle), self.path)]

    def cluster(self, handle: BinaryIO) -> ClusterFacts:
        """What it tells of the job that wrote it."""
        return read_cluster(self._settle(handle).view(handle), self.path)

    def code(self, handle: BinaryIO) -> str:
        """The program that the attempt printed, or the log as a whole, each line where it stands in the file."""
        part = self._settle(handle)
        end = part.end if part.end is not None else float("inf")
        first = self.judged.first if self.attempts else 1
        own = [listing for listing in self.listings if first <= listing.first and listing.end <= end]
        earlier = [listing for listing in self.listings if listing.end <= end]
        return code_of(handle, own or earlier[-1:])

    @property
    def judged(self) -> Attempt:
        """The attempt that is looked at."""
        place = len(self.attempts) if self.wanted is None else min(max(self.wanted, 1), len(self.attempts))
        return self.attempts[place - 1]

    def _settle(self, handle: BinaryIO) -> Part:
        """Find out what the file is made of, once; what was read for that is kept."""
        if self._part is not None:
            return self._part
        self.listings = tuple(find_listings(handle))
        whole = part = without_listings(handle, self.listings)
        self._series = self._read_series(handle, part)
        self.attempts = self._found_attempts(handle, part)
        if len(self.attempts) > 1:
            part = lines_of(handle, whole, self.judged.first, self.judged.last)
            self._series = self._read_series(handle, part)
            place = self.attempts.index(self.judged) + 1
            which = "the last" if place == len(self.attempts) else f"number {place}"
            what = "runs one after another" if self.judged.repeat else "attempts"
            self.remark(
                f"`{self.path}` holds {len(self.attempts)} {what}, started at lines"
                f" {', '.join(str(row.first) for row in self.attempts[:10])}: {which} was judged"
            )
        self._part = part
        return part

    def _found_attempts(self, handle: BinaryIO, part: Part) -> tuple[Attempt, ...]:
        ahead = part.first - 1
        inside = [replace(row, lines=row.lines - ahead) for row in self._series] if ahead else self._series
        found = find_attempts(part.view(handle), inside, [row.first - ahead for row in part.listings])
        return tuple(replace(row, first=row.first + ahead, last=row.last and row.last + ahead) for row in found)

    def _read_series(self, handle: BinaryIO, part: Part) -> list[Series]:
        view = part.view(handle)
        allowance = self._allowance("series", part)
        plain = read_plain(view, self.path, allowance)
        view.seek(0)
        found = self.remark.said(read_formatted(view, self.path, self.formats)) if plain is None else plain
        self._is_table = plain is not None or bool(found)
        if not self._is_table:
            found = self.remark.said(read_log(part.view(handle), self.path, allowance))
        return [replace(row, lines=row.lines + (part.first - 1)) for row in found] if part.first > 1 else found

    def _allowance(self, kind: str, part: Part) -> Allowance:
        """The allowance of the file; how much of it was read is told by who reads it to its end."""
        given = self.allowance(kind)
        return given if part.end is None and len(self.attempts) < 2 else Allowance(given.timer, points=given.points)

    def _written_at(self, lines: LineNumbers) -> Numbers | None:
        part = self._part or Part()
        if self._clock is None:
            with self.opens(self.path) as handle:
                self._clock = read_clock(part.view(handle))
        return self._clock.at(lines - (part.first - 1))
