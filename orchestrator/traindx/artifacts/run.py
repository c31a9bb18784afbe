"""A run as the tools see it: everything is read on first use and kept for the next tool."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cached_property
from typing import BinaryIO, TypeVar

from traindx.artifacts import code, discover, table, trackers
from traindx.artifacts.codesettings import code_settings
from traindx.artifacts.lines import excerpt
from traindx.artifacts.logsettings import read_log_settings
from traindx.artifacts.model import CodeFile, Role, RunFile, Series, Setting, Sighting
from traindx.artifacts.roles import suffix
from traindx.artifacts.scope import Scope
from traindx.artifacts.settings import read_settings
from traindx.artifacts.sightings import read_sightings
from traindx.artifacts.textlog import read_log
from traindx.artifacts.watch import Progress, watched
from traindx.errors import UnreadableInput

_MOST_TRACKED = 2_000
_HEAD = 64 << 10
_MOST_FILES: dict[Role, int] = {"log": 200, "metrics": 200, "config": 200, "code": 400}
# Parsing costs about 10 s per MB of YAML and 1 s per MB of Python; logs and tables stream at 17 MB/s.
_MOST_BYTES: dict[Role, int] = {"config": 1 << 20, "code": 8 << 20}
Item = TypeVar("Item")


class Run:
    """What a run left behind. Nothing on disk makes reading it fail: what cannot be read becomes a remark."""

    def __init__(self, scope: Scope, progress: Progress | None = None) -> None:
        self.scope = scope
        self._progress = progress
        self.remarks: list[str] = []

    @cached_property
    def files(self) -> list[RunFile]:
        """Every file worth knowing, by path."""
        return discover.find_files(self.scope, self._remark)

    @cached_property
    def series(self) -> list[Series]:
        """Every metric over time."""
        logged = self._read("log", self._log_series)
        tabled = self._read("metrics", self._table_series)
        tracked = [series for found in self._tracked.values() for series in found.series]
        return sorted(logged + tabled + tracked, key=lambda series: series.source)

    @cached_property
    def settings(self) -> list[Setting]:
        """Every configuration value: from files made for it first, then from what logs print, then from code."""
        configured = self._read("config", lambda handle, file: read_settings(handle, file.path))
        printed = self._read("log", lambda handle, file: read_log_settings(handle, file.path))
        tracked = [setting for found in self._tracked.values() for setting in found.settings]
        coded = [setting for path, tree in self._trees for setting in code_settings(tree, path)]
        return configured + tracked + printed + coded

    @cached_property
    def sightings(self) -> list[Sighting]:
        """Errors and warnings in the order of the files, root before cascade within a file."""
        return self._read("log", lambda handle, file: read_sightings(handle, file.path))

    @cached_property
    def code(self) -> list[CodeFile]:
        """The Python files and what they contain."""
        return [CodeFile(path, code.traits(tree)) for path, tree in self._trees]

    def lines(self, path: str, first: int, last: int) -> list[str]:
        """Lines `first` to `last` (from 1, both included) of a file, as far as it has them; without colours."""
        with self.scope.open(path) as handle:
            return excerpt(handle, max(first, 1), last)

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

    @cached_property
    def _trees(self) -> list[tuple[str, ast.Module]]:
        return self._read("code", _tree)

    def _log_series(self, handle: BinaryIO, file: RunFile) -> list[Series]:
        series, remarks = read_log(handle, file.path)
        for remark in remarks:
            self._remark(remark)
        return series

    def _table_series(self, handle: BinaryIO, file: RunFile) -> list[Series]:
        head = handle.read(_HEAD).lstrip(b"\xef\xbb\xbf \t\r\n")
        handle.seek(0)
        if not head.startswith((b"{", b"[")):
            return table.read_csv(handle, file.path)
        if table.is_one_record_per_line(head):
            return table.read_jsonl(handle, file.path)
        series, trouble = table.read_json(handle, file.path)
        if trouble:
            self._remark(f"`{file.path}`: {trouble}")
        return series

    def _read(self, role: Role, reader: Callable[[BinaryIO, RunFile], list[Item]]) -> list[Item]:
        """What a reader finds in every file of a role, in the order of their paths."""
        offered = [file for file in self.files if file.role == role and file.size and file.path not in self._tracked]
        chosen = _within(offered, _MOST_FILES[role], _MOST_BYTES.get(role))
        if len(chosen) < len(offered):
            self._remark(f"of {len(offered):,} {role} files {len(chosen):,} were read, those nearest to the top")
        found: list[Item] = []
        for file in chosen:
            with self._remarked(file.path), self.scope.open(file.path) as handle:
                found.extend(reader(watched(handle, file, self._progress), file))
        return found

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
            self._remark(f"`{path}` was not understood: {error}")

    def _remark(self, text: str) -> None:
        if text not in self.remarks:
            self.remarks.append(text)


def _within(files: list[RunFile], most: int, most_bytes: int | None) -> list[RunFile]:
    """As many of the files as the bounds allow, shallow ones first; in their given order."""
    taken: set[str] = set()
    spent = 0
    for file in sorted(files, key=lambda file: file.path.count("/")):
        if len(taken) < most and (most_bytes is None or spent + file.size <= most_bytes):
            taken.add(file.path)
            spent += file.size
    return [file for file in files if file.path in taken]


def _tree(handle: BinaryIO, file: RunFile) -> list[tuple[str, ast.Module]]:
    return [(file.path, code.parse(handle))] if suffix(file.path) == "py" else []
