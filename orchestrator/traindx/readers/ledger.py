"""What reading a run has taken so far, by kind of reading, and in which turn its files are read."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace

from traindx.readers.coverage import POINTS_OF_FILE, Allowance, Coverage, Limits, Timer, Unit, shared_out
from traindx.readers.model import Role, RunFile

HURRIED_SECONDS = 1.0
"""for each kind of reading in a folder that is no run: a home folder, a file system"""
_LARGE = 256 << 20
"""bytes of all files of a role from which on the small ones are read first"""
_BYTES_OF_A_POINT = 4
"""what a point takes in a file at least: `0.1,`"""
_NAMES: dict[Role, str] = {
    "log": "logs",
    "metrics": "metrics tables",
    "config": "config files",
    "checkpoint": "checkpoints",
    "data": "data files",
    "trace": "traces",
}
_STREAMED: frozenset[Role] = frozenset({"log", "metrics", "data"})
"""files that are sampled once the time is up; the others are read whole or not at all"""
_READ_DATA = (".csv", ".tsv", ".npy", ".npz", ".parquet", ".jsonl", ".ndjson")


class Ledger:
    """The account of one run's reading."""

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self.coverage = Coverage()
        self._timers: dict[str, Timer] = {}
        self._points: dict[str, int] = {}
        self._left_out: dict[str, tuple[int, int]] = {}

    def hurry(self) -> None:
        """Give every kind of reading little time: the folder holds far more than a run."""
        self.limits = replace(self.limits, seconds=min(self.limits.seconds, HURRIED_SECONDS))

    def share_points(self, files: Sequence[RunFile]) -> None:
        """Share out the points that all series together may have."""
        self._points = shared_out({file.path: file.size // _BYTES_OF_A_POINT for file in files}, self.limits.points)

    def allowance(self, kind: str, what: str, unit: Unit, path: str) -> Allowance:
        """What a file may take of the time for a kind of reading; what it tells is noted."""
        points = min(POINTS_OF_FILE, self._points.get(path, POINTS_OF_FILE))
        missing, instead = self._left_out.get(path, (0, 0)) if unit == "bytes" else (0, 0)

        def told(read: int, of: int) -> None:
            self.coverage.note(what, unit, path, max(0, read - instead), of - instead + missing)

        return Allowance(self._timer(kind), told, points)

    def leave_out(self, file: RunFile, missing: int, instead: int) -> None:
        """Hear that a reader is not given so many bytes of a file, but so many that say nothing."""
        if missing:
            self._left_out[file.path] = (missing, instead)

    def bytes_of(self, file: RunFile, kind: str) -> Allowance:
        """The allowance of a text file, which is told in bytes."""
        return self.allowance(kind, _NAMES[file.role], "bytes", file.path)

    def code(self) -> Allowance:
        """The allowance of all code files together."""
        return Allowance(self._timer("code"), lambda read, of: self.coverage.note("code files", "files", "", read, of))

    def in_turn(self, files: Sequence[RunFile], role: Role, kind: str) -> Iterator[RunFile]:
        """The files in the order in which they are read, as far as the time allows."""
        timer = self._timer(kind)
        if sum(file.size for file in files) > _LARGE and role in _STREAMED:
            files = sorted(files, key=lambda file: file.size)
        for place, file in enumerate(files):
            if place and role not in _STREAMED and timer.spent():
                break
            yield file

    def files(self, role: Role, offered: Sequence[RunFile], read: Collection[str]) -> None:
        """Note which files of a role were read."""
        for file in offered:
            if role != "data" or file.path.lower().endswith(_READ_DATA):
                self.coverage.note(_NAMES[role], "files", file.path, int(file.path in read), 1)

    def _timer(self, kind: str) -> Timer:
        return self._timers.setdefault(kind, Timer(self.limits.seconds))


def within(files: list[RunFile], most: int, most_bytes: int | None) -> list[RunFile]:
    """As many of the files as the bounds allow, shallow ones first; in their given order."""
    taken: set[str] = set()
    spent = 0
    for file in sorted(files, key=lambda file: file.path.count("/")):
        if len(taken) < most and (most_bytes is None or spent + file.size <= most_bytes):
            taken.add(file.path)
            spent += file.size
    return [file for file in files if file.path in taken]
