"""Several attempts in one log: a job that was started again and went on writing to the same file.

A new attempt counts from the start again. So do the stages of a curriculum and the tasks of a sequence; an attempt also
shows that a program was started (the lines it begins with come again), that the one before had died, or that it broke
off before its own end. Folds and seeds that one program trains one after the other are runs of their own as well: every
counter starts again, and the loss is back where it began. A run that goes on from a checkpoint is the same run.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import pairwise
from typing import BinaryIO

from traindx.readers.logs.deaths import starts_after_deaths
from traindx.readers.logs.form import NUMBER, understand
from traindx.readers.logs.levels import FEWEST_RECORDS, as_at_first
from traindx.readers.logs.lines import LineIndex, excerpt, numbered
from traindx.readers.logs.resumed import speaks_of_resuming
from traindx.readers.model import Series
from traindx.vocabulary.launches import LAUNCH, ONE_MODEL, PART_OF_A_PLAN, broke_off
from traindx.vocabulary.prefixes import PREFIX

MOST = 200
"""attempts of a file that are told apart"""
_HEAD_LINES = 60
_HEAD_BYTES = 64 << 10
_GAP = 3_000
"""lines between two records that are looked through for a start"""
_BODY = 2_000
"""lines of a run under way in which a line that heralds a start must not stand"""
_TOGETHER = 3
"""lines between two of a log's first words that come together"""
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
    repeat: bool = False
    """whether one program trained it after another: a fold, a seed"""


@dataclass
class _Text:
    """The lines of a log, by their numbers."""

    handle: BinaryIO
    listings: frozenset[int]
    """lines at which a program printed itself"""
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


def find_attempts(handle: BinaryIO, series: Sequence[Series], listings: Sequence[int] = ()) -> list[Attempt]:
    """The attempts in a log whose series were read already; one where it was started once.

    `listings` are lines at which the program printed itself, as it does when it is started.
    """
    counted = [row for row in series if row.axis != "row" and row.place == "line" and len(row)]
    if not counted:
        edges = [1, *starts_after_deaths(handle)[:MOST]]
        return [
            Attempt(first, last) for first, last in zip(edges, [*(row - 1 for row in edges[1:]), None], strict=True)
        ]
    head = _Head.of(handle)
    again = sorted({*head.comes_again(handle), *listings})
    falls = sorted({int(row.lines[place]) for row in counted for place in row.restarts})
    if not (falls or again):
        return [Attempt(1)]
    text = _Text(handle, frozenset(listings))
    records = _record_lines(series)
    starts = _starts(text, head, counted, records, _candidates(falls, again, records))
    repeats = not starts
    if repeats:
        starts = _repeats(text, counted, records, _candidates(falls, [], records))
    edges = [1, *starts[:MOST]]
    lasts = [*(after - 1 for after in edges[1:]), None]
    return [Attempt(first, last, repeats and len(edges) > 1) for first, last in zip(edges, lasts, strict=True)]


def _repeats(text: _Text, counted: Sequence[Series], records: list[int], gaps: list[_Gap]) -> list[int]:
    """The first line of every fold or seed but the first: nothing goes on from the one before."""
    starts: list[int] = []
    for gap in gaps[: 5 * MOST]:
        since = starts[-1] if starts else 1
        if (
            gap.previous < since
            or not _all_afresh(counted, since, gap)
            or not as_at_first(counted, since, gap.previous + 1)
        ):
            continue
        messages = [_message(line) for line in text.lines(max(gap.previous + 1, gap.first - _GAP), gap.first)]
        if speaks_of_resuming(line.encode() for line in messages) or _next_of_a_plan(text, messages, since, ONE_MODEL):
            return []
        starts.append(gap.previous + 1)
    # One that is much shorter than the others is a stage of its own, or a warm-up.
    lengths = [after - before for before, after in pairwise([bisect_left(records, line) for line in [1, *starts]])]
    return starts if lengths and min(lengths) >= FEWEST_RECORDS else []


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


@dataclass(frozen=True)
class _Gap:
    """Where a new attempt may begin: behind the last record before it, up to its first."""

    previous: int
    """the line of the last record before; 0 where there is none"""
    first: int
    """the line of the next record, or the one that comes again where no record follows"""
    recorded: bool
    under_way: int = 0
    """the line of the first record of the attempt before"""


def _candidates(falls: list[int], again: list[int], records: list[int]) -> list[_Gap]:
    found = []
    for line in sorted({*falls, *again}):
        before = bisect_left(records, line)
        previous = records[before - 1] if before else 0
        recorded = before < len(records)
        found.append(_Gap(previous, records[before] if recorded else line, recorded))
    return list(dict.fromkeys(found))


def _starts(text: _Text, head: _Head, counted: Sequence[Series], records: list[int], gaps: list[_Gap]) -> list[int]:
    """The first line of every attempt but the first."""
    starts: list[_Start] = []
    for gap in gaps[: 5 * MOST]:
        since = starts[-1].line if starts else 1
        if gap.first <= since or (gap.previous < since and not _died_before(text, since, gap.first)):
            continue
        if gap.previous >= since and not _all_afresh(counted, since, gap):
            continue
        under_way = records[min(bisect_left(records, since), len(records) - 1)] if records else gap.first
        start = _start_between(text, head, since, replace(gap, under_way=under_way))
        if start is not None and start.line > since:
            starts.append(start)
    return [] if _is_cycle(starts, records) else [start.line for start in starts]


