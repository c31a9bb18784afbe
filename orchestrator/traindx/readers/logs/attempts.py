"""Several attempts in one log: a job that was started again and went on writing to the same file.

A new attempt counts from the start again. So do the folds of a cross-validation, the stages of a curriculum and the
tasks of a sequence; an attempt also shows that a program was started (the lines it begins with come again), that the
one before had died, or that it broke off before its own end. A run that goes on from a checkpoint is the same run.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING, BinaryIO

from traindx.readers.logs.form import NUMBER, understand
from traindx.readers.logs.lines import LineIndex, excerpt, numbered
from traindx.readers.logs.resumed import speaks_of_resuming
from traindx.readers.model import Series
from traindx.vocabulary.launches import BROKE_OFF, LAUNCH, PART_OF_A_PLAN
from traindx.vocabulary.prefixes import PREFIX

if TYPE_CHECKING:
    from traindx.readers.model import LineNumbers

MOST = 200
"""attempts of a file that are told apart"""
_HEAD_LINES = 60
_HEAD_BYTES = 64 << 10
_GAP = 3_000
"""lines between two records that are looked through for a start"""
_BODY = 2_000
"""lines of a run under way in which a line that heralds a start must not stand"""
_SETTLED = 5
"""points after a fresh start within which the counter must not jump: ranks that take turns do"""
_MOST_AGAIN = 1_000
_DIGITS = re.compile(r"[\d\W_]+")
_COUNTED = re.compile(r"(?<![\d.])(\d{1,9})\s?/\s?(\d{1,9})(?![\d.])")


@dataclass(frozen=True)
class Attempt:
    """Lines `first` to `last` of a log, both included (None: to its end): what one start of the program wrote."""

    first: int
    last: int | None = None


@dataclass
class _Text:
    """The lines of a log, by their numbers."""

    handle: BinaryIO
    index: LineIndex = field(init=False)

    def __post_init__(self) -> None:
        self.handle.seek(0)
        self.index = LineIndex(self.handle)

    def lines(self, first: int, last: int) -> list[str]:
        """Lines `first` to `last`."""
        if last < first:
            return []
        number, offset = self.index.before(first)
        self.handle.seek(offset)
        return excerpt(self.handle, first - number + 1, last - number + 1, widest=2_000)


def find_attempts(handle: BinaryIO, series: Sequence[Series]) -> list[Attempt]:
    """The attempts in a log whose series were read already; one where it was started once."""
    counted = [row for row in series if row.axis != "row" and row.place == "line" and len(row)]
    head = _Head.of(handle)
    again = head.comes_again(handle)
    falls = sorted({int(row.lines[place]) for row in counted for place in row.restarts})
    if not (falls or again):
        return [Attempt(1)]
    text = _Text(handle)
    records = _record_lines(series)
    starts = _starts(text, head, counted, _candidates(falls, again, records))
    edges = [1, *starts[:MOST]]
    return [*(Attempt(first, after - 1) for first, after in pairwise(edges)), Attempt(edges[-1])]


@dataclass(frozen=True)
class _Head:
    """What a log says before its first number: when it is said again, the program was started again."""

    keys: tuple[str, ...]
    needle: bytes
    """the most telling piece of its first line, without digits"""

    @classmethod
    def of(cls, handle: BinaryIO) -> _Head:
        """The first lines of a log."""
        handle.seek(0)
        keys: list[str] = []
        needle = b""
        for number, line in numbered(handle, _HEAD_BYTES):
            message = _message(line)
            if number > _HEAD_LINES or _is_record(message) or "Traceback (most recent" in message:
                break
            key = _key(message)
            if len(key) >= 6:
                needle = needle or max(re.split(r"\d+", message), key=len).strip()[:80].encode()
                keys.append(key)
        handle.seek(0)
        return cls(tuple(dict.fromkeys(keys)), needle if len(needle) >= 6 else b"")

    def comes_again(self, handle: BinaryIO) -> list[int]:
        """The lines, after the first, that say what the first line says; none where it is said all the time."""
        if not self.needle:
            return []
        handle.seek(0)
        places: list[int] = []
        number, left = 1, b""
        while piece := handle.read(1 << 22):
            data = left + piece
            cut = data.rfind(b"\n") + 1
            at = counted = 0
            while (found := data.find(self.needle, at, cut or len(data))) >= 0:
                number += data.count(b"\n", counted, found)
                places.append(number)
                at, counted = found + len(self.needle), found
            number += data.count(b"\n", counted, cut)
            left = data[cut:] if cut else b""
            if len(places) > _MOST_AGAIN:
                return []
        handle.seek(0)
        return sorted(set(places))[1:]


def _candidates(falls: list[int], again: list[int], records: list[int]) -> list[tuple[int, int]]:
    """Where a new attempt may lie: the last record before it, and its first record or the line that comes again."""
    found = []
    for line in sorted({*falls, *again}):
        before = bisect_left(records, line)
        previous = records[before - 1] if before else 0
        first = records[before] if before < len(records) else line
        found.append((previous, max(first, line)))
    return list(dict.fromkeys(found))


def _starts(
    text: _Text,
    head: _Head,
    counted: Sequence[Series],
    candidates: list[tuple[int, int]],
) -> list[int]:
    """The first line of every attempt but the first."""
    starts: list[int] = []
    for previous, first in candidates[: 5 * MOST]:
        since = starts[-1] if starts else 1
        if first <= since or (previous < since and not _died_before(text, since, first)):
            continue
        if previous >= since and not _all_afresh(counted, since, previous, first):
            continue
        start = _start_between(text, head, since, previous, first)
        if start is not None and start > since:
            starts.append(start)
    return starts


def _died_before(text: _Text, since: int, first: int) -> bool:
    """Whether a program that had logged nothing yet came to an end."""
    return any(BROKE_OFF.search(line) for line in text.lines(max(since, first - _GAP), first))


def _all_afresh(counted: Sequence[Series], since: int, previous: int, first: int) -> bool:
    """Whether every counter that was under way starts again, and then goes on from there."""
    seen = False
    for row in counted:
        begin, after = (int(place) for place in row.lines.searchsorted([since, previous + 1]))
        if begin == after or after == len(row):
            continue
        stride = _stride(row, begin, after)
        if row.at[after] > row.at[begin] + stride and row.at[after] > 1:
            return False
        later = row.at[after : after + _SETTLED]
        if bool((later[1:] < later[:-1]).any()) or bool((later[1:] - later[:-1] > 4 * stride).any()):
            return False
        seen = seen or bool(row.lines[after] >= first)
    return seen or not any(_spans(row.lines, previous) for row in counted)


def _spans(lines: LineNumbers, previous: int) -> bool:
    return bool(lines[0] <= previous < lines[-1])


def _stride(row: Series, begin: int, after: int) -> float:
    import numpy as np

    steps = np.diff(row.at[begin:after])
    steps = steps[steps > 0]
    return float(np.median(steps)) if len(steps) else float(max(row.at[begin], 1.0))


def _start_between(text: _Text, head: _Head, since: int, previous: int, first: int) -> int | None:
    """The line with which the next attempt begins; None where nothing shows that there is one."""
    low = max(previous + 1, since + 1, first - _GAP)
    gap = text.lines(low, first)
    messages = [_message(line) for line in gap]
    before = text.lines(max(since, previous - _BODY), previous)
    usual = {_key(_message(line)) for line in before}
    opening = set(head.keys)
    resumed = [line for line in messages if _key(line) not in opening]
    if speaks_of_resuming(line.encode() for line in resumed) or _next_of_a_plan(text, messages, since):
        return None
    ended = max((place for place, line in enumerate(gap) if BROKE_OFF.search(line)), default=-1)
    heralds = [
        place
        for place, line in enumerate(messages)
        if (key := _key(line)) not in usual and (key in opening or LAUNCH.search(line)) and len(key) >= 6
    ]
    behind = [place for place in heralds if place > ended]
    if behind:
        return low + behind[0]
    if heralds or ended >= 0:
        return low + min(max(ended + 1, 0), len(gap) - 1)
    return first if _broke_off_early(before, text.lines(first, first)) else None


def _next_of_a_plan(text: _Text, gap: list[str], since: int) -> bool:
    """Whether the gap heads the next fold, stage or task of one program: the same word, with another number."""
    told = dict(_planned(gap))
    if not told:
        return False
    earlier = dict(_planned(reversed([_message(line) for line in text.lines(since, since + _HEAD_LINES)])))
    return any(earlier.get(word, "") != number for word, number in told.items())


def _planned(lines: Iterable[str]) -> list[tuple[str, str]]:
    return [(found[1].lower(), found[2]) for line in lines if (found := PART_OF_A_PLAN.search(line[:200]))]


def _broke_off_early(before: list[str], after: list[str]) -> bool:
    """Whether the last record stopped short of a total that the next one, from the start, has again."""
    last = next((found for line in reversed(before) if (found := _COUNTED.search(_message(line)))), None)
    next_one = next((found for line in after if (found := _COUNTED.search(_message(line)))), None)
    if last is None or next_one is None or last[2] != next_one[2]:
        return False
    return int(last[1]) < int(last[2]) - 1 and int(next_one[1]) < int(last[1])


def _record_lines(series: Sequence[Series]) -> list[int]:
    """The lines that gave a number to any series, in order."""
    import numpy as np

    every = [row.lines for row in series if row.place == "line" and len(row)]
    return np.unique(np.concatenate(every)).tolist() if every else []


def _message(line: str) -> str:
    shown = line.rstrip("\r").rsplit("\r", 1)[-1]
    prefix = PREFIX.match(shown)
    return shown[prefix.end() :] if prefix else shown


def _key(message: str) -> str:
    """What a line says whatever its numbers are; nothing of a line that counts."""
    return "" if _is_record(message) else _DIGITS.sub(" ", message[:400]).strip()


def _is_record(message: str) -> bool:
    return understand(tuple(NUMBER.split(message[:2_000])[::2])) is not None
