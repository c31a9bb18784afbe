"""Grep: lines that match a regular expression, with file and line number."""

from __future__ import annotations

import re
import signal
import threading
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from types import FrameType

from pydantic import Field

from traindx.contract import Value
from traindx.errors import UnreadableInput, UsageError
from traindx.readers import Run
from traindx.readers.folder.browse import FileWalk, GlobPattern, Line, what_binary, whole_lines
from traindx.readers.logs.lines import blocks
from traindx.runtime import NoData, ToolInput, ToolOutput, tool

# What is searched of a line between two carriage returns: a slow pattern is quadratic in this or worse.
_WIDEST = 8192
_SHOWN = 300
_MOST_CHARACTERS = 60_000
Stretch = tuple[int, str]
_SPECIAL = re.compile(r"[\\.^$*+?{}\[\]()\n]")


class Input(ToolInput):
    """What to look for, and where."""

    pattern: str = Field(min_length=1, description="Python regular expression, searched within each line")
    path: str = Field(default=".", description="file or folder to search, relative to the run folder")
    glob: str = Field(default="**/*", description="only files whose path matches, e.g. `*.log` or `src/**/*.py`")
    ignore_case: bool = Field(default=False, description="let upper and lower case match each other")
    context: int = Field(default=0, ge=0, le=20, description="show this many lines before and after each match")
    max_matches: int = Field(default=100, ge=1, le=1000, description="stop after this many matching lines")
    max_seconds: float = Field(default=8.0, gt=0.0, le=10.0, description="stop searching after this long")


class Match(Value):
    """A line that matches."""

    path: str
    line: int
    text: str
    before: list[str] = Field(default_factory=list, description="the lines before it, nearest last")
    after: list[str] = Field(default_factory=list, description="the lines after it, nearest first")


class Matches(ToolOutput):
    """Matching lines in the order of files and lines."""

    matches: list[Match]
    files_searched: int
    left_out: list[str] = Field(description="what was not searched or is not shown, and how to see it")


@tool(timeout=12.0)
def Grep(request: Input, run: Run) -> Matches:  # noqa: N802 the name it has in Claude Code
    """Search the text files of the run for a regular expression and return matching lines with file and line.

    Binary files are skipped. Progress bars that overwrite one line with carriage returns are searched piece by piece.
    """
    search = Search(request, _compiled(request), GlobPattern(request.glob))
    walk = FileWalk(run.scope, request.path)
    try:
        with _time_limit(request.max_seconds):
            for path in walk.files():
                if search.glob.matches(path) and not search.full:
                    search.file(path, run)
    except _OutOfTime:
        search.stopped()
    left_out = search.left_out() + walk.left_out()
    if not search.matches:
        remarks = "".join(f"; {remark}" for remark in left_out)
        where = f"`{request.path}`" if request.path != "." else "the run folder"
        raise NoData(f"nothing in {where} matches `{request.pattern}` ({search.searched} files searched{remarks})")
    return Matches(matches=search.matches, files_searched=search.searched, left_out=left_out)


