"""Attempts in a log that holds no values: each ends with an error of its own, and the next begins as the first did.

Jobs append to one `train.err` or `nohup.out`. A program that ends with an uncaught exception, or that refuses its
arguments, prints nothing more; what follows is another start if it begins with the words the file begins with. A
program that logs its exception may say some more before it ends: it was started again where the file's first lines
come again, word for word and in their order.
"""

from __future__ import annotations

import re
from typing import BinaryIO

from traindx.readers.logs.lines import numbered

LARGEST = 64 << 20
_HEAD = 12
"""lines at the beginning by which a new start is known"""
_OPENING = 4
"""lines at the beginning that come again in their order where a program was started again"""
_LONGER = 10
"""lines of a last attempt that make it more than a start"""
_UNCAUGHT = re.compile(
    r"(?:[A-Za-z_]\w{0,80}\.){0,8}[A-Za-z_]\w{0,80}(?:Error|Exception|Interrupt|Exit|Failure)(?::|\s*$)"
)
_REFUSED = re.compile(r"\S{1,80}: error: (?:argument|the following arguments|unrecognized arguments|ambiguous option)")
_TRACEBACK = "Traceback (most recent call last)"
_OUTERMOST = re.compile(r'\s{2}File "[^"]{1,400}", line \d{1,7}, in <module>')
_SEVERAL = re.compile(
    r"ChildFailedError|torch\.distributed\.(?:elastic|run|launch)|local_rank ?[:=] ?\d|\[rank\d|^\s{0,4}\[?rank ?\d"
    r"|mpirun|srun: |spawn\.py|SpawnProcess",
    re.IGNORECASE,
)
"""words of jobs of several processes, whose errors stand side by side"""
_DIGITS = re.compile(r"[\d\W_]+")


def starts_after_deaths(handle: BinaryIO) -> list[int]:
    """The first line of every attempt but the first; none where several processes wrote the file."""
    handle.seek(0)
    head: set[str] = set()
    starts: list[int] = []
    ended: list[int] = []
    """lines at which an attempt ended"""
    inside, outermost, waiting = False, False, False
    opening = _Opening()
    number = 0
    for number, line in numbered(handle, LARGEST):
        text = line.rstrip("\r\n")
        if _SEVERAL.search(text[:300]):
            return []
        key = _key(text)
        again = opening.begins(number, key, text)
        if again and again not in starts:
            starts.append(again)
            ended.append(again - 1)
            waiting = False
        if inside and not text[:1].isspace() and text.strip():
            inside = False
            if outermost and _UNCAUGHT.match(text):
                ended.append(number)
                waiting = True
                continue
        if _TRACEBACK in text[:80]:
            inside, outermost = True, False
        elif inside:
            outermost = outermost or _OUTERMOST.match(text) is not None
        elif _REFUSED.match(text):
            ended.append(number)
            waiting = True
            continue
        if number <= _HEAD and not ended and not inside and len(key) >= 4:
            head.add(key)
        elif waiting and key:
            if key in head:
                starts.append(number)
            waiting = False
    # A start after which nothing ended has nothing to be judged by: it belongs to the one before.
    return [line for line in sorted(starts) if ended and (ended[-1] > line or line in opening.long(number))]


class _Opening:
    """The first lines of a file, and where they come again after an exception."""

    def __init__(self) -> None:
        self._first: list[str] = []
        self._at = 0
        """how many of them have come in their order"""
        self._line = 0
        self._raised = False
        self._starts: list[int] = []

    def begins(self, number: int, key: str, text: str) -> int:
        """The line at which the file's first lines began to come again, where the last of them has just come; or 0."""
        if not key:
            return 0
        if len(self._first) < _OPENING:
            if _TRACEBACK in text or key in self._first or len(key) < 4:
                self._first = [""] * _OPENING  # nothing to know a start by
            else:
                self._first.append(key)
            return 0
        self._raised = self._raised or _UNCAUGHT.match(text) is not None
        if key == self._first[self._at]:
            self._line = self._line if self._at else number
            self._at += 1
        else:
            self._at = int(key == self._first[0])
            self._line = number
        if self._at < _OPENING:
            return 0
        self._at = 0
        if not self._raised:
            return 0
        self._raised = False
        self._starts.append(self._line)
        return self._line

    def long(self, last: int) -> list[int]:
        """The starts after which more than a few lines came, or an exception."""
        return [line for line in self._starts if last - line > _LONGER or (self._raised and line == self._starts[-1])]


def _key(line: str) -> str:
    return "" if _TRACEBACK in line else _DIGITS.sub(" ", line[:400]).strip()
