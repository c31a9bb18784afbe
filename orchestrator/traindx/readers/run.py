"""A run as the tools see it: everything is read on first use and kept for the next tool."""

from __future__ import annotations

import io
import os
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import cached_property, partial
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, BinaryIO, TypeVar, cast

from traindx.definitions.rules import LogFormat, load_rules
from traindx.errors import DefinitionError, UnreadableInput
from traindx.readers import checkpoints, trackers
from traindx.readers.checkpoints import Checkpoint, Weights
from traindx.readers.code import codebase
from traindx.readers.code import git as gitstate
from traindx.readers.code.codebase import CodeUnit
from traindx.readers.code.git import GitState
from traindx.readers.code.literals import code_settings
from traindx.readers.configs.pairs import launch_options
from traindx.readers.configs.settings import read_configuration
from traindx.readers.configs.values import is_secret
from traindx.readers.coverage import Covered, Limits
from traindx.readers.folder import discover
from traindx.readers.folder.progress import Progress, watched
from traindx.readers.folder.recognise import recognise
from traindx.readers.ledger import Ledger, within
from traindx.readers.logs.clock import Clock, read_clock
from traindx.readers.logs.errors import read_errors
from traindx.readers.logs.formats import read_formatted
from traindx.readers.logs.lines import LARGE, LineIndex, excerpt, is_indexable
from traindx.readers.logs.logsettings import read_log_settings
from traindx.readers.logs.ranks import ClusterFacts, read_cluster
from traindx.readers.logs.resumed import mark_resumed
from traindx.readers.logs.textlog import read_log
from traindx.readers.model import LogError, Role, RunFile, Series, Setting
from traindx.readers.series.alike import mark_duplicates, mark_epochs
from traindx.readers.tables import arrays, datatables, table
from traindx.readers.tables.arrays import ArrayInfo
from traindx.readers.tables.csvtable import read_csv
from traindx.readers.tables.datatables import TableInfo
from traindx.readers.tables.parquet import read_parquet
from traindx.readers.tables.plaintable import read_plain
from traindx.runtime.scope import Scope

if TYPE_CHECKING:
    from traindx.readers.model import LineNumbers, Numbers

_HEAD = 16 << 10
_SHELL = (".sh", ".sbatch", ".slurm", ".bash")
_LARGEST_SHELL = 256 << 10
_MOST_TRACKED = 2_000
# A hostile checkpoint is given up after 8 s, and dense YAML takes a second per MB; logs and tables stream.
_MOST_BYTES: dict[Role, int] = {"config": 8 << 20}
_PICKLES = frozenset({".pkl", ".pickle", ".p", ".joblib"})
Item = TypeVar("Item")
Reader = Callable[[BinaryIO, RunFile], list[Item]]

FIRST_RECORDS = 3
"""records of a history in which a run may print its settings"""


