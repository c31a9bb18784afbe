"""What lines of one form share: the bytes between their digits. Learnt from one line, checked on thousands.

A line is cut into runs of digits and the gaps between them. Signs, points, exponents, `nan` and names all stand in
the gaps, so lines with the same gaps are read alike, except where a pattern counts digits: those widths are fixed.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np

from traindx.readers.logs.bulk.digits import WIDEST, Floats, Places, Text, Truths, Words, decimals
from traindx.readers.logs.form import NUMBER
from traindx.readers.logs.ranks import LABEL, prefix_of
from traindx.readers.native.library import Library
from traindx.vocabulary.prefixes import LOOSE_PREFIX

_PARTS = re.compile(rb"([-+]?)(\d*)(\.?)(\d*)(?:[eE]([-+]?)(\d+))?")
# Digits after these are counted by `NUMBER`: groups of thousands and exponents.
_COUNTED = re.compile(rb",|[eE][-+]?")


@dataclass(frozen=True)
class Number:
    """A number of the line: the runs that spell it, or what it always is (`nan`)."""

    constant: float | None = None
    text: str = ""
    negative: bool = False
    whole: int = -1
    part: int = -1
    power: int = -1
    power_negative: bool = False
    before: int = 0
    """bytes of the number before its first run and after its last: a sign, a point"""
    after: int = 0


@dataclass
class Skeleton:
    """The gaps of a line, which of its runs must be as they are, and where its numbers stand."""

    gaps: list[bytes]
    """what stands before each run, and after the last"""
    numbers: list[Number] | None
    """None where the numbers cannot be read from their places alone"""
    widths: dict[int, int]
    """runs whose width is fixed"""
    literals: dict[int, bytes]
    """runs that belong to a name (`top5`): their digits are fixed"""
    rank: int = -1
    """the run that says which rank speaks: lines of all ranks have one skeleton"""
    words: Words = field(init=False)

    def __post_init__(self) -> None:
        tails = [int.from_bytes(gap[-8:].rjust(8, b"\0"), "little") for gap in self.gaps]
        self.words = np.array(tails, dtype=np.uint64)

    def fits(self, text: Text, line: Lines) -> Truths:
        """Which of the lines have exactly these gaps, widths and digits."""
        runs = len(self.gaps) - 1
        good: Truths = (line.words == self.words[:, None]).all(axis=0)
        previous = line.begin
        for place, gap in enumerate(self.gaps):
            here = line.starts[place] if place < runs else line.end
            if len(gap) >= 8:
                good &= here - previous == len(gap)
                for back in range(8, len(gap), 8):
                    piece = gap[max(0, len(gap) - back - 8) : len(gap) - back]
                    word = np.uint64(int.from_bytes(piece.rjust(8, b"\0"), "little"))
                    good &= text.words(np.maximum(here - back, 0), len(piece)) == word
            previous = line.ends[place] if place < runs else previous
        if runs:
            good &= ((line.ends - line.starts) <= WIDEST).all(axis=0)
        for place, width in self.widths.items():
            good &= line.ends[place] - line.starts[place] == width
        for place, digits in self.literals.items():
            good &= line.ends[place] - line.starts[place] == len(digits)
            for back in range(0, len(digits), 8):
                piece = digits[max(0, len(digits) - back - 8) : len(digits) - back]
                word = np.uint64(int.from_bytes(piece.rjust(8, b"\0"), "little"))
                good &= text.words(np.maximum(line.ends[place] - back, 0), len(piece)) == word
        return good


@dataclass(frozen=True)
class Lines:
    """Lines with the same number of runs: one column for each line, one row for each run."""

    begin: Places
    end: Places
    starts: Places
    ends: Places
    words: Words

    def only(self, chosen: Truths) -> Lines:
        """Some of the lines."""
        if bool(chosen.all()):
            return self
        index = np.flatnonzero(chosen)
        return Lines(
            self.begin.take(index),
            self.end.take(index),
            self.starts.take(index, axis=1),
            self.ends.take(index, axis=1),
            self.words.take(index, axis=1),
        )


def values(text: Text, lines: Lines, number: Number, code: Library | None) -> Floats:
    """One number of every line, by compiled code where there is some."""
    if number.constant is not None:
        return np.full(len(lines.begin), number.constant)
    starts, ends = span(lines, number)
    if code:
        found, left = code.numbers(text.until_end, starts, ends)
    else:
        found, left = _by_words(text, lines, number)
    if len(left):
        found[left] = [float(word) for word in text.spelled(starts[left], ends[left]).split()]
    return found


def _by_words(text: Text, lines: Lines, number: Number) -> tuple[Floats, Places]:
    whole = digits_of(text, lines, number.whole)
    places = np.zeros(len(lines.begin), dtype=np.int64)
    part = None
    if number.part >= 0:
        places = lines.ends[number.part] - lines.starts[number.part]
        part = digits_of(text, lines, number.part)
    powers = None
    if number.power >= 0:
        powers = digits_of(text, lines, number.power).view(np.int64)
        powers = -powers if number.power_negative else powers
    found, exact = decimals(whole, part, places, powers)
    return -found if number.negative else found, np.flatnonzero(~exact)


def span(lines: Lines, number: Number) -> tuple[Places, Places]:
    """Where one number of every line begins and ends."""
    runs = [run for run in (number.whole, number.part, number.power) if run >= 0]
    return lines.starts[runs[0]] - number.before, lines.ends[runs[-1]] + number.after


def digits_of(text: Text, lines: Lines, run: int) -> Words:
    """The number that one run of every line spells; nought where there is none."""
    if run < 0:
        return np.zeros(len(lines.begin), dtype=np.uint64)
    return text.digits(lines.ends[run], lines.ends[run] - lines.starts[run])


def learn(raw: bytes, runs: list[tuple[int, int]], spelled: tuple[str, ...] | None, labelled: bool = False) -> Skeleton:
    """The skeleton of a line with these runs; `spelled` are its numbers, None where it reports nothing."""
    edges = [0, *(edge for run in runs for edge in run), len(raw)]
    gaps = [raw[start:end] for start, end in zip(edges[::2], edges[1::2], strict=True)]
    # Bytes that are no text become lone surrogates here: they count as they stand, one for one.
    line = raw.decode(errors="surrogateescape")
    start, _, told = prefix_of(line, labelled)  # a prefix is plain text: its places are those of its bytes
    spans = [_bytes_of(line, start, found.span()) for found in NUMBER.finditer(line[start:])]
    label = LABEL.match(line) if labelled else None
    loose = LOOSE_PREFIX.match(line, label.end() if label else 0)
    fixed_until = len(line[: loose.end()].encode(errors="surrogateescape")) if loose else 0
    head = len(line[:start].encode(errors="surrogateescape"))
    counted = {place for place, gap in enumerate(gaps[1:-1], 1) if _COUNTED.fullmatch(gap)}
    counted |= {place - 1 for place in counted if gaps[place] == b","}
    widths = {
        place: end - begin
        for place, (begin, end) in enumerate(runs)
        if begin < max(fixed_until, head) or place in counted
    }
    inside = {place for place, (begin, end) in enumerate(runs) for a, b in spans if a <= begin and end <= b}
    literals = {
        place: raw[begin:end] for place, (begin, end) in enumerate(runs) if begin >= head and place not in inside
    }
    rank = next((place for place, (begin, _) in enumerate(runs) if begin == told), -1)
    odd = _straddles(runs, spans) or (told >= 0 and rank < 0)
    numbers = None if odd else _numbers(raw, runs, spans, spelled)
    return Skeleton(gaps, numbers, widths, literals, rank)


def _straddles(runs: list[tuple[int, int]], spans: list[tuple[int, int]]) -> bool:
    """Whether a number ends in the middle of a run: one so long that `NUMBER` cuts it."""
    return any(begin < edge < end for begin, end in runs for span in spans for edge in span)


def _bytes_of(line: str, start: int, span: tuple[int, int]) -> tuple[int, int]:
    if line.isascii():
        return start + span[0], start + span[1]
    first = len(line[: start + span[0]].encode(errors="surrogateescape"))
    return first, first + len(line[start + span[0] : start + span[1]].encode(errors="surrogateescape"))


def _numbers(
    raw: bytes, runs: list[tuple[int, int]], spans: list[tuple[int, int]], spelled: tuple[str, ...] | None
) -> list[Number] | None:
    if spelled is None:
        return []
    found = [raw[begin:end].decode(errors="replace") for begin, end in spans]
    if tuple(found) != spelled:
        return None
    numbers = [number_at(raw, runs, span) for span in spans]
    return None if None in numbers else [number for number in numbers if number is not None]


def number_at(raw: bytes, runs: list[tuple[int, int]], span: tuple[int, int]) -> Number | None:
    """The runs that spell the number between two places of a line; None where they are no plain decimal."""
    begin, end = span
    parts = _PARTS.fullmatch(raw, begin, end)
    if parts is None:
        text = raw[begin:end].decode(errors="replace")
        constant = _constant(text)
        return None if constant is None else Number(constant=constant, text=text)
    at = {first: place for place, (first, _) in enumerate(runs)}
    whole, part, power = (at.get(parts.start(group), -1) if parts[group] else -1 for group in (2, 4, 6))
    used = [run for run in (whole, part, power) if run >= 0]
    if not used or any(b - a != 1 for a, b in pairwise(used)):
        return None
    before, after = runs[used[0]][0] - begin, end - runs[used[-1]][1]
    return Number(None, "", parts[1] == b"-", whole, part, power, parts[5] == b"-", before, after)


def _constant(text: str) -> float | None:
    try:
        return None if any(letter.isdigit() for letter in text) else float(text)
    except ValueError:
        return None
