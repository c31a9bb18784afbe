"""Following a text that grows: what is new since the last look, whatever happened to the file meanwhile."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass

PIECE = 4 << 20
LONGEST_LINE = 1 << 20
"""bytes of a line that does not end; of a longer one the beginning is taken for all of it"""
WHOLE = 256 << 20
"""bytes of a file that is there already which are read; of a longer one the beginning, and as much of the end"""
SEAL = 64
"""bytes by which a file is known again"""
_NEW_FILE = os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_NOCTTY | os.O_CLOEXEC


@dataclass(frozen=True)
class Piece:
    """Complete lines that are new, from line `first` (from 1) on; `skipped` lines before them were only counted."""

    first: int
    data: bytes
    skipped: int = 0


class Follower:
    """The position in one file. Where it was rotated, truncated or replaced, it begins anew."""

    def __init__(self, path: str, whole: int = WHOLE) -> None:
        self.path, self._whole = path, whole
        self.size = 0
        """bytes that were looked at"""
        self.lines = 0
        """lines that were given"""
        self._identity: tuple[int, int] | None = None
        self._head, self._mark = b"", b""
        """the first bytes of the file, and those before the position: a file that is written anew has others there"""
        self._rest = b""
        """the line that has not come to its end"""

    def news(self) -> Iterator[Piece | None]:
        """The new lines in pieces; `None` first where the file began anew. Raises `OSError` where it cannot be read."""
        handle = os.open(self.path, _NEW_FILE)
        try:
            if self._is_another(handle):
                self.size, self.lines, self._rest, self._mark = 0, 0, b"", b""
                self._head = os.pread(handle, SEAL, 0)
                yield None
            yield from self._read(handle)
        finally:
            os.close(handle)

    def rest(self) -> Piece | None:
        """The last line without an end, once nothing more is to come."""
        rest, self._rest = self._rest, b""
        if not rest:
            return None
        self.lines += 1
        return Piece(self.lines, rest + b"\n")

    def _is_another(self, handle: int) -> bool:
        told = os.fstat(handle)
        identity = (told.st_dev, told.st_ino)
        # A file that was emptied and filled again may be longer than before by the time of this look.
        same = identity == self._identity and told.st_size >= self.size
        same = same and os.pread(handle, len(self._head), 0) == self._head
        same = same and os.pread(handle, len(self._mark), self.size - len(self._mark)) == self._mark
        self._identity = identity
        if same and len(self._head) < SEAL:
            self._head = os.pread(handle, SEAL, 0)
        return not same

    def _read(self, handle: int) -> Iterator[Piece]:
        end = os.fstat(handle).st_size
        half = self._whole // 2
        jump = (half, end - half) if end - self.size > self._whole else None
        skipped = 0
        while self.size < end:
            data = os.pread(handle, min(PIECE, end - self.size), self.size)
            if not data:
                return
            self.size += len(data)
            self._mark = (self._mark + data[-SEAL:])[-SEAL:]
            if jump is not None and jump[0] <= self.size - len(data) and self.size <= jump[1]:
                skipped += data.count(b"\n")
                self._rest = data[data.rfind(b"\n") + 1 :][:LONGEST_LINE]
                continue
            whole = self._rest + data
            cut = whole.rfind(b"\n") + 1
            self._rest = whole[cut:]
            if len(self._rest) > 2 * LONGEST_LINE:
                self._rest = self._rest[:LONGEST_LINE] + b"\r" + self._rest[-LONGEST_LINE // 2 :]
            if cut:
                first = self.lines + skipped + 1
                yield Piece(first, whole[:cut], skipped)
                self.lines = first - 1 + whole.count(b"\n", 0, cut)
                skipped = 0
