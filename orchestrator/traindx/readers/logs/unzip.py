"""A gzipped log as the stream of its text: a cut or broken archive gives what could be read, and a remark."""

from __future__ import annotations

import zlib
from typing import BinaryIO

_MOST = 4 << 30
"""bytes of text: an archive that holds more is not read to its end"""
_PIECE = 256 << 10


class Unzipped:
    """Reads like a file; no more than what is asked for is ever in memory."""

    def __init__(self, handle: BinaryIO, begun: bytes) -> None:
        self._handle = handle
        self._waiting = begun
        self._inflater = zlib.decompressobj(wbits=31)
        self._given = 0
        self.trouble = ""

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
            if self._given > _MOST:
                self.trouble = f"the archive holds more than {_MOST >> 30} GB of text; the rest was not read"
            if found:
                return found
        return b""

    def _refill(self) -> bool:
        self._waiting = self._handle.read(_PIECE)
        return bool(self._waiting)

    def _inflate(self, size: int) -> bytes:
        try:
            found = self._inflater.decompress(self._waiting, size)
        except zlib.error:
            self.trouble = "the archive is damaged; the part before that was read"
            return b""
        self._waiting = self._inflater.unconsumed_tail
        return found
