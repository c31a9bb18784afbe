"""A file of telemetry: a line for each row, written at once, and bounded in size by thinning older rows."""

from __future__ import annotations

import contextlib
import fcntl
import json
import math
import os
from collections.abc import Mapping
from pathlib import Path
from typing import IO, TYPE_CHECKING

from traindx.vocabulary.telemetry import EVENT, file_name

if TYPE_CHECKING:
    from traindx.monitor.reporting import Reporter

MOST_BYTES = 16 << 20
_HEADROOM = 0.7
"""of the allowed size, what is left at most after thinning: the next time is far away"""
_RECENT = 0.25
"""share of the file, at its end, that is not thinned"""
_MOST_EVENTS = 200
"""events that are written; after so many, further ones say nothing new"""
_DIGITS = 6
_MOST_FAILURES = 20
_MOST_MONITORS = 100

Value = float | int | str | bool | None


def free_path(folder: Path, name: str, rank: int | None) -> Path:
    """The file for a monitor of this name; with a number where another monitor has it open."""
    path = folder / file_name(name, rank)
    for number in range(2, _MOST_MONITORS):
        if not is_taken(path):
            break
        path = folder / file_name(f"{name}.{number}" if name else str(number), rank)
    return path


def is_taken(path: Path) -> bool:
    """Whether another monitor, of this process or another, writes to a file."""
    try:
        handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:
        return False
    finally:
        os.close(handle)
    return False


def row_text(row: Mapping[str, Value]) -> str:
    """A row as a line of JSON; what JSON has no number for is a string, which readers of numbers understand."""
    return json.dumps({key: _plain(value) for key, value in row.items()}, separators=(",", ":")) + "\n"


def _plain(value: Value) -> Value:
    if not isinstance(value, float):
        return value
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "Infinity" if value > 0 else "-Infinity"
    if abs(value) >= 10**_DIGITS:
        return round(value, 3)
    return int(value) if value == int(value) else float(f"{value:.{_DIGITS}g}")


class TelemetryFile:
    """Rows go to the operating system one by one, so that a killed process leaves all of them."""

    def __init__(self, path: Path, reporter: Reporter, most_bytes: int = MOST_BYTES) -> None:
        self.path, self._reporter, self._most = path, reporter, most_bytes
        self._owner = os.getpid()
        self._failures = self._events = 0
        self._handle: int | None = None
        self._size = 0
        self._open()

    def write(self, row: Mapping[str, Value]) -> None:
        """Append a row, unless the process is a fork of the one that trains, or writing failed too often."""
        if self._handle is None or os.getpid() != self._owner:
            return
        if EVENT in row:
            self._events += 1
            if self._events > _MOST_EVENTS:
                return
        try:
            self._append(row_text(row).encode())
        except (OSError, ValueError) as error:
            self._failed(error)

    def close(self) -> None:
        """Let go of the file."""
        if self._handle is not None and os.getpid() == self._owner:
            os.close(self._handle)
        self._handle = None

    def _append(self, line: bytes) -> None:
        if self._size + len(line) > self._most:
            self._thin()
        assert self._handle is not None  # noqa: S101 - `write` has looked
        written = os.write(self._handle, line)
        self._size += written
        if written < len(line):
            # A full disk took a part: the next row begins on a line of its own.
            self._size += os.write(self._handle, b"\n")

    def _open(self) -> None:
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self._handle = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o644)
            with contextlib.suppress(OSError):  # some network file systems have no locks
                fcntl.flock(self._handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            self._size = os.fstat(self._handle).st_size
            if self._size and os.pread(self._handle, 1, self._size - 1) != b"\n":
                self._size += os.write(self._handle, b"\n")  # a process before was killed while it wrote
        except OSError as error:
            self._failed(error)

    def _thin(self) -> None:
        """Leave out every other row but the newest, as often as needed; events stay."""
        fresh = self.path.with_name(f".{self.path.name}.{os.getpid()}")
        try:
            size = self._size
            source: Path = self.path
            while size > self._most * _HEADROOM:
                before = size
                with source.open("rb") as old, fresh.with_suffix(".half").open("wb") as new:
                    size = _every_other(old, new, int((1 - _RECENT) * before))
                fresh.with_suffix(".half").replace(fresh)
                source = fresh
                if size > 0.9 * before:  # nothing but events
                    break
            fresh.replace(self.path)
        finally:
            fresh.unlink(missing_ok=True)
            fresh.with_suffix(".half").unlink(missing_ok=True)
        if self._handle is not None:
            os.close(self._handle)
            self._handle = None
        self._open()

    def _failed(self, error: Exception) -> None:
        self._failures += 1
        self._reporter.say(f"cannot write `{self.path}`: {getattr(error, 'strerror', None) or error}")
        if self._failures >= _MOST_FAILURES and self._handle is not None:
            os.close(self._handle)
            self._handle = None


def _every_other(old: IO[bytes], new: IO[bytes], end: int) -> int:
    """Copy every other row up to a place, and every event; the size of what was copied."""
    left_out, seen, size = True, 0, 0
    mark = f'"{EVENT}":'.encode()
    for line in old:
        seen += len(line)
        if seen <= end and mark not in line:
            left_out = not left_out
            if left_out:
                continue
        size += new.write(line)
    return size
