"""The errors of a file that are kept: the first and the last of each kind, the same again counted."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from traindx.readers.model import LogError

LONGEST = 2_000
"""characters of a line that are kept"""
_LAST = 50
"""errors and warnings that are kept from its end"""


class Kept:
    """The first errors of a kind and the last; the same again is counted."""

    def __init__(self, most: int) -> None:
        self._first: dict[str, LogError] = {}
        self._last: dict[str, LogError] = {}
        self._most = most
        self.left_out = 0

    def note(self, key: str, seen: LogError) -> None:
        """Take in an error."""
        for kept in (self._first, self._last):
            if key in kept:
                kept[key] = replace(kept[key], count=kept[key].count + 1, last_line=seen.line)
                return
        if len(self._first) < self._most:
            self._first[key] = seen
            return
        self._last[key] = seen
        if len(self._last) > _LAST:
            del self._last[next(iter(self._last))]
            self.left_out += 1

    def extend(self, key: str, text: str) -> None:
        """Put a further line to the message of an error."""
        for kept in (self._first, self._last):
            if key in kept and kept[key].count == 1 and len(kept[key].more) < LONGEST:
                kept[key] = replace(kept[key], more=f"{kept[key].more}\n{text}")

    def all(self) -> Iterator[LogError]:
        """Everything that was kept."""
        yield from self._first.values()
        yield from self._last.values()