class Run:
    """What a run left behind. Nothing on disk makes reading it fail: what cannot be read becomes a remark."""

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
        self.remarks: list[str] = []
        self._progress = progress
        self._indexes: dict[str, LineIndex | None] = {}
        self._resumed: dict[str, list[int]] = {}
        self._clocks: dict[str, Clock] = {}
        self._measured: dict[object, object] = {}

    @cached_property
    def files(self) -> list[RunFile]:
        """Every file worth knowing, by path."""
        found = discover.find_files(self.scope, self._remark)
        return [file for file in found if file.path not in self.scope.without]

    @cached_property
    def series(self) -> list[Series]:
        """Every metric over time."""
        self._ledger.share_points([file for file in self.files if file.role in {"log", "metrics"}])
        logged = self._read("log", self._log_series)
        tabled = self._read("metrics", self._table_series)
        tracked = [series for found in self._tracked.values() for series in found.series]
        printed = [series for unit in self.code for series in self._notebook_series(unit)]
        columnar = self._read("data", self._parquet_series)
        found = sorted(logged + tabled + tracked + printed + columnar, key=lambda series: series.source)
        return mark_duplicates(mark_epochs(found))

    @cached_property
    def settings(self) -> list[Setting]:
        """Every configuration value: from files made for it first, then from what logs print, then from code."""
        configured = self._read("config", lambda handle, file: self._said(read_configuration(handle, file.path)))
        tracked = [setting for found in self._tracked.values() for setting in found.settings]
        printed = self._read("log", lambda handle, file: read_log_settings(handle, file.path))
        printed += [row for row in self._read("metrics", _printed_first) if row.line <= FIRST_RECORDS]
        launched = [setting for file in self.files for setting in self._launch_settings(file)]
        coded = [
            replace(setting, line=unit.file_line(setting.line))
            for unit in self.code
            for setting in code_settings(unit.tree, unit.path)
        ]
        return configured + tracked + launched + printed + coded

    @cached_property
    def errors(self) -> list[LogError]:
        """Errors and warnings in the order of the files, root before cascade within a file."""
        return self._logged_errors + [log_error for unit in self.code for log_error in _notebook_errors(unit)]

    @cached_property
    def cluster(self) -> list[ClusterFacts]:
        """What logs tell of the distributed job that wrote them; nothing of those that tell nothing."""
        found = self._read("log", lambda handle, file: [read_cluster(handle, file.path)])
        return [row for row in found if row.rank or row.job or row.ranks or row.launchers]

    @cached_property
    def code(self) -> list[CodeUnit]:
        """The Python files and notebooks, parsed, with what they contain; entry points and their imports first."""
        return self._said(codebase.read_code(self.scope, self.files, self._crashed_in(), self._ledger.code()))

    @cached_property
    def checkpoints(self) -> list[Checkpoint]:
        """Checkpoints, described without loading a tensor or running what a pickle holds."""
        return self._read("checkpoint", self._checkpoint)

    @cached_property
    def weights(self) -> dict[str, Weights]:
        """The numbers inside the checkpoints, by path: the latest files first, as far as the bounds allow."""
        found: dict[str, Weights] = {}
        readable = [row for row in self.checkpoints if row.format in checkpoints.READABLE and row.tensors]
        for row in sorted(readable, key=lambda row: _natural(row.path), reverse=True):
            with self._remarked(row.path), self.scope.open(row.path) as handle:
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
        return self._read("data", self._arrays)

    @cached_property
    def tables(self) -> list[TableInfo]:
        """Tables of samples among the data."""
        return self._read("data", self._table)

    @property
    def coverage(self) -> list[Covered]:
        """How much of what there is has been read so far."""
        return self._ledger.coverage.rows()

    @cached_property
    def git(self) -> list[GitState]:
        """The states of the code that the folder tells of."""
        return self._said(gitstate.read_git(self.scope, self.files))

    def once(self, measure: Callable[[Sequence[Series]], Item]) -> Item:
        """What a function says of all series, measured once per run."""
        if measure not in self._measured:
            self._measured[measure] = measure(self.series)
        return cast("Item", self._measured[measure])

    def lines(self, path: str, first: int, last: int) -> list[str]:
        """Lines `first` to `last` (from 1, both included) of a file, as far as it has them; without colours."""
        first = max(first, 1)
        with self.scope.open(path) as handle:
            base = self._seek_line(handle, path, first)
            return excerpt(handle, first - base + 1, last - base + 1)

    def _seek_line(self, handle: BinaryIO, path: str, line: int) -> int:
        """Go to an indexed line before the wanted one, where the file is large; the number of that line."""
        if path not in self._indexes:
            large = handle.seek(0, os.SEEK_END) >= LARGE
            handle.seek(0)
            indexable = large and is_indexable(handle.read(2))
            handle.seek(0)
            self._indexes[path] = LineIndex(handle) if indexable else None
        index = self._indexes[path]
        number, offset = index.before(line) if index is not None else (1, 0)
        handle.seek(offset)
        return number

    @property
    def _resumptions(self) -> dict[str, list[int]]:
        """The lines in which logs say that they go on from a checkpoint, by path; found while errors are looked for."""
        _ = self._logged_errors
        return self._resumed

    @cached_property
    def _logged_errors(self) -> list[LogError]:
        def read(handle: BinaryIO, file: RunFile) -> list[LogError]:
            resumed = self._resumed.setdefault(file.path, []).append
            return read_errors(handle, file.path, self._remark, resumed, self._ledger.bytes_of(file, "errors"))

        return self._read("log", read, "errors")

    @cached_property
    def _tracked(self) -> dict[str, trackers.Found]:
        """What the files of experiment trackers hold, by path."""
        found: dict[str, trackers.Found] = {}
        for file in [file for file in self.files if trackers.worth_a_look(file.path, file.role)][:_MOST_TRACKED]:
            with self._remarked(file.path), self.scope.open(file.path) as handle:
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
        return codebase.files_behind(named, self.files)

    def _log_series(self, handle: BinaryIO, file: RunFile) -> list[Series]:
        allowance = self._ledger.bytes_of(file, "series")
        plain = read_plain(handle, file.path, allowance)
        if plain is not None:
            return plain
        told = self._said(read_formatted(handle, file.path, self._formats))
        if told:
            return told
        found = mark_resumed(self._said(read_log(handle, file.path, allowance)), self._resumptions.get(file.path, []))
        return [replace(row, clock=partial(self._written_at, file.path)) for row in found]

    @cached_property
    def _formats(self) -> list[LogFormat]:
        """The forms of lines that the project declares."""
        try:
            return load_rules(LogFormat, self.project)
        except DefinitionError as error:
            self._remark(f"the project's log formats were not used: {error}")
            return []

    def _launch_settings(self, file: RunFile) -> list[Setting]:
        """The options that a launch script gives: `srun python train.py --lr 0.2`."""
        if file.role != "code" or not file.path.endswith(_SHELL) or file.size > _LARGEST_SHELL:
            return []
        with self.scope.open(file.path) as handle:
            text = handle.read(_LARGEST_SHELL).decode("utf-8", "replace")
        return [
            Setting(key, value, file.path, line)
            for key, value, line in launch_options(text)
            if not is_secret(key, value)
        ]

    def _written_at(self, path: str, lines: LineNumbers) -> Numbers | None:
        if path not in self._clocks:
            with self.scope.open(path) as handle:
                self._clocks[path] = read_clock(handle)
        return self._clocks[path].at(lines)

    def _notebook_series(self, unit: CodeUnit) -> list[Series]:
        import numpy as np

        if unit.notebook is None:
            return []
        text, places = unit.notebook.log()
        found = self._said(read_log(io.BytesIO(text), unit.path))
        return [replace(row, lines=np.array([places[line - 1] for line in row.lines], np.int64)) for row in found]

    def _table_series(self, handle: BinaryIO, file: RunFile) -> list[Series]:
        content = recognise(handle.read(_HEAD))
        handle.seek(0)
        if content == "jsonl":
            return table.read_jsonl(handle, file.path, self._remark, self._ledger.bytes_of(file, "series"))
        if content != "json":
            return read_csv(handle, file.path, self._remark, allowance=self._ledger.bytes_of(file, "series"))
        series, trouble = table.read_json(handle, file.path)
        if trouble:
            self._remark(f"`{file.path}`: {trouble}")
        return series

    def _parquet_series(self, handle: BinaryIO, file: RunFile) -> list[Series]:
        return self._said(read_parquet(handle, file.path)) if file.path.lower().endswith(".parquet") else []

    def _checkpoint(self, handle: BinaryIO, file: RunFile) -> list[Checkpoint]:
        head = handle.read(_HEAD)
        handle.seek(0)
        if checkpoints.is_index(file.path, head):
            found, remarks = checkpoints.read_sharded(self.scope, file.path)
        else:
            found, remarks = checkpoints.read_checkpoint(handle, file.path)
        return self._said(([found], remarks))

    def _arrays(self, handle: BinaryIO, file: RunFile) -> list[ArrayInfo]:
        ending = PurePosixPath(file.path).suffix.lower()
        if ending in _PICKLES:
            return self._said(([], checkpoints.dangers(handle, file.path)))
        read = {".npy": arrays.read_npy, ".npz": arrays.read_npz}.get(ending)
        allowance = self._ledger.allowance("data", "arrays", "values", file.path)
        return self._said(read(handle, file.path, allowance)) if read else []

    def _table(self, handle: BinaryIO, file: RunFile) -> list[TableInfo]:
        if not file.path.lower().endswith((".csv", ".tsv")):
            return []
        allowance = self._ledger.allowance("data", "data tables", "rows", file.path)
        found, remarks = datatables.read_data_table(handle, file.path, allowance)
        return self._said(([found] if found else [], remarks))

    def _read(self, role: Role, reader: Reader[Item], kind: str = "") -> list[Item]:
        """What a reader finds in every file of a role, in the order of their paths."""
        offered = [file for file in self.files if file.role == role and file.size and file.path not in self._tracked]
        chosen = within(offered, self._ledger.limits.files[role], _MOST_BYTES.get(role))
        found: dict[str, list[Item]] = {}
        for file in self._ledger.in_turn(chosen, role, kind or role):
            with self._remarked(file.path), self.scope.open(file.path) as handle:
                found[file.path] = reader(watched(handle, file, self._progress), file)
        self._ledger.files(role, offered, found)
        if len(found) < len(offered) and len(chosen) < len(offered):
            self._remark(f"{len(chosen):,} of {len(offered):,} {role} files were read, those closest to the top")
        return [item for file in chosen for item in found.get(file.path, ())]

    def _said(self, found: tuple[list[Item], list[str]]) -> list[Item]:
        """What a reader found; its remarks become the run's."""
        for remark in found[1]:
            self._remark(remark)
        return found[0]

    @contextmanager
    def _remarked(self, path: str) -> Iterator[None]:
        """Turn what a malformed or vanished file raises into a remark."""
        try:
            yield
        except UnreadableInput as error:
            self._remark(str(error))
        except OSError as error:
            self._remark(f"cannot read `{path}`: {error.strerror}")
        except (ValueError, RecursionError, MemoryError) as error:
            self._remark(f"`{path}` could not be parsed: {error}")

    def _remark(self, text: str) -> None:
        if text not in self.remarks:
            self.remarks.append(text)


def _printed_first(handle: BinaryIO, file: RunFile) -> list[Setting]:
    """Settings in the first records of a history with one JSON object per line."""
    return read_log_settings(handle, file.path) if file.path.endswith((".jsonl", ".ndjson")) else []


def _notebook_errors(unit: CodeUnit) -> list[LogError]:
    if unit.notebook is None:
        return []
    text, places = unit.notebook.log()
    return [replace(row, line=places[row.line - 1]) for row in read_errors(io.BytesIO(text), unit.path)]


def _natural(path: str) -> list[tuple[int, str]]:
    """A key by which `step-900` comes before `step-1000`."""
    return [(int(part), "") if part.isdecimal() else (-1, part) for part in re.split(r"(\d{1,18})", path)]
