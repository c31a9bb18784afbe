"""A stretch of a text file, without the programs printed into it, as a file of its own."""

from __future__ import annotations

import io
import os
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import BinaryIO, cast

from traindx.readers.folder.listings import Listing

_PIECE = 4 << 20
_SMALL = 4 << 10


@dataclass(frozen=True)
class Part:
    """Bytes `begin` to `end` (None: the end of the file) of a text whose first line has the number `first`."""

    first: int = 1
    begin: int = 0
    end: int | None = None
    listings: tuple[Listing, ...] = ()
    """the programs inside: their lines are empty"""

    @property
    def is_whole(self) -> bool:
        """Whether it is the file as it stands."""
        return not self.begin and self.end is None and not self.listings

    def view(self, handle: BinaryIO) -> BinaryIO:
        """The part as a file to read from; its first line counts as line 1."""
        if self.is_whole:
            handle.seek(0)
            return handle
        return cast(BinaryIO, io.BufferedReader(_View(handle, self._pieces(handle)), 64 << 10))

    def _pieces(self, handle: BinaryIO) -> list[tuple[int, int]]:
        end = handle.seek(0, os.SEEK_END) if self.end is None else self.end
        pieces: list[tuple[int, int]] = []
        at = self.begin
        for listing in self.listings:
            pieces += [(at, listing.begin - at), (_FEEDS, listing.last - listing.first + 1)]
            at = listing.end
        return [*pieces, (at, max(0, end - at))]


_FEEDS = -1
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
        if place == _FEEDS:
            data = b"\n" * most
        else:
            self._handle.seek(place + inside)
            data = self._handle.read(most)
        wanted[: len(data)] = data
        self._at += len(data)
        return len(data)


def without_listings(handle: BinaryIO, listings: Sequence[Listing]) -> Part:
    """The text around the programs of a file."""
    return _from_text_on(handle, Part(listings=tuple(listings)))


def lines_of(handle: BinaryIO, part: Part, first: int, last: int | None) -> Part:
    """Lines `first` to `last` (None: the last one) of the file, within a part of it."""
    begin = _byte_of(handle, first, part.first, part.begin)
    end = part.end if last is None else _byte_of(handle, last + 1, first, begin)
    inside = [row for row in part.listings if first <= row.first and (last is None or row.last <= last)]
    return _from_text_on(handle, Part(first, begin, end, tuple(inside)))


def _from_text_on(handle: BinaryIO, part: Part) -> Part:
    """A part that begins with a program, from the line behind it on; a rule above the program says nothing."""
    if part.listings and _is_rule(handle, part.begin, part.listings[0].begin):
        listing, *left = part.listings
        return _from_text_on(handle, Part(listing.last + 1, listing.end, part.end, tuple(left)))
    return part


def _is_rule(handle: BinaryIO, begin: int, end: int) -> bool:
    if end - begin > _SMALL:
        return False
    handle.seek(begin)
    return not any(letter.isalnum() for letter in handle.read(end - begin).decode("utf-8", "replace"))


def _byte_of(handle: BinaryIO, line: int, number: int, offset: int) -> int:
    """Where a line begins, given where an earlier one does; the end of the file where there is no such line."""
    handle.seek(offset)
    while number < line and (piece := handle.read(_PIECE)):
        feeds = piece.count(b"\n")
        if number + feeds < line:
            number, offset = number + feeds, offset + len(piece)
            continue
        at = -1
        for _ in range(line - number):
            at = piece.index(b"\n", at + 1)
        return offset + at + 1
    return offset
