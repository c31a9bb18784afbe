"""Applying a fix's diff in a copy of the folder: every line that it names must stand there, or nothing is changed."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from traindx.errors import UsageError

_HUNK = re.compile(r"@@ -(\d+)(?:,\d+)? \+\d+(?:,\d+)? @@")
_FAR = 200
"""lines that a place may have moved since the diff was made"""


@dataclass(frozen=True)
class _Hunk:
    start: int
    old: tuple[str, ...]
    new: tuple[str, ...]


def apply_diff(diff: str, folder: Path) -> list[str]:
    """Change the files that a unified diff names; raises `UsageError` where it does not fit. Gives their paths."""
    changed: dict[Path, str] = {}
    names = []
    for name, hunks in _files(diff.splitlines()):
        target = _inside(name, folder)
        try:
            text = target.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError):
            raise UsageError(f"the fix changes `{name}`, which cannot be read in the copy") from None
        changed[target] = _applied(text, hunks, name)
        names.append(name)
    if not changed:
        raise UsageError("the fix has no diff that could be applied")
    for path, text in changed.items():
        path.write_text(text, encoding="utf-8")
    return names


def _inside(name: str, folder: Path) -> Path:
    """The file in the copy; a diff may come from a model, or from a file that somebody sent."""
    parts = PurePosixPath(name).parts
    target = folder.joinpath(*parts)
    if not parts or PurePosixPath(name).is_absolute() or ".." in parts or target.is_symlink():
        raise UsageError(f"the fix changes `{name}`, which is no file of the run's folder")
    if folder.resolve() not in target.resolve().parents:
        raise UsageError(f"the fix changes `{name}`, which is no file of the run's folder")
    return target


def _files(lines: Sequence[str]) -> Iterator[tuple[str, list[_Hunk]]]:
    name = ""
    hunks: list[_Hunk] = []
    for place, line in enumerate(lines):
        if line.startswith("+++ ") and place and lines[place - 1].startswith("--- "):
            if name:
                yield name, hunks
            name, hunks = line[4:].split("\t")[0].strip().removeprefix("b/"), []
        elif (found := _HUNK.match(line)) is not None:
            hunks.append(_hunk(int(found.group(1)), lines[place + 1 :]))
    if name:
        yield name, hunks


def _hunk(start: int, lines: Sequence[str]) -> _Hunk:
    old, new = [], []
    for place, line in enumerate(lines):
        ends = line.startswith("--- ") and place + 1 < len(lines) and lines[place + 1].startswith("+++ ")
        if ends or (line and line[0] not in " +-\\"):
            break
        if line[:1] in {" ", "-", ""}:
            old.append(line[1:])
        if line[:1] in {" ", "+", ""}:
            new.append(line[1:])
    return _Hunk(start, tuple(old), tuple(new))


def _applied(text: str, hunks: Sequence[_Hunk], name: str) -> str:
    lines = text.split("\n")
    moved = 0
    for hunk in hunks:
        wanted = max(0, hunk.start - 1 + moved)
        nearby = sorted(range(max(0, wanted - _FAR), wanted + _FAR), key=lambda at: abs(at - wanted))
        size = len(hunk.old)
        at = next((at for at in nearby if tuple(line.rstrip("\r") for line in lines[at : at + size]) == hunk.old), None)
        if at is None:
            raise UsageError(f"the fix does not fit `{name}` near line {hunk.start}: the file has changed since")
        ending = "\r" if size and lines[at].endswith("\r") else ""
        lines[at : at + size] = [line + ending for line in hunk.new]
        moved += len(hunk.new) - size
    return "\n".join(lines)
