"""Looking around inside a scope: which files there are, which match a glob, and their text line by line.

For the tools that show raw files. Memory is bounded whatever the files are: a line of a gigabyte, a folder that
links to itself, a million entries.
"""

from __future__ import annotations

import codecs
import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path, PurePosixPath
from typing import BinaryIO, NamedTuple

from traindx.errors import UsageError
from traindx.runtime.scope import Scope
from traindx.vocabulary.file_magic import LFS_POINTER, magic_of

SKIPPED_FOLDERS = frozenset(
    {".git", ".hg", ".svn", "node_modules", "site-packages", "__pycache__", ".venv", ".tox", ".mypy_cache"}
)
MOST_ENTRIES = 200_000
_MOST_ALTERNATIVES = 64
# Of a line that is longer than both together, only this much from either end is kept.
LINE_END_KEPT = 64 * 1024
_SNIFFED = 8192


@dataclass
class FileWalk:
    """The files below a folder of a scope, and what was not looked at."""

    scope: Scope
    start: str = "."
    skipped_folders: list[str] = field(default_factory=list)
    unreadable_folders: list[str] = field(default_factory=list)
    links_out: int = 0
    unspeakable: int = 0
    entries: int = 0

    @property
    def cut_short(self) -> bool:
        """Whether the walk ended before the folder did."""
        return self.entries >= MOST_ENTRIES

    def files(self) -> Iterator[str]:
        """Every regular file, sorted within its folder. Links to files inside are listed, folders not followed."""
        everywhere = self.scope.only if self.start in {".", ""} else ()
        for part in everywhere or (self.start,):
            start = self.scope.resolve(part)
            if start.is_file():
                yield start.relative_to(self.scope.root).as_posix()
            else:
                yield from self._below(start)

    def _below(self, top: Path) -> Iterator[str]:
        waiting = [top]
        while waiting:
            folder = waiting.pop()
            here = folder.relative_to(self.scope.root).as_posix()
            try:
                entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
            except OSError:
                self.unreadable_folders.append(here)
                continue
            below = []
            for entry in entries:
                self.entries += 1
                if self.cut_short:
                    return
                name = entry.name if here == "." else f"{here}/{entry.name}"
                if entry.is_dir(follow_symlinks=False):
                    if entry.name in SKIPPED_FOLDERS:
                        self.skipped_folders.append(name)
                    else:
                        below.append(folder / entry.name)
                elif not _is_text(name):
                    self.unspeakable += 1
                elif self._is_file_inside(entry):
                    yield name
            waiting += reversed(below)

    def _is_file_inside(self, entry: os.DirEntry[str]) -> bool:
        if not entry.is_symlink():
            return entry.is_file(follow_symlinks=False)
        real = Path(os.path.realpath(entry.path))
        inside = self.scope.root in real.parents
        self.links_out += not inside
        return inside and real.is_file()

    def left_out(self) -> list[str]:
        """What was not looked at, one sentence each."""
        said = []
        if self.skipped_folders:
            said.append(f"not searched: {_some(self.skipped_folders)}")
        if self.unreadable_folders:
            said.append(f"cannot be listed: {_some(self.unreadable_folders)}")
        if self.links_out:
            said.append(f"{self.links_out} link(s) point outside the run folder and were not followed")
        if self.unspeakable:
            said.append(f"{self.unspeakable} file(s) have a name that is not valid UTF-8 and cannot be requested")
        if self.cut_short:
            said.append(f"stopped after {MOST_ENTRIES:,} entries: start from a subfolder")
        return said


class GlobPattern:
    """`*`, `?`, `[ab]`, `{a,b}` within a name, `**` across folders; without a `/` it matches names at any depth."""

    def __init__(self, pattern: str) -> None:
        if not pattern.strip():
            raise UsageError("the pattern is empty; `**/*` matches every file")
        if pattern.startswith(("/", "~")):
            raise UsageError(f"the pattern `{pattern}` is absolute; give one relative to the run folder")
        if ".." in pattern.split("/"):
            raise UsageError(f"the pattern `{pattern}` contains `..`; nothing outside the run folder can be seen")
        spelled = _alternatives(pattern if "/" in pattern else f"**/{pattern}")
        self._alternatives = [_segments(one) for one in spelled]

    def matches(self, path: str) -> bool:
        """Whether a path relative to the run folder fits."""
        parts = PurePosixPath(path).parts
        return any(_fits(segments, parts) for segments in self._alternatives)


