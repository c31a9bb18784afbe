"""A stretch of a text file, without the programs printed into it, as a file of its own."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import BinaryIO

from traindx.readers.folder.listings import Listing
from traindx.readers.logs.pieces import FEEDS, pieces_of

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
        return pieces_of(handle, self._pieces(handle))

    def _pieces(self, handle: BinaryIO) -> list[tuple[int, int]]:
        end = handle.seek(0, os.SEEK_END) if self.end is None else self.end
        pieces: list[tuple[int, int]] = []
        at = self.begin
        for listing in self.listings:
            pieces += [(at, listing.begin - at), (FEEDS, listing.last - listing.first + 1)]
            at = listing.end
        return [*pieces, (at, max(0, end - at))]


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
