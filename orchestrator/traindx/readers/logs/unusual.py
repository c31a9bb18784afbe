"""The lines of a log that are unlike those before them: without their digits, the lines of a log are few."""

from __future__ import annotations

import random
from collections.abc import Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from traindx.readers.native.library import Library, Words

_NUMERALS = b"0123456789"
_PLACES = 1 << 17
_SMALL = 64 << 10
"""bytes that are sooner gone through here"""


class UnusualLines:
    """Passes over lines that look like those that were called usual.

    Compiled code does so by a table of hashes; without it every line is given, which is slower and no other result.
    """

    def __init__(self, compiled: bool = True) -> None:
        self._compiled = compiled
        self._code: Library | None = None
        self._table: Words | None = None
        self._filled = 0
        self._hashes: Words | None = None
        # Nobody can write lines that pass for each other without knowing it.
        self._seed = random.SystemRandom().getrandbits(64)

    def of(self, data: bytes) -> list[tuple[int, bytes]]:
        """Lines of a block by their number from 0, each without its digits; those that are usual may be left out."""
        self._hashes = None
        if self._compiled and self._code is None and len(data) > _SMALL:
            from traindx.readers.native.library import library

            self._code = library()
            self._compiled = self._code is not None
        if self._code is None:
            return list(enumerate(data.translate(None, _NUMERALS).split(b"\n")))
        lines = self._code.lines(data) + 1
        numbers, begins, ends, self._hashes = self._code.new_forms(data, lines, self._usual, self._seed)
        if len(numbers) > lines // 2:
            bare = data.translate(None, _NUMERALS).split(b"\n")
            return [(number, bare[number]) for number in numbers.tolist()]
        places = zip(numbers.tolist(), begins.tolist(), ends.tolist(), strict=True)
        return [(number, data[begin:end].translate(None, _NUMERALS)) for number, begin, end in places]

    def line_feeds(self, data: bytes) -> int:
        """How many line feeds there are."""
        return data.count(b"\n") if self._code is None else self._code.lines(data)

    def call_usual(self, chosen: Iterable[bool]) -> None:
        """Say of each line that was given last whether the like of it need not be given again."""
        if self._code is None or self._hashes is None:
            return
        import numpy as np

        hashes = np.unique(self._hashes[np.fromiter(chosen, dtype=np.bool_)])
        if (self._filled + len(hashes)) * 2 > _PLACES:
            self._table, self._filled = None, 0
        if len(hashes) * 2 <= _PLACES:
            self._filled += self._code.know_forms(self._usual, hashes)

    @property
    def _usual(self) -> Words:
        if self._table is None:
            import numpy as np

            self._table = np.zeros(_PLACES, dtype=np.uint64)
        return self._table
