"""What the errors that a run printed are about."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import PurePosixPath

from traindx.contract import Citation, Fact, Signal
from traindx.definitions.rules import ErrorPattern
from traindx.detectors.citing import cite_line
from traindx.readers.code.cells import frame_line
from traindx.readers.code.codeunit import CodeUnit
from traindx.readers.model import LogError
from traindx.vocabulary.error_texts import error_by_itself, error_patterns
from traindx.vocabulary.exceptions import known_exceptions

EXCEPTION = re.compile(r"(?:^|[\s:\]])([A-Za-z_][\w.]*(?:Error|Exception|Interrupt|Exit|Failure|Iteration))\b")
AROUND = 3
"""lines of code that are shown on each side of the one that raised"""
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
        named["error-unexplained"] = _unexplained(unexplained, errors, code)
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


def _unexplained(row: LogError, errors: Sequence[LogError], code: Sequence[CodeUnit]) -> Signal:
    """An exception with what is known of its class, the code around the user's own line, and what came of it."""
    signal = _signal("error-unexplained", "an exception ended the run", row, code)
    facts, places = dict(signal.facts), list(signal.citations)
    raised = EXCEPTION.search(row.text)
    name = raised[1].rpartition(".")[2] if raised else ""
    known = known_exceptions().get(name)
    if known is not None:
        facts |= {"exception": name, "exception_means": known.means, "exception_look": known.look}
    frame = _own_frame(row, code)
    if frame is not None and frame[0].quote(frame[1]):
        unit, line = frame
        locator, text = unit.around(line, AROUND)
        places.append(Citation(claim="the code around it", source=unit.path, locator=locator, quote=text))
    elif not row.source.endswith(".ipynb"):
        # The program is not in the folder: of its lines there is only what the traceback shows.
        locator = f"lines {max(1, row.line - 2 * AROUND)}-{row.line - 1}"
        places.append(Citation(claim="the end of its traceback", source=row.source, locator=locator))
    last = _chained(row, errors)
    if last is not row:
        facts["led_to"] = last.text
        places.append(cite_line(last.source, last.line, "the exception that it led to", last.text))
    return signal.model_copy(update={"facts": facts, "citations": places})


def _chained(row: LogError, errors: Sequence[LogError]) -> LogError:
    """The last exception of the chain that an exception began."""
    later = next(
        (one for one in errors if one.follows == row.line and one.source == row.source and one is not row), None
    )
    return row if later is None or later.line <= row.line else _chained(later, errors)


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
    """The innermost frame in a file of the run folder, and its line of code: libraries raise, users' lines cause."""
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