@dataclass
class Search:
    """A search under way: what it has found, and where it stands."""

    request: Input
    expression: re.Pattern[str]
    glob: GlobPattern
    matches: list[Match] = field(default_factory=list)
    searched: int = 0
    binary: int = 0
    unreadable: list[str] = field(default_factory=list)
    wide: int = 0
    at: str = ""
    timed_out: bool = False
    room: int = _MOST_CHARACTERS

    @property
    def full(self) -> bool:
        """Whether enough has been found."""
        return len(self.matches) >= self.request.max_matches or self.room <= 0

    def file(self, path: str, run: Run) -> None:
        """Search one file, line by line."""
        try:
            handle = run.scope.open(path)
        except UnreadableInput as error:
            self.unreadable.append(str(error))
            return
        with handle:
            if what_binary(handle) is not None:
                self.binary += 1
                return
            self.searched += 1
            self.at = path
            self._lines(path, whole_lines(_promising(blocks(handle), self.request, self.expression)))

    def _lines(self, path: str, lines: Iterator[Line]) -> None:
        before: deque[str] = deque(maxlen=self.request.context)
        open_matches: list[Match] = []
        for line in lines:
            shown = self._found_in(line) if not self.full else None
            for match in open_matches:
                match.after.append(_shortened(line.text))
            open_matches = [match for match in open_matches if len(match.after) < self.request.context]
            if shown is not None:
                match = Match(path=path, line=line.number, text=shown, before=list(before), after=[])
                self.matches.append(match)
                self.room -= len(shown) + sum(map(len, before))
                if self.request.context:
                    open_matches.append(match)
            if self.full and not open_matches:
                return
            if self.request.context:
                before.append(_shortened(line.text))

    def _found_in(self, line: Line) -> str | None:
        """The matching part of a line as it is shown, `None` without a match."""
        if len(line.text) <= _WIDEST and "\r" not in line.text:
            hit = self.expression.search(line.text)
            return _around(line.text, hit) if hit else None
        for piece in line.text.split("\r"):
            windows = [piece] if len(piece) <= _WIDEST else [piece[: _WIDEST // 2], piece[-_WIDEST // 2 :]]
            self.wide += len(windows) - 1
            for window in windows:
                if hit := self.expression.search(window):
                    return _around(window, hit)
        return None

    def stopped(self) -> None:
        """Note that time ran out; with nothing found that is the answer."""
        self.timed_out = True
        if not self.matches:
            seconds = f"{self.request.max_seconds:g} s"
            raise UsageError(
                f"the search for `{self.request.pattern}` was stopped in `{self.at}` after {seconds} "
                "with nothing found: a simpler pattern (no repeats inside repeats) or a narrower `path` is faster"
            )

    def left_out(self) -> list[str]:
        """What was not searched or is not shown, one sentence each."""
        said = []
        if self.full:
            said.append(f"stopped after {len(self.matches)} matches: narrow `path`, `glob` or `pattern` for the rest")
        if self.timed_out:
            said.append(
                f"stopped in `{self.at}` after {self.request.max_seconds:g} s: narrow `path` or `glob` for the rest"
            )
        if self.binary:
            said.append(f"{self.binary} binary file(s) skipped")
        if self.wide:
            said.append(f"{self.wide} line(s) longer than {_WIDEST} characters were searched at both ends only")
        return said + self.unreadable[:3]


class _OutOfTime(Exception):
    """The search took too long."""


@contextmanager
def _time_limit(seconds: float) -> Iterator[None]:
    """Raise `_OutOfTime` in the middle of whatever runs, also inside `re`, which looks for signals as it goes."""

    def ring(_number: int, _frame: FrameType | None) -> None:
        raise _OutOfTime

    if threading.current_thread() is not threading.main_thread():
        yield
        return
    previous = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, previous)


def _compiled(request: Input) -> re.Pattern[str]:
    try:
        return re.compile(request.pattern, re.IGNORECASE if request.ignore_case else 0)
    except (re.error, OverflowError, RecursionError) as error:
        raise UsageError(
            f"`{request.pattern}` is not a regular expression: {error}; "
            "put `\\` before a special character to mean itself"
        ) from None


def _promising(stretches: Iterator[Stretch], request: Input, expression: re.Pattern[str]) -> Iterator[Stretch]:
    """Only stretches with a match and, where context is wanted, their neighbours: most of a big log is neither."""
    words = request.pattern.split("|")
    plain = not request.ignore_case and not _SPECIAL.search(request.pattern) and all(words)
    before: Stretch | None = None
    near = False
    for stretch in stretches:
        hit = (not plain or any(word in stretch[1] for word in words)) and _may_match(stretch[1], expression)
        if hit and request.context and before is not None:
            yield before
        wanted = hit or (near and request.context > 0)
        if wanted:
            yield stretch
        before, near = None if wanted else stretch, hit


def _may_match(text: str, expression: re.Pattern[str]) -> bool:
    """Whether a line of the text matches; lines that are not searched as a whole count as if they did."""
    lines = text.split("\n")
    if "\r" in text or max(map(len, lines)) > _WIDEST:
        return True
    return any(map(expression.search, lines))


def _around(text: str, hit: re.Match[str]) -> str:
    """The line, or for a long one the part around the match."""
    if len(text) <= _SHOWN:
        return text.removesuffix("\r")
    start = max(0, hit.start() - _SHOWN // 3)
    end = min(len(text), start + _SHOWN)
    return ("…" if start else "") + text[start:end] + ("…" if end < len(text) else "")


def _shortened(text: str) -> str:
    text = text.rpartition("\r")[2] or text
    return text if len(text) <= _SHOWN else text[: _SHOWN - 1] + "…"
