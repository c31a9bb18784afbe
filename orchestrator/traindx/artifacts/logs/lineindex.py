"""Finding a line of a large file without reading all that stands before it."""

from __future__ import annotations

from bisect import bisect_right
from typing import BinaryIO

LARGE = 8 << 20
"""bytes from which on an index pays"""
_PIECE = 4 << 20


class LineIndex:
    """Where some lines of a file begin, a few megabytes apart."""

    def __init__(self, handle: BinaryIO) -> None:
        self._numbers, self._offsets = [1], [0]
        number, offset = 1, 0
        while piece := handle.read(_PIECE):
            last = piece.rfind(b"\n")
            if last >= 0:
                number += piece.count(b"\n")
                self._numbers.append(number)
                self._offsets.append(offset + last + 1)
            offset += len(piece)

    def before(self, line: int) -> tuple[int, int]:
        """The nearest indexed line at or before `line`, and the byte at which it begins."""
        place = bisect_right(self._numbers, line) - 1
        return self._numbers[place], self._offsets[place]


def is_indexable(head: bytes) -> bool:
    """Whether a line feed is one byte: in UTF-16 it is not, and a gzipped file has no lines of its own."""
    return not head.startswith((b"\xff\xfe", b"\xfe\xff", b"\x1f\x8b"))
