"""How the run ended where no error tells: it stopped in the middle, fell silent, or was interrupted while it waited."""

from traindx.detectors.curves.objective import objective
from traindx.detectors.errors import ending
from traindx.detectors.errors.root import Logged, read
from traindx.detectors.errors.watched import Beside
from traindx.program.followed import training_lengths
from traindx.readers import Run
from traindx.readers.excerpts import read_excerpt, read_tail
from traindx.readers.model import Excerpt, Stretch
from traindx.runtime import NoData, ToolInput, ToolOutput, tool
from traindx.vocabulary.error_texts import error_patterns

TAIL = 64 << 10
"""bytes of a file beside the log that are read from its end"""
MOST_FILES = 12
_TEXTS = (".csv", ".txt", ".log", ".out", ".err", ".tsv")


class Input(ToolInput):
    """No options: the end of the log that the run is judged by is looked at."""


class EndReport(ToolOutput):
    """The last lines of the run."""

    source: str
    last_lines: list[str]


@tool(needs=["files"], emits=ending.SIGNALS)
def check_ending(given: Input, run: Run) -> EndReport:  # noqa: ARG001 - every tool takes its input
    """Look at how the log ends: in the middle of the planned steps without a word, after a long silence, with lines
    that go on while no step is logged, or with an interrupt that shows what the run waited for.
    """
    goal = run.once(objective)
    wanted = ending.wanted_lines(goal) if goal is not None else None
    waiting = ending.interrupted(run.errors)
    if goal is not None and wanted is not None:
        lines, before = (read_excerpt(run, one) for one in wanted)
        end = ending.Ending(lines, before)
        found = ending.detect(goal, end, run.errors, run.settings, _beside(run, lines.source), training_lengths(run))
        if _another_fell(run, lines.source):
            found = []
        return EndReport(source=lines.source, last_lines=_shown(lines), signals=[*found, *waiting])
    tail = _tail(run) if goal is None else None
    if tail is None:
        raise NoData("no text log whose end could be looked at")
    counted = any(row.source == tail.source and row.axis != "row" and len(row) > 1 for row in run.series)
    begun = [] if counted else ending.before_training(tail, run.errors)
    return EndReport(source=tail.source, last_lines=_shown(tail), signals=[*begun, *waiting])


def _another_fell(run: Run, source: str) -> bool:
    """Whether a process that logs to another file ended with an error of its own: this one waited for it."""
    errors = [row for row in run.errors if row.kind == "error"]
    readings = read(errors, error_patterns(run.project), Logged(run.series, run.once(objective)))
    return any(
        one.role == "root" and one.row.frames and not one.survived and one.row.source != source for one in readings
    )


def _beside(run: Run, source: str) -> list[Beside]:
    """The ends of the other text files: monitors, heartbeats and lists of processes."""
    roles = {"log", "data", "other", "metrics"}
    files = [file for file in run.files if file.role in roles and file.path != source and file.path.endswith(_TEXTS)]
    return [Beside("".join(run.lines(file.path, 1, 1)), read_tail(run, file.path, TAIL)) for file in files[:MOST_FILES]]


def _shown(lines: Excerpt) -> list[str]:
    return [line[:300] for line in lines.lines[-8:]]


def _tail(run: Run) -> Excerpt | None:
    """The last lines of the largest log."""
    logs = sorted((file for file in run.files if file.role == "log" and file.size), key=lambda file: -file.size)
    if not logs:
        return None
    path = logs[0].path
    with run.scope.open(path) as handle:
        count = sum(block.count(b"\n") for block in iter(lambda: handle.read(1 << 20), b"")) + 1
    return read_excerpt(run, Stretch(path, max(1, count - 20), count))
