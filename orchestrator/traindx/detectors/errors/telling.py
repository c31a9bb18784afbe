"""An error as a signal: what it means, where it stands, and the line of the user's own code behind it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import PurePosixPath

from traindx.contract import Fact, Signal
from traindx.detectors.citing import cite_code, cite_line
from traindx.readers.code.cells import frame_line
from traindx.readers.code.codeunit import CodeUnit
from traindx.readers.model import LogError

_INSTALLED = re.compile(r"(?:site|dist)-packages|[/\\]lib[/\\]python\d|<frozen |<string>")
"""where installed packages stand, whose files may have the names of the user's own"""

MOST_FRAMES = 3
"""lines of the user's own that are cited for one error"""


def told(name: str, means: str, row: LogError, code: Sequence[CodeUnit], more: dict[str, Fact] | None = None) -> Signal:
    """The signal of an error, with the line that raised it where the run holds it."""
    places = [cite_line(row.source, row.line, means, row.text)]
    facts: dict[str, Fact] = {**(more or {}), "error": row.text, "error_place": f"{row.source}:{row.line}"}
    for unit, line in own_frames(row, code)[:MOST_FRAMES]:
        claim = "called from here" if "frame" in facts else "the line that raised it"
        facts.setdefault("frame", unit.place(line))
        if unit.quote(line):
            places.append(cite_code(unit, line, claim))
    return Signal(id=name, claim=f"{means}: {row.text}", citations=places, facts=facts)


def is_installed(frames: Sequence[tuple[str, int]]) -> bool:
    """Whether every frame of a traceback stands in an installed package or the interpreter."""
    return all(_INSTALLED.search(path) for path, _ in frames)


def own_frame(row: LogError, code: Sequence[CodeUnit]) -> tuple[CodeUnit, int] | None:
    """The innermost frame in a file of the run folder, and its line of code: libraries raise, users' lines cause."""
    return next(iter(own_frames(row, code)), None)


def own_frames(row: LogError, code: Sequence[CodeUnit]) -> list[tuple[CodeUnit, int]]:
    """The frames in files of the run folder, innermost first."""
    found: list[tuple[CodeUnit, int]] = []
    notebook = next((unit for unit in code if unit.path == row.source and unit.notebook), None)
    for printed, line in reversed(row.frames):
        in_cell = frame_line(notebook.notebook, printed, line) if notebook and notebook.notebook else None
        if notebook is not None and in_cell is not None:
            found.append((notebook, in_cell))
            continue
        unit = None if _INSTALLED.search(printed) else _unit_at(printed, code)
        if unit is not None:
            found.append((unit, line))
    return found


def _unit_at(printed: str, code: Sequence[CodeUnit]) -> CodeUnit | None:
    """The file of the run that a frame speaks of: of those with its name, the one that shares most of its folders."""
    parts = PurePosixPath(printed.replace("\\", "/")).parts
    alike = [unit for unit in code if PurePosixPath(unit.path).name == parts[-1]] if parts else []
    return max(alike, key=lambda unit: _shared(PurePosixPath(unit.path).parts, parts), default=None)


def _shared(one: Sequence[str], other: Sequence[str]) -> int:
    """How many parts two paths share at their ends."""
    pairs = zip(reversed(one), reversed(other), strict=False)
    return next((count for count, (mine, theirs) in enumerate(pairs) if mine != theirs), min(len(one), len(other)))
