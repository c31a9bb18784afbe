"""Where a path comes from that does not exist, or may not be opened: the line that names it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import PurePosixPath

from traindx.contract import Fact, Signal
from traindx.detectors.citing import cite_line, cite_setting
from traindx.detectors.errors.root import Reading
from traindx.readers.model import Excerpt, Setting

RARE = 3
"""lines that hold a part of the path: one that stands in more of them tells nothing"""
SHORTEST = 6
SIGNALS = {"path-named-here": "the line that names the path which could not be opened"}


def path_of(cause: Reading | None) -> str:
    """The path that an error names; empty where it names none."""
    return cause.facts.get("path", "") if cause is not None else ""


def detect(path: str, settings: Sequence[Setting], lists: Iterable[Excerpt]) -> list[Signal]:
    """A setting that is the path or a folder on its way, else the line of a list that holds its name."""
    wanted = PurePosixPath(path.replace("\\", "/"))
    if len(wanted.name) < 3:
        return []
    for row in settings:
        given = PurePosixPath(str(row.value).replace("\\", "/")) if isinstance(row.value, str) else None
        if given is not None and given.name and (given.name == wanted.name or _holds(wanted, given)):
            facts: dict[str, Fact] = {"path_key": row.key, "path_place": f"{row.source}:{row.line}"}
            place = cite_setting(row, f"`{row.key}` sets the path")
            return [Signal(id="path-named-here", claim=f"`{row.key}` sets the path", citations=[place], facts=facts)]
    lists = list(lists)
    for name in _names(wanted):
        found = [(text.source, number) for text in lists for number, line in text.numbered() if name in line]
        if not found or (name != wanted.name and len(found) > RARE):
            continue
        source, number = found[0]
        claim = f"`{name}` is named here"
        facts = {"path_place": f"{source}:{number}"}
        place = cite_line(source, number, claim)
        return [Signal(id="path-named-here", claim=claim, citations=[place], facts=facts)]
    return []


def _names(path: PurePosixPath) -> list[str]:
    """What a list may hold of a path: its name, the name without its suffix, and the folders with their values."""
    parts = [path.name, path.stem, *reversed(path.parts[:-1])]
    values = [value for part in parts for value in (part, part.partition("=")[2]) if len(value) >= SHORTEST]
    return list(dict.fromkeys([path.name, *values]))


def _holds(path: PurePosixPath, folder: PurePosixPath) -> bool:
    """Whether a setting is a folder on the way to the path: two names at least, so that `data` alone is none."""
    return len(folder.parts) > 1 and path.parts[: len(folder.parts)] == folder.parts