def _is_cycle(starts: list[_Start], records: list[int]) -> bool:
    """Whether a program goes through the same again and again: nothing but its own words tells the parts apart."""
    if len(starts) < 2 or any(start.certain for start in starts):
        return False
    edges = [0, *(bisect_left(records, start.line) for start in starts)]
    return len({after - before for before, after in pairwise(edges)}) == 1


def _died_before(text: _Text, since: int, first: int) -> bool:
    """Whether a program that had logged nothing yet came to an end."""
    return any(broke_off(line) for line in text.lines(max(since, first - _GAP), first))


def _all_afresh(counted: Sequence[Series], since: int, gap: _Gap) -> bool:
    """Whether every counter that was under way starts again, and then goes on from there."""
    seen = False
    for row in counted:
        begin, after = (int(place) for place in row.lines.searchsorted([since, gap.previous + 1]))
        if begin == after or after == len(row):
            continue
        stride = _stride(row, begin, after)
        if row.at[after] > row.at[begin] + stride and row.at[after] > 1:
            return False
        later = row.at[after : after + _SETTLED]
        if bool((later[1:] < later[:-1]).any()) or bool((later[1:] - later[:-1] > 4 * stride).any()):
            return False
        seen = True
    return seen or not gap.recorded


def _stride(row: Series, begin: int, after: int) -> float:
    import numpy as np

    steps = np.diff(row.at[begin:after])
    steps = steps[steps > 0]
    return float(np.median(steps)) if len(steps) else float(max(row.at[begin], 1.0))


@dataclass(frozen=True)
class _Start:
    """The first line of an attempt; `certain` where more than repeated words show that a program was started."""

    line: int
    certain: bool = True


def _start_between(text: _Text, head: _Head, since: int, gap: _Gap) -> _Start | None:
    """The line with which the next attempt begins; None where nothing shows that there is one."""
    low = max(gap.previous + 1, since + 1, gap.first - _GAP)
    lines = text.lines(low, gap.first if gap.recorded else gap.first + _GAP)
    messages = [_message(line) for line in lines]
    body = text.lines(max(gap.under_way, gap.previous - _BODY), gap.previous)
    usual = _usual([_key(_message(line)) for line in body], head)
    resumed = [line for line in messages if _key(line) not in head.keys]
    if speaks_of_resuming(line.encode() for line in resumed) or _next_of_a_plan(text, messages, since, PART_OF_A_PLAN):
        return None
    ends = [place for place, line in enumerate(lines) if broke_off(line)]
    keys = [_key(message) for message in messages]
    again = [place for place, key in enumerate(keys) if key in head.keys and key not in usual]
    launches = [place for place, line in enumerate(messages) if keys[place] not in usual and LAUNCH.search(line)]
    launches += [line - low for line in text.listings if low <= line < low + len(lines)]
    enough = len({keys[place] for place in again}) >= max(2, len(head.keys) / 2)
    heralds = sorted({*launches, *(again if enough or launches or ends else [])})
    if not gap.recorded:
        # A program may load its data once more when it has finished: only one that then fails was started again.
        return _Start(low + heralds[0]) if heralds and ends and ends[-1] > heralds[0] else None
    ended = max(ends, default=-1)
    behind = [place for place in heralds if place > ended]
    if behind:
        return _Start(low + behind[0], bool(launches or ends))
    if heralds or ended >= 0:
        return _Start(low + min(ended + 1, len(lines) - 1))
    return _Start(gap.first) if _broke_off_early(body, lines[-1:]) else None


def _usual(keys: list[str], head: _Head) -> set[str]:
    """What a run says under way; of the words that a log begins with, only those that come one by one: where several
    of them come together the program was started again, and perhaps broke off before its first record.
    """
    opening = set(head.keys)
    places = [place for place, key in enumerate(keys) if key in opening]
    together = {
        place
        for one, other in pairwise(places)
        for place in (one, other)
        if other - one <= _TOGETHER and keys[one] != keys[other]
    }
    return {key for place, key in enumerate(keys) if place not in together}


def _next_of_a_plan(text: _Text, gap: list[str], since: int, heading: re.Pattern[str]) -> bool:
    """Whether the gap heads the next fold, stage or task of one program: the same word, with another number."""
    told = dict(_planned(gap, heading))
    if not told:
        return False
    earlier = dict(_planned(reversed([_message(line) for line in text.lines(since, since + _HEAD_LINES)]), heading))
    return any(earlier.get(word, "") != number for word, number in told.items())


def _planned(lines: Iterable[str], heading: re.Pattern[str]) -> list[tuple[str, str]]:
    return [(found[1].lower(), found[2]) for line in lines if (found := heading.search(line[:200]))]


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
    return _gives_values(tuple(NUMBER.split(message[:2_000])[::2]))


@lru_cache(4_096)
def _gives_values(form: tuple[str, ...]) -> bool:
    """Whether lines of a form hold metrics: thousands of lines have the same one."""
    return understand(form) is not None
