"""A file of telemetry: a line for each row, written at once, and bounded in size by thinning older rows."""

from __future__ import annotations

import contextlib
import fcntl
import json
import math
import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from traindx.monitor.thinning import thin
from traindx.vocabulary.telemetry import EVENT

if TYPE_CHECKING:
    from traindx.monitor.reporting import Reporter

MOST_BYTES = 16 << 20
_HEADROOM = 0.6
"""of the allowed size, what is left at most after thinning: the next time is far away"""
_MOST_EVENTS = 200
"""events that are written; after so many, further ones say nothing new"""
_DIGITS = 6
_MOST_FAILURES = 20

Value = float | int | str | bool | None


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
        if os.getpid() == self._owner:
            self._let_go()

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
        fresh = self.path.with_name(f".{self.path.name}.{os.getpid()}")
        try:
            thin(self.path, fresh, int(self._most * _HEADROOM))
            fresh.replace(self.path)
        finally:
            fresh.unlink(missing_ok=True)
        self._let_go()
        self._open()

    def _let_go(self) -> None:
        handle, self._handle = self._handle, None
        if handle is not None:
            with contextlib.suppress(OSError):  # the program may have closed all files
                os.close(handle)

    def _failed(self, error: Exception) -> None:
        self._failures += 1
        self._reporter.say(f"cannot write `{self.path}`: {getattr(error, 'strerror', None) or error}")
        if self._failures >= _MOST_FAILURES:
            self._let_go()
