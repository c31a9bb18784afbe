"""A gzipped log as the stream of its text: a cut or broken archive gives what could be read, and a remark."""

from __future__ import annotations

import zlib
from typing import TYPE_CHECKING, BinaryIO, cast

if TYPE_CHECKING:
    _State = tuple[int, "zlib._Decompress", int]

MOST = 4 << 30
"""bytes of text: an archive that holds more is not read to its end"""
HARMLESS = 64 << 20
"""bytes of text that any archive may hold"""
MOST_TIMES = 250
"""times its own size that a larger one may: logs shrink to a tenth, the same line for ever to a thousandth"""
_PIECE = 256 << 10


class Unzipped:
    """Reads like a file; no more than what is asked for is ever in memory."""

    def __init__(self, handle: BinaryIO, begun: bytes, harmless: int = HARMLESS) -> None:
        self._handle = handle
        self._waiting = begun
        self._harmless = harmless
        self._inflater = zlib.decompressobj(wbits=31)
        self._taken = len(begun)
        self._given = 0
        self.trouble = ""
        self.stopped = False
        """whether there is more that was not read on purpose"""

    @classmethod
    def at(cls, handle: BinaryIO, state: object) -> Unzipped:
        """Go on from a mark."""
        used, inflater, given = cast("_State", state)
        handle.seek(used)
        here = cls(handle, b"", MOST)
        here._taken, here._given, here._inflater = used, given, inflater.copy()
        return here

    def mark(self) -> object:
        """Where it is, to go on from there once more."""
        if self._inflater.eof:
            return self._taken - len(self._inflater.unused_data), zlib.decompressobj(wbits=31), self._given
        return self._used, self._inflater.copy(), self._given

    def is_repetitive(self, harmless: int = HARMLESS) -> bool:
        """Whether it holds so much more than its own size that most of it must be the same."""
        return self._given > max(harmless, MOST_TIMES * self._used)

    def read(self, size: int) -> bytes:
        """The next bytes of the text; none at its end."""
        while not self.trouble:
            if self._inflater.eof:  # archives may stand one after the other
                self._waiting = self._inflater.unused_data
                self._inflater = zlib.decompressobj(wbits=31)
                if not (self._waiting or self._refill()):
                    break
            if not (self._waiting or self._refill()):
                self.trouble = "the archive is truncated; the part before that was read"
                break
            found = self._inflate(size)
            self._given += len(found)
            if self._given > MOST:
                self.trouble = f"the archive holds more than {MOST >> 30} GB of text; the rest was not read"
                self.stopped = True
            elif self.is_repetitive(self._harmless):
                self.trouble = (
                    f"the archive holds more than {MOST_TIMES} times its size, the same over and over;"
                    f" the first {self._given >> 20:,} MB were read"
                )
                self.stopped = True
            if found:
                return found
        return b""

    def _refill(self) -> bool:
        self._waiting = self._handle.read(_PIECE)
        self._taken += len(self._waiting)
        return bool(self._waiting)

    @property
    def _used(self) -> int:
        """Bytes of the archive that were unpacked so far."""
        return self._taken - len(self._waiting)

    def expected(self, size: int) -> int:
        """How many bytes of text an archive of this size holds, going by what was unpacked so far."""
        return self._given * max(size, self._used) // max(1, self._used)

    def _inflate(self, size: int) -> bytes:
        try:
            found = self._inflater.decompress(self._waiting, size)
        except zlib.error:
            self.trouble = "the archive is damaged; the part before that was read"
            return b""
        self._waiting = self._inflater.unconsumed_tail
        return found