def _segments(pattern: str) -> list[str]:
    """The pattern folder by folder; `**` at the end means everything below, and twice in a row means once."""
    segments: list[str] = []
    for segment in (part for part in pattern.split("/") if part not in {"", "."}):
        if segment != "**" or segments[-1:] != ["**"]:
            segments.append(segment)
    return [*segments, "*"] if segments[-1:] == ["**"] else segments


def _alternatives(pattern: str) -> list[str]:
    """Every spelling of a pattern with `{a,b}` in it."""
    spelled, done = [pattern], []
    while spelled:
        one = spelled.pop()
        close = one.find("}")
        start = one.rfind("{", 0, close) if close >= 0 else -1
        if start < 0:
            done.append(one)
            continue
        spelled += [one[:start] + choice + one[close + 1 :] for choice in one[start + 1 : close].split(",")]
        if len(spelled) + len(done) > _MOST_ALTERNATIVES:
            raise UsageError(f"the pattern `{pattern}` has more than {_MOST_ALTERNATIVES} alternatives")
    return done


def _fits(segments: list[str], parts: tuple[str, ...]) -> bool:
    """Match folder by folder; on a mismatch the latest `**` takes one folder more, so the work stays bounded."""
    at_segment = at_part = 0
    star = resume = -1
    while at_part < len(parts):
        if at_segment < len(segments) and segments[at_segment] == "**":
            star, resume = at_segment, at_part
            at_segment += 1
        elif at_segment < len(segments) and fnmatchcase(parts[at_part], segments[at_segment]):
            at_segment += 1
            at_part += 1
        elif star >= 0:
            resume += 1
            at_segment, at_part = star + 1, resume
        else:
            return False
    return at_segment == len(segments)


def what_binary(handle: BinaryIO) -> str | None:
    """What kind of binary file this is, `None` for text; the position afterwards is the beginning."""
    head = handle.read(_SNIFFED)
    handle.seek(0)
    if head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return None
    magic = magic_of(head)
    if magic is not None and magic.first != LFS_POINTER:
        return magic.called
    if b"\0" in head:
        return "a safetensors file" if head[8:10] == b'{"' else "a binary file"
    strange = sum(byte < 32 and byte not in b"\t\n\r\f\b\x1b" for byte in head)
    return "a binary file" if strange > len(head) // 10 else None


class Line(NamedTuple):
    """A line without its end; of a very long one the middle is gone, `dropped` characters of it."""

    number: int
    text: str
    dropped: int = 0

    def followed_by(self, piece: str) -> Line:
        """The line when more of it has been read."""
        text, dropped = self.text + piece, self.dropped
        if len(text) > 2 * LINE_END_KEPT:
            dropped += len(text) - 2 * LINE_END_KEPT
            text = text[:LINE_END_KEPT] + text[-LINE_END_KEPT:]
        return Line(self.number, text, dropped)


def whole_lines(stretches: Iterable[tuple[int, str]], start: int = 1) -> Iterator[Line]:
    """Lines from `start` on, out of stretches of text that each come with the number of their first line."""
    held = Line(0, "")
    for first, text in stretches:
        pieces = text.split("\n")
        if first + len(pieces) - 1 < start:
            continue
        for number, piece in enumerate(pieces, first):
            if number == held.number:
                held = held.followed_by(piece)
            else:
                if held.number >= start:
                    yield held
                held = Line(number, piece) if len(piece) <= LINE_END_KEPT else Line(number, "").followed_by(piece)
    if held.number >= start and held.text:
        yield held


def _is_text(name: str) -> bool:
    """Whether a name can travel as JSON; Python marks the bytes of a name that are no UTF-8 with surrogates."""
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True


def _some(names: list[str]) -> str:
    shown = ", ".join(f"`{name}`" for name in names[:3])
    return f"{shown} and {len(names) - 3} more" if len(names) > 3 else shown
