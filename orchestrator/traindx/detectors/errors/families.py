"""What the errors that a run printed are about."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import PurePosixPath

from traindx.contract import Fact, Signal
from traindx.definitions.rules import ErrorPattern
from traindx.detectors.citing import cite_line
from traindx.readers.code.cells import frame_line
from traindx.readers.code.codebase import CodeUnit
from traindx.readers.model import LogError
from traindx.vocabulary.error_texts import error_by_itself, error_patterns

EXCEPTION = re.compile(r"(?:^|[\s:\]])([A-Za-z_][\w.]*(?:Error|Exception|Interrupt|Exit|Failure))\b")
SIGNALS = {
    **{one.name: one.means for one in error_patterns() if one.matches},
    "error-unexplained": "the run ended with an exception that matches no known error family",
    "run-ended-by-error": "the last thing the run printed is an error",
    "error-at-the-end": "an error of the machine, the scheduler or the driver after which nothing was logged",
}


def detect(
    errors: Sequence[LogError],
    code: Sequence[CodeUnit],
    patterns: Sequence[ErrorPattern] | None = None,
    last_value: tuple[str, int] | None = None,
) -> list[Signal]:
    """What the errors mean, the first of each family; and whether one ended the run.

    `last_value` is the file and line of the last value that the run logged.
    """
    patterns = error_patterns() if patterns is None else patterns
    named: dict[str, Signal] = {}
    for row in errors:
        family = next((one for one in patterns if one.pattern.search(row.text)), None)
        if family is not None and family.name not in named:
            named[family.name] = _signal(family.name, family.means, row, code)
    unexplained = next((row for row in errors if row.frames and EXCEPTION.search(row.text)), None)
    if not named and unexplained is not None:
        named["error-unexplained"] = _signal("error-unexplained", "an exception ended the run", unexplained, code)
    ended = [row for row in errors if row.frames]
    if named and ended:
        named["run-ended-by-error"] = _signal("run-ended-by-error", "the run ended with a traceback", ended[-1], code)
    final = next((row for row in errors if not row.frames and _ends(row, errors, last_value)), None)
    if not named and final is not None:
        named["error-at-the-end"] = _signal("error-at-the-end", "nothing was logged after this", final, code)
    return list(named.values())


def _ends(row: LogError, errors: Sequence[LogError], last_value: tuple[str, int] | None) -> bool:
    """Whether the run logged nothing after an error that a running program does not survive."""
    if error_by_itself().search(row.text) is None:
        return False
    if last_value is None:
        return True
    source, line = last_value
    return row.source == source and row.line > line and all(one.source == source for one in errors)


def _signal(name: str, means: str, row: LogError, code: Sequence[CodeUnit]) -> Signal:
    places = [cite_line(row.source, row.line, means, row.text)]
    facts: dict[str, Fact] = {"error": row.text, "error_place": f"{row.source}:{row.line}"}
    frame = _own_frame(row, code)
    if frame is not None:
        unit, line = frame
        facts["frame"] = unit.place(line)
        if unit.quote(line):
            places.append(cite_line(unit.path, unit.file_line(line), "the line that raised it", unit.quote(line)))
    return Signal(id=name, claim=f"{means}: {row.text}", citations=places, facts=facts)


def _own_frame(row: LogError, code: Sequence[CodeUnit]) -> tuple[CodeUnit, int] | None:
    """The innermost frame in a file of the run folder, and the line of its code: libraries raise, users' lines cause."""
    units = {PurePosixPath(unit.path).name: unit for unit in code}
    notebook = next((unit for unit in code if unit.path == row.source and unit.notebook), None)
    for printed, line in reversed(row.frames):
        in_cell = frame_line(notebook.notebook, printed, line) if notebook and notebook.notebook else None
        if notebook is not None and in_cell is not None:
            return notebook, in_cell
        name = PurePosixPath(printed.replace("\\", "/")).name
        if name in units and "site-packages" not in printed:
            return units[name], line
    return None
