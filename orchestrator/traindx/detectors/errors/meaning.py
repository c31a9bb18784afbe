"""What an exception means whose words no family lists: by its class, where it was raised, and what it speaks of."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache

from traindx.definitions.clues import Clue, Raised
from traindx.definitions.rules import ErrorPattern
from traindx.detectors.errors.telling import is_installed
from traindx.readers.model import LogError
from traindx.vocabulary.prefixes import PREFIX

STRENGTH = 0.33
"""what clues say of a family, against the words of its own messages: they are right four times of five"""
INNERMOST = 8
"""frames that are asked where it was raised"""
LONGEST = 1_200
"""characters of a message that are read"""
_LABELS = re.compile(r"(?:\[[^\]\s]{1,40}\]:? ?|\([\w ]{1,40}pid=[^)]{1,40}\) ?|\d{1,5}: )+")
_LINE = re.compile(r"((?:[A-Za-z_]\w{0,80}\.){0,8}[A-Za-z_]\w{0,80})(?:\(\w{1,80}\))?(?::\s+(.*)|:?\s*$)", re.DOTALL)
_FRAME = re.compile(r'File "([^"]{1,400})", line \d{1,7}, in (\S{1,80})')
_WRAPPED = re.compile(
    r"((?:[A-Za-z_]\w{0,80}\.){0,8}[A-Z]\w{0,80}(?:Error|Exception|Warning|Exit|Timeout|Failure)): (.*)"
)
"""the exception of another process in the message of the one that reports it"""
_ON_PURPOSE = re.compile(r"(?:raise|assert)\b")
_BUILTIN = re.compile(r"[/\\]lib[/\\]python\d[^/\\]*[/\\]|[-]packages[/\\]")


def family_of(row: LogError, patterns: Sequence[ErrorPattern], *, first: bool = False) -> ErrorPattern | None:
    """The family whose clue holds with the most conditions; `first` asks only the clues that go before all words."""
    asked = _asked(tuple(patterns), first)
    if not asked:
        return None
    for raised in _raised(row):
        held = [(clue, family) for clue, family in asked if clue.holds(raised)]
        if held:
            return min(held, key=lambda one: (one[0].general, -one[0].conditions, one[1].rank, one[1].name))[1]
    return None


@lru_cache(maxsize=64)
def _asked(patterns: tuple[ErrorPattern, ...], first: bool) -> tuple[tuple[Clue, ErrorPattern], ...]:
    return tuple((clue, family) for family in patterns for clue in family.clues if clue.first or not first)


def _raised(row: LogError) -> Iterator[Raised]:
    """The exception of another process that its message holds, then the one that the line names."""
    wrapped = _within(row.more)
    if wrapped is not None:
        yield wrapped
    prefix = PREFIX.match(row.text)
    text = row.text[prefix.end() if prefix else 0 :]
    labels = _LABELS.match(text)
    said = _LINE.match(text[labels.end() if labels else 0 :])
    if said is None or not (row.frames or re.search(r"(?:Error|Exception)$", said[1])):
        return
    calls = row.calls or ("",) * len(row.frames)
    frames = [(path, call) for (path, _), call in zip(row.frames, calls, strict=False)]
    yield _made(said[1], f"{said[2] or ''}\n{row.more}", frames, row.code)


def _within(more: str) -> Raised | None:
    """The last exception of a message that repeats a traceback, with its frames."""
    frames = _FRAME.findall(more)
    lines = more.split("\n")
    ends = [(number, found) for number, line in enumerate(lines) if (found := _WRAPPED.match(line.strip()))]
    if not frames or not ends:
        return None
    number, last = ends[-1]
    before = lines[number - 1].strip() if number else ""
    return _made(last[1], "\n".join([last[2], *lines[number + 1 :]]), frames, before)


def _made(name: str, message: str, frames: Sequence[tuple[str, str]], code: str) -> Raised:
    """The exception with the places of its innermost frames."""
    installed = bool(frames) and is_installed([(frames[-1][0], 0)])
    refused = installed or name.endswith("AssertionError") or _ON_PURPOSE.match(code) is not None
    places = tuple(f"{_place(path)}:{call}" for path, call in frames[-INNERMOST:])
    return Raised(name, message.strip()[:LONGEST], places, refused, code, installed)


def _place(path: str) -> str:
    """An installed module by its package; of the user's own files their names."""
    path = path.replace("\\", "/")
    inside = _BUILTIN.split(path)
    return inside[-1] if len(inside) > 1 else path.rpartition("/")[2]
