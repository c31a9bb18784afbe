"""A look into a file: its beginning, and places spread over the rest of it, read when they are asked for."""

from __future__ import annotations

from functools import cached_property
from typing import BinaryIO

from traindx.readers.folder.recognise import decoded
from traindx.readers.logs.lines import is_indexable

HEAD = 16 << 10
"""bytes at the beginning that are looked at"""
_WINDOW = 8 << 10
_SPREAD = 3
"""windows between the beginning and the end"""


class Glance:
    """What stands at the beginning, in the middle and at the end of a file."""

    def __init__(self, handle: BinaryIO, size: int) -> None:
        self._handle, self._size = handle, size
        self.head = handle.read(HEAD)

    @property
    def whole(self) -> bool:
        """Whether the beginning is all there is."""
        return self._size <= len(self.head)

    @cached_property
    def rest(self) -> list[str]:
        """Whole lines from places behind the beginning, the end last; nothing of what is packed."""
        if self.whole or not is_indexable(self.head):
            return []
        last = max(HEAD, self._size - _WINDOW)
        places = sorted({HEAD + (last - HEAD) * part // (_SPREAD + 1) for part in range(1, _SPREAD + 1)} | {last})
        return [text for place in places if (text := self._lines(place))]

    def _lines(self, place: int) -> str:
        self._handle.seek(place)
        raw = self._handle.read(_WINDOW)
        # The first line of a window is cut; one that fills the window is no line of a log.
        return decoded(raw.partition(b"\n")[2])
