"""A run as the tools see it: everything is read on first use and kept for the next tool."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import cached_property, partial
from pathlib import Path
from typing import BinaryIO, TypeVar, cast

from traindx.contract.remark import Notable
from traindx.definitions.rules import LogFormat, load_rules
from traindx.errors import DefinitionError
from traindx.readers import checkpoints, contents, trackers
from traindx.readers.checkpoints import Checkpoint, Weights
from traindx.readers.code import codebase
from traindx.readers.code import git as gitstate
from traindx.readers.code.cells import Cells, CellText
from traindx.readers.code.codeunit import CodeUnit
from traindx.readers.code.git import GitState
from traindx.readers.code.literals import code_settings
from traindx.readers.code.modules import files_behind
from traindx.readers.code.program import program_of
from traindx.readers.configs.settings import read_configuration
from traindx.readers.coverage import Covered, Limits
from traindx.readers.faults import Remarks
from traindx.readers.folder import discover
from traindx.readers.folder.progress import Progress, watched
from traindx.readers.ledger import HURRIED_SECONDS, Ledger, within
from traindx.readers.logs.attempts import Attempt
from traindx.readers.logs.errors import read_errors
from traindx.readers.logs.lines import LARGE, LineIndex, excerpt
from traindx.readers.logs.logfile import LogFile
from traindx.readers.logs.plaintext import PlainTexts
from traindx.readers.logs.ranks import ClusterFacts
from traindx.readers.logs.resumed import mark_resumed_at, resumed_at
from traindx.readers.model import LogError, Role, RunFile, Series, Setting, Unread
from traindx.readers.series.alike import mark_duplicates, mark_epochs
from traindx.readers.tables.arrays import ArrayInfo
from traindx.readers.tables.datatables import TableInfo
from traindx.readers.traces import flight, stacks
from traindx.readers.traces.stacks import Stack
from traindx.runtime.scope import Scope

_MOST_TRACKED = 2_000
# A hostile checkpoint is given up after 8 s, and dense YAML takes a second per MB; logs and tables stream.
_MOST_BYTES: dict[Role, int] = {"config": 8 << 20}
_TEXTS: frozenset[Role] = frozenset({"log", "metrics"})
Item = TypeVar("Item")
Reader = Callable[[BinaryIO, RunFile], list[Item]]


class Run:
    """What a run left behind. Nothing on disk makes reading it fail: what cannot be read becomes a remark.

    Of a log that several attempts wrote one is looked at: the last, or the one that the scope names.
    """

    def __init__(
        self,
        scope: Scope,
        progress: Progress | None = None,
        project: Path | None = None,
        limits: Limits | None = None,
    ) -> None:
        self.scope = scope
        self._ledger = Ledger(limits or Limits())
        self.project = project
        self._remark = Remarks()
        self._progress = progress
        self.texts = PlainTexts(scope.open, self._remark)
        self._indexes: dict[str, LineIndex | None] = {}
        self._logs: dict[str, LogFile] = {}
        self._cells: dict[str, Cells | None] = {}
        self._measured: dict[object, object] = {}

    @property
    def remarks(self) -> list[str]:
        """What was not understood, left out, thinned or truncated so far."""
        return self._remark.texts

    @property
    def unread(self) -> list[Unread]:
        """The files that could not be read so far."""
        return self._remark.unread

    @cached_property
    def files(self) -> list[RunFile]:
        """Every file worth knowing, by path."""
        found = discover.find_files(self.scope, self._remark)
        self._ledger.share_points([file for file in found if file.role in {"log", "metrics"}])
        if discover.is_overfull(found):
            self._ledger.hurry()
            self._remark(
                Notable(
                    f"more than {discover.MOST_FILES:,} logs, tables, programs and configurations: this is no folder of"
                    f" one run; each kind was read for {HURRIED_SECONDS:g} s and the rest left out. Give the folder of"
                    " one run"
                )
            )
        return found

    @cached_property
    def series(self) -> list[Series]:
        """Every metric over time."""
        logged = self._read("log", lambda handle, file: self._log(file).series(handle))
        tabled = self._read(
            "metrics", lambda handle, file: contents.table_series(handle, file, self._remark, self._ledger)
        )
        tracked = [series for found in self._tracked.values() for series in found.series]
        printed = self._of_code(self.code, lambda unit: contents.notebook_series(unit, self._remark))
        columnar = self._read("data", lambda handle, file: contents.parquet_series(handle, file, self._remark))
        found = sorted(logged + tabled + tracked + printed + columnar, key=lambda series: series.source)
        return mark_duplicates(mark_epochs(mark_resumed_at(found, self._resumptions())))

    def _resumptions(self) -> Iterator[tuple[str, str, float]]:
        """Where the logs that were read say at which step or epoch the run goes on: source, axis and count."""
        for path, log in self._logs.items():
            for line in log.resumed:
                point = resumed_at("".join(self.lines(path, line, line)))
                if point is not None:
                    yield path, *point

    @cached_property
    def settings(self) -> list[Setting]:
        """Every configuration value: from files made for it first, then from what logs print, then from code."""
        coded = self._of_code(
            self.program,
            lambda unit: [
                replace(setting, line=unit.file_line(setting.line)) for setting in code_settings(unit.tree, unit.path)
            ],
        )
        return self.settings_given + coded

    @cached_property
    def settings_given(self) -> list[Setting]:
        """The configuration values that do not stand in the code: from files, launch scripts and what logs print."""
        tracked = [setting for found in self._tracked.values() for setting in found.settings]
        printed = self._read("log", lambda handle, file: self._log(file).settings(handle))
        printed += self._read("metrics", contents.first_settings)
        launched = [
            setting
            for file in self.files
            for setting in self._remark.guarded(file.path, partial(contents.launch_settings, self.scope, file))
        ]
        return self._configured + tracked + launched + printed

    @cached_property
    def _configured(self) -> list[Setting]:
        return self._read("config", lambda handle, file: self._remark.said(read_configuration(handle, file.path)))

    @cached_property
    def errors(self) -> list[LogError]:
        """Errors and warnings in the order of the files, root before cascade within a file."""
        return self._logged_errors + self._of_code(self.code, contents.notebook_errors)

    @cached_property
    def cluster(self) -> list[ClusterFacts]:
        """What logs tell of the distributed job that wrote them; nothing of those that tell nothing."""
        found = self._read("log", lambda handle, file: [self._log(file).cluster(handle)])
        return [row for row in found if row.rank or row.job or row.ranks or row.launchers]

    @cached_property
    def flights(self) -> list[LogError]:
        """What flight recorders tell of the collectives of each rank, in the words of its watchdog."""
        return self._read(
            "trace", lambda handle, file: self._remark.said(flight.read_flight(handle, file.path, file.size))
        )

    @cached_property
    def stacks(self) -> list[Stack]:
        """Stacks of processes that were printed while they ran, one for each process."""
        found: list[Stack] = []
        for file in self.files:
            if file.role in {"log", "trace", "other", "output"} and 0 < file.size <= stacks.LARGEST:
                with self._remark.guarding(file.path), self.scope.open(file.path) as handle:
                    data = handle.read(stacks.LARGEST)
                    if any(sign in data for sign in stacks.SIGNS):
                        found += stacks.read_stacks(data.decode("utf-8", "replace"), file.path)
        return found

    @cached_property
    def code(self) -> list[CodeUnit]:
        """The Python files and notebooks, parsed, with what they contain; entry points and their imports first."""
        entries, listings = self._crashed_in(), self._listings
        allowance, guard = self._ledger.code(), self._remark.guarding
        read = partial(codebase.read_code, self.scope, self.files, entries, listings, allowance, guard=guard)
        return self._remark.guarded(".", lambda: self._remark.said(read()))

    @cached_property
    def program(self) -> list[CodeUnit]:
        """The code that ran, as far as it can be told from what merely lies in the folder."""
        return program_of(self.code, self._crashed_in(), self._configured)

    @cached_property
    def attempts(self) -> dict[str, tuple[Attempt, ...]]:
        """The attempts that wrote each log, by path: one in most of them."""
        _ = self._logged_errors
        return {path: log.attempts for path, log in self._logs.items()}

    def judged(self, path: str) -> Attempt:
        """The part of a log that is looked at: the whole of a file that one attempt wrote."""
        log = self._logs.get(path)
        return log.judged if log is not None and log.attempts else Attempt(1)

    @cached_property
    def _listings(self) -> dict[str, str]:
        """The programs that logs show of themselves, by path."""
        shown = self._read("log", lambda handle, file: [(file.path, self._log(file).code(handle))])
        return {path: text for path, text in shown if text}

    @cached_property
    def checkpoints(self) -> list[Checkpoint]:
        """Checkpoints, described without loading a tensor or running what a pickle holds."""
        empty = [checkpoints.empty(file.path) for file in self.files if file.role == "checkpoint" and not file.size]
        return empty + self._read(
            "checkpoint", lambda handle, file: contents.checkpoint(self.scope, handle, file, self._remark)
        )

    @cached_property
    def pickles(self) -> list[Checkpoint]:
        """Pickles among the data, described in the same way."""
        return self._read("data", contents.pickled_data, "pickles")

    @cached_property
    def weights(self) -> dict[str, Weights]:
        """The numbers inside the checkpoints, by path: the latest files first, as far as the bounds allow."""
        found: dict[str, Weights] = {}
        readable = [row for row in self.checkpoints if row.format in checkpoints.READABLE and row.tensors]
        for row in sorted(readable, key=lambda row: _natural(row.path), reverse=True):
            with self._remark.guarding(row.path), self.scope.open(row.path) as handle:
                allowance = self._ledger.allowance("weights", "checkpoints", "values", row.path)
                found[row.path] = checkpoints.read_weights(handle, row, allowance=allowance)
                if found[row.path].tensors and not found[row.path].whole:
                    self._remark(
                        f"`{row.path}`: only part of its values were searched for NaN and Inf,"
                        " spread over every tensor, their ends included"
                    )
        return found

    @cached_property
    def arrays(self) -> list[ArrayInfo]:
        """Arrays among the data, with their ranges."""
        return self._read("data", lambda handle, file: contents.array_ranges(handle, file, self._remark, self._ledger))

    @cached_property
    def tables(self) -> list[TableInfo]:
        """Tables of samples among the data."""
        return self._read("data", lambda handle, file: contents.sample_table(handle, file, self._remark, self._ledger))

    @property
    def coverage(self) -> list[Covered]:
        """How much of what there is has been read so far."""
        return self._ledger.coverage.rows()

    @cached_property
    def git(self) -> list[GitState]:
        """The states of the code that the folder tells of."""
        return self._remark.said(gitstate.read_git(self.scope, self.files))

    def once(self, measure: Callable[[Sequence[Series]], Item]) -> Item:
        """What a function says of all series, measured once per run."""
        if measure not in self._measured:
            self._measured[measure] = measure(self.series)
        return cast("Item", self._measured[measure])

    def kept(self, name: str, make: Callable[[], Item]) -> Item:
        """What was made of this run under a name, made on first use and kept for the next tool."""
        if name not in self._measured:
            self._measured[name] = make()
        return cast("Item", self._measured[name])

    def lines(self, path: str, first: int, last: int) -> list[str]:
        """Lines `first` to `last` (from 1, both included) of a file, as far as it has them; without colours."""
        first = max(first, 1)
        with self.texts.open(path) as handle:
            base = self._seek_line(handle, path, first)
            return excerpt(handle, first - base + 1, last - base + 1)

    def cell_at_line(self, path: str, line: int, quote: str = "") -> CellText | None:
        """The line of a notebook's cell that stands in a line of its file; None where the file is no notebook."""
        cells = self._cells_of(path)
        return cells.at_file_line(line, quote) if cells is not None else None

    def cell_at(self, path: str, locator: str) -> tuple[CellText | None, list[str]]:
        """The line of a notebook's cell that a locator names, and what stands around it."""
        cells = self._cells_of(path)
        return cells.at_locator(locator) if cells is not None else (None, [])

    def _cells_of(self, path: str) -> Cells | None:
        if not path.endswith(".ipynb"):
            return None
        if path not in self._cells:
            notebook = next((unit.notebook for unit in self.code if unit.path == path), None)
            self._cells[path] = Cells(notebook) if notebook is not None else None
        return self._cells[path]

    def _seek_line(self, handle: BinaryIO, path: str, line: int) -> int:
        """Go to an indexed line before the wanted one, where the file is large; the number of that line."""
        index = self._index_of(handle, path)
        number, offset = index.before(line) if index is not None else (1, 0)
        handle.seek(offset)
        return number

    def seek_byte(self, handle: BinaryIO, path: str, offset: int) -> int:
        """Go to a byte of a text file that `texts` has opened; the number of the line it stands in."""
        index = self._index_of(handle, path)
        number, begin = index.before_byte(offset) if index is not None else (1, 0)
        handle.seek(begin)
        while begin < offset and (piece := handle.read(min(offset - begin, 1 << 20))):
            number += piece.count(b"\n")
            begin += len(piece)
        return number

    def _index_of(self, handle: BinaryIO, path: str) -> LineIndex | None:
        if path not in self._indexes:
            large = handle.seek(0, os.SEEK_END) >= LARGE
            handle.seek(0)
            self._indexes[path] = LineIndex(handle) if large else None
        return self._indexes[path]

    def _log(self, file: RunFile) -> LogFile:
        if file.path not in self._logs:
            allowance = partial(self._ledger.bytes_of, file)
            self._logs[file.path] = LogFile(
                file.path, self._remark, self._formats, self.texts.open, allowance, self.scope.attempt
            )
        return self._logs[file.path]

    @cached_property
    def _logged_errors(self) -> list[LogError]:
        printed = self._read("log", lambda handle, file: self._log(file).errors(handle), "errors")
        return printed + self._read("metrics", self._recorded_errors, "errors")

    def _recorded_errors(self, handle: BinaryIO, file: RunFile) -> list[LogError]:
        """The errors among records in JSON lines."""
        begins_record = handle.read(1) == b"{" and not file.path.lower().endswith(".json")
        handle.seek(0)
        if not begins_record:
            return []
        return read_errors(handle, file.path, self._remark, None, self._ledger.bytes_of(file, "errors"))

    @cached_property
    def _tracked(self) -> dict[str, trackers.Found]:
        """What the files of experiment trackers hold, by path."""
        found: dict[str, trackers.Found] = {}
        for file in [file for file in self.files if trackers.worth_a_look(file.path, file.role)][:_MOST_TRACKED]:
            with self._remark.guarding(file.path), self.scope.open(file.path) as handle:
                kind = trackers.recognise(file.path, handle.read(trackers.HEAD))
                if kind is not None:
                    handle.seek(0)
                    found[file.path] = trackers.read(kind, watched(handle, file, self._progress), file.path)
                    for remark in found[file.path].remarks:
                        self._remark(f"`{file.path}`: {remark}")
        return found

    def _crashed_in(self) -> set[str]:
        """The code files of the run that stand in a logged traceback: whatever else is true, they were running."""
        named = {frame for log_error in self._logged_errors for frame, _ in log_error.frames}
        return files_behind(named, self.files)

    @cached_property
    def _formats(self) -> list[LogFormat]:
        """The forms of lines that the project declares."""
        try:
            return load_rules(LogFormat, self.project)
        except DefinitionError as error:
            self._remark(f"the project's log formats were not used: {error}")
            return []

    def _of_code(self, units: Sequence[CodeUnit], read: Callable[[CodeUnit], list[Item]]) -> list[Item]:
        """What a reader finds in programs and notebooks."""
        return [item for unit in units for item in self._remark.guarded(unit.path, partial(read, unit))]

    def _read(self, role: Role, reader: Reader[Item], kind: str = "") -> list[Item]:
        """What a reader finds in every file of a role, in the order of their paths."""
        offered = [file for file in self.files if file.role == role and file.size and file.path not in self._tracked]
        chosen = within(offered, self._ledger.limits.files[role], _MOST_BYTES.get(role))
        found: dict[str, list[Item]] = {}
        for file in self._ledger.in_turn(chosen, role, kind or role):
            with self._remark.guarding(file.path), self.scope.open(file.path) as handle:
                text = watched(handle, file, self._progress)
                if role in _TEXTS:
                    text = self.texts.over(text, file.path)
                    self._ledger.leave_out(file, *self.texts.left_out(file.path))
                found[file.path] = reader(text, file)
        self._ledger.files(role, offered, found)
        if len(found) < len(offered) and len(chosen) < len(offered):
            self._remark(f"{len(chosen):,} of {len(offered):,} {role} files were read, those closest to the top")
        return [item for file in chosen for item in found.get(file.path, ())]


def _natural(path: str) -> list[tuple[int, str]]:
    """A key by which `step-900` comes before `step-1000`."""
    return [(int(part), "") if part.isdecimal() else (-1, part) for part in re.split(r"(\d{1,18})", path)]
