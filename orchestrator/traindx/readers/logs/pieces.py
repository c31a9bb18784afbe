"""Pieces of a file, and empty lines in the place of others, as a file of its own."""

from __future__ import annotations

import io
import os
from bisect import bisect_right
from collections.abc import Sequence
from itertools import accumulate
from typing import BinaryIO, cast

FEEDS = -1
"""the place of a piece that stands in no file: so many empty lines"""


class _View(io.RawIOBase):
    """Pieces of a file one after the other."""

    def __init__(self, handle: BinaryIO, pieces: Sequence[tuple[int, int]]) -> None:
        super().__init__()
        self._handle = handle
        self._pieces = [piece for piece in pieces if piece[1]]
        self._ends = list(accumulate(length for _, length in self._pieces))
        self._at = 0

    def readable(self) -> bool:
        """It is read from."""
        return True

    def seekable(self) -> bool:
        """Any place can be gone to."""
        return True

    def seek(self, offset: int, whence: int = os.SEEK_SET, /) -> int:
        """Go to a place, counted in the pieces."""
        base = {os.SEEK_SET: 0, os.SEEK_CUR: self._at, os.SEEK_END: self._ends[-1] if self._ends else 0}[whence]
        self._at = max(0, base + offset)
        return self._at

    def tell(self) -> int:
        """Where it is, counted in the pieces."""
        return self._at

    def readinto(self, buffer: bytearray | memoryview, /) -> int:  # type: ignore[override] # what BufferedReader gives
        """Fill the buffer as far as the piece goes."""
        wanted = memoryview(buffer).cast("B")
        index = bisect_right(self._ends, self._at)
        if index == len(self._ends):
            return 0
        place, length = self._pieces[index]
        inside = self._at - (self._ends[index] - length)
        most = min(len(wanted), length - inside)
        if place == FEEDS:
            data = b"\n" * most
        else:
            self._handle.seek(place + inside)
            data = self._handle.read(most)
        wanted[: len(data)] = data
        self._at += len(data)
        return len(data)


def pieces_of(handle: BinaryIO, pieces: Sequence[tuple[int, int]]) -> BinaryIO:
    """Pieces of a file, each with its place and its length, as a file to read from."""
    return cast(BinaryIO, io.BufferedReader(_View(handle, pieces), 64 << 10))
