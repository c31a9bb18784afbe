"""Attempts in a log that holds no values: each ends with an error of its own, and the next begins as the first did.

Jobs append to one `train.err` or `nohup.out`. A program that ends with an uncaught exception, or that refuses its
arguments, prints nothing more; what follows is another start if it begins with the words the file begins with.
"""

from __future__ import annotations

import re
from typing import BinaryIO

from traindx.readers.logs.lines import numbered

LARGEST = 64 << 20
_HEAD = 12
"""lines at the beginning by which a new start is known"""
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
    for number, line in numbered(handle, LARGEST):
        text = line.rstrip("\r\n")
        if _SEVERAL.search(text[:300]):
            return []
        key = _key(text)
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
    return [line for line in starts if ended and ended[-1] > line]


def _key(line: str) -> str:
    return "" if _TRACEBACK in line else _DIGITS.sub(" ", line[:400]).strip()
