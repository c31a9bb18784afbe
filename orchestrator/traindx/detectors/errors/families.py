"""What the errors that a run printed are about, the first of them before what followed from it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import PurePosixPath

from traindx.contract import Citation, Fact, Signal, SignalKind
from traindx.definitions.rules import ErrorPattern
from traindx.detectors.citing import cite_line
from traindx.detectors.errors import meaning
from traindx.detectors.errors.root import EXCEPTION, Logged, Reading, first_cause, read
from traindx.detectors.errors.telling import own_frame, told
from traindx.readers.code.codeunit import CodeUnit
from traindx.readers.logs.frames import FATAL
from traindx.readers.logs.ranks import rank_in_name
from traindx.readers.model import LogError
from traindx.vocabulary.error_texts import error_by_itself, error_patterns
from traindx.vocabulary.exceptions import known_exceptions

AROUND = 3
"""lines of code that are shown on each side of the one that raised"""
SIGNALS: dict[str, str | SignalKind] = {
    **{one.name: SignalKind(one.means, group=one.group) for one in error_patterns() if one.role in {"root", "cascade"}},
    "error-unexplained": "the run ended with an exception that matches no known error family",
    "error-survived": "an error after which the run went on, or of which it says that it goes on",
    "run-ended-by-error": "the last thing the run printed is an error",
    "active-when-ended": "the run was ended from outside while it went on logging values: it did not hang",
    "error-at-the-end": "an error of the machine, the scheduler or the driver after which nothing was logged",
}


def detect(
    errors: Sequence[LogError],
    code: Sequence[CodeUnit],
    patterns: Sequence[ErrorPattern] | None = None,
    last_value: tuple[str, int] | None = None,
    logged: Logged | None = None,
) -> list[Signal]:
    """What the first error means, whether it ended the run, and what the run survived.

    `last_value` is the file and line of the last value that the run logged.
    """
    readings = read(errors, error_patterns() if patterns is None else patterns, logged)
    found = [_of_survived(readings, code)]
    cause = first_cause(readings)
    if cause is not None:
        ended = [one.row for one in readings if one.row.frames and not one.survived] or [cause.row]
        found += [_of_cause(cause, readings, code)]
        found += [told("run-ended-by-error", "the run ended with an error", ended[-1], code)]
        row, family = cause.row, cause.family
        if family is not None and family.lingers and logged is not None and logged.after(row.source, row.line):
            found += [told("active-when-ended", "values were logged even after this: the run was at work", row, code)]
    else:
        # A traceback that tells of a lost peer alone names no cause, but the run did end with it.
        lost = [one.row for one in readings if one.role == "teardown" and one.row.frames and not one.survived]
        found += [told("run-ended-by-error", "the run ended with an error", row, code) for row in lost[-1:]]
        final = next((one.row for one in readings if _ends(one, errors, last_value)), None)
        found += [told("error-at-the-end", "nothing was logged after this", final, code) if final else None]
    return [signal for signal in found if signal is not None]


def _of_cause(cause: Reading, readings: Sequence[Reading], code: Sequence[CodeUnit]) -> Signal:
    facts: dict[str, Fact] = dict(cause.facts)
    rank = _rank(cause)
    if rank is not None:
        facts["rank"] = rank
    after = [one for one in readings if one is not cause and not one.survived and one.role not in {None, "advice"}]
    if after:
        facts["followed_by"] = len(after)
    if cause.row.frames and cause.row.text.rpartition("] ")[2].startswith(FATAL):
        facts["crashed_in"] = _called_in(cause.row)
    if cause.family is None:
        return _unexplained(cause.row, [one.row for one in readings], code, facts)
    where = "" if rank is None else f", on rank {rank}"
    signal = told(cause.family.name, f"{cause.family.means}{where}", cause.row, code, facts)
    strength = min(cause.family.strength, meaning.STRENGTH) if cause.inferred else cause.family.strength
    return signal.model_copy(update={"strength": strength})


def _rank(cause: Reading) -> int | None:
    """The rank it was; what a file's name counts may be machines."""
    named = rank_in_name(cause.row.source) if cause.row.rank is None else None
    return cause.rank if named is None or named.kind not in {"node", "host"} else None


def _called_in(row: LogError) -> str:
    """The innermost call of a crash, with the package that it belongs to."""
    path, line = row.frames[-1]
    path = path.replace("\\", "/")
    package = path.partition("-packages/")[2].partition("/")[0]
    name = f"{PurePosixPath(path).name}:{line}"
    return f"{name} of {package}" if package else name


def _of_survived(readings: Sequence[Reading], code: Sequence[CodeUnit]) -> Signal | None:
    row = next((one.row for one in readings if one.survived and one.role not in {None, "advice", "teardown"}), None)
    return told("error-survived", "the run went on after this error", row, code) if row is not None else None


def _ends(one: Reading, errors: Sequence[LogError], last_value: tuple[str, int] | None) -> bool:
    """Whether the run logged nothing after an error that a running program does not survive."""
    if one.row.frames or one.survived or one.role == "advice" or error_by_itself().search(one.row.text) is None:
        return False
    if last_value is None:
        return True
    source, line = last_value
    return one.row.source == source and one.row.line > line and all(row.source == source for row in errors)


def _unexplained(row: LogError, errors: Sequence[LogError], code: Sequence[CodeUnit], more: dict[str, Fact]) -> Signal:
    """An exception with what is known of its class, the code around the user's own line, and what came of it."""
    signal = told("error-unexplained", "an exception ended the run", row, code, more)
    facts, places = dict(signal.facts), list(signal.citations)
    raised = EXCEPTION.search(row.text)
    name = (raised[1] or raised[2]).rpartition(".")[2] if raised else ""
    known = known_exceptions().get(name)
    if known is not None:
        facts |= {"exception": name, "exception_means": known.means, "exception_look": known.look}
    frame = own_frame(row, code)
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
