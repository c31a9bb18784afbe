"""A growing text in bounded memory: of the lines of each form some, of each series its extremes, of errors all.

A form is a line without its digits. Rare forms are what a text has to say besides its numbers, and are kept; of a form
that comes again and again every n-th line stays. The lines between are empty, so that every line keeps its number.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import BinaryIO

MOST_LINES = 8_000
MOST_BYTES = 4 << 20
MOST_FORMS = 10_000
"""forms that are told apart; the lines of a text with more are prose, and one form together"""
TAIL = 600
"""lines at the end that are all kept: how a run ends is told by them"""
LONGEST = 20_000
"""bytes of a line that are kept; of a progress bar's the first and the last states"""
_HEAD = 60
"""lines of each form that stay, as long as there is room"""
_DIGITS = b"0123456789.,+-eE"
_FEEDS = b"\n" * (1 << 16)


@dataclass
class _Form:
    """Lines that differ in their numbers only."""

    count: int = 0
    stride: int = 1
    kept: list[tuple[int, int]] = field(default_factory=list)
    """which one of the form, and its line"""


class Condensed:
    """What is kept of one text."""

    def __init__(self) -> None:
        self.lines = 0
        self._forms: dict[bytes, _Form] = {}
        self._kept: dict[int, bytes] = {}
        self._notable: dict[int, bytes] = {}
        self._tail: deque[tuple[int, bytes]] = deque(maxlen=TAIL)
        self._bytes = 0
        self._head = _HEAD

    def take(self, first: int, data: bytes, notable: Iterable[int] = ()) -> None:
        """Take in complete lines from line `first` on; those that are `notable` stay whatever comes."""
        lines = data.split(b"\n")[:-1]
        kept = self._kept
        for number, (bare, line) in enumerate(
            zip(data.translate(None, _DIGITS).split(b"\n"), lines, strict=False), first
        ):
            form = self._forms.get(bare)
            if form is None:
                form = self._new(bare)
            form.count += 1
            if line and (form.count <= self._head or not form.count % form.stride):
                kept[number] = _shortened(line)
                form.kept.append((form.count, number))
                self._bytes += len(kept[number])
        for number in notable:
            if 0 <= number - first < len(lines):
                self._notable[number] = _shortened(lines[number - first])
        self._tail.extend((first + at, _shortened(lines[at])) for at in range(max(0, len(lines) - TAIL), len(lines)))
        self.lines = first + len(lines) - 1
        if len(kept) > MOST_LINES or self._bytes > MOST_BYTES:
            self._thin()

    def forget(self, lines: Iterable[int]) -> None:
        """Lines that are no longer notable: greater extremes have come."""
        for number in lines:
            self._notable.pop(number, None)

    def write(self, target: BinaryIO) -> int:
        """Write the text with its left-out lines empty; how many bytes."""
        rows = {**self._kept, **self._notable, **dict(self._tail)}
        at, written = 1, 0
        for number in sorted(rows):
            written += _feed(target, number - at)
            written += target.write(rows[number] + b"\n")
            at = number + 1
        return written + _feed(target, self.lines + 1 - at)

    def _new(self, bare: bytes) -> _Form:
        """A form that was not met before."""
        bare = bare if len(self._forms) < MOST_FORMS else b""
        return self._forms.setdefault(bare, _Form())

    def _thin(self) -> None:
        """Leave out lines of the forms that have most until there is room again for as many as stay."""
        forms = sorted((form for form in self._forms.values() if form.kept), key=lambda form: -len(form.kept))
        while len(self._kept) > MOST_LINES // 2 or self._bytes > MOST_BYTES // 2:
            fullest = len(forms[0].kept)
            if fullest <= 2 * self._head:
                if self._head == 1:
                    self._halve()
                    return
                self._head //= 2
            for form in forms:
                if 2 * len(form.kept) > fullest:
                    self._thin_form(form)
            forms.sort(key=lambda form: -len(form.kept))

    def _thin_form(self, form: _Form) -> None:
        form.stride *= 2
        stays = [row for row in form.kept if row[0] <= self._head or not row[0] % form.stride]
        for _, number in set(form.kept).difference(stays):
            self._drop(number)
        form.kept = stays

    def _halve(self) -> None:
        """Every line is of a form of its own, and there is room for half of them."""
        for number in sorted(self._kept)[MOST_LINES // 16 :: 2]:
            self._drop(number)
        for form in self._forms.values():
            form.kept = [row for row in form.kept if row[1] in self._kept]

    def _drop(self, number: int) -> None:
        self._bytes -= len(self._kept.pop(number, b""))


def _shortened(line: bytes) -> bytes:
    if len(line) <= LONGEST:
        return line
    start, end = line[: LONGEST // 2], line[-LONGEST // 2 :]
    # The states of a progress bar stand one after the other: only whole ones can be read.
    return start[: start.rfind(b"\r") + 1] + end[end.find(b"\r") + 1 :] if b"\r" in start and b"\r" in end else start


def _feed(target: BinaryIO, count: int) -> int:
    for _ in range(count // len(_FEEDS)):
        target.write(_FEEDS)
    target.write(_FEEDS[: count % len(_FEEDS)])
    return count
