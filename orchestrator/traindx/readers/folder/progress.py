"""Telling how far the reading of a large file has come."""

from __future__ import annotations

import io
from collections.abc import Callable
from typing import BinaryIO, cast

from traindx.readers.model import RunFile

Progress = Callable[[str], None]
LARGE = 64 << 20
"""bytes from which on a file takes long enough to be worth telling"""


def watched(handle: BinaryIO, file: RunFile, progress: Progress | None) -> BinaryIO:
    """The same file; while a large one is read, `progress` hears the share that is done."""
    if progress is None or file.size < LARGE or not isinstance(handle, io.BufferedReader):
        return handle
    return cast(BinaryIO, _Watched(handle, file, progress))


class _Watched(io.BufferedReader):
    """A reader that tells once per hundredth."""

    def __init__(self, handle: io.BufferedReader, file: RunFile, progress: Progress) -> None:
        super().__init__(handle.raw)
        # Whoever opened the file closes it; the wrapper keeps it from being closed twice.
        self._handle, self._file, self._progress = handle, file, progress
        self._told = -1

    def read(self, size: int | None = -1, /) -> bytes:
        """Read, and tell when another hundredth is done."""
        data = super().read(size)
        done = min(99, 100 * self.raw.tell() // self._file.size)
        if done > self._told:
            self._told = done
            self._progress(f"reading {self._file.path} ({self._file.size / 1e6:,.0f} MB): {done} %")
        return data
