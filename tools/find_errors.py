"""The errors a run printed, root before cascade, and what each of them is about."""

from pydantic import Field

from traindx.contract import ErrorSummary
from traindx.detectors.curves.objective import objective
from traindx.detectors.errors import families
from traindx.detectors.errors.root import Logged, first_cause, read
from traindx.readers import LogError, Run
from traindx.runtime import NoData, ToolInput, ToolOutput, tool
from traindx.vocabulary.error_texts import error_patterns


class Input(ToolInput):
    """How many errors to return."""

    max_errors: int = Field(default=20, ge=1, le=200, description="return at most this many, the earliest first")


class ErrorReport(ToolOutput):
    """Errors with file and line; the first is the likeliest root."""

    errors: list[ErrorSummary]
    warnings: list[ErrorSummary]
    left_out: int = 0


@tool(needs=["errors"], emits=families.SIGNALS)
def find_errors(given: Input, run: Run) -> ErrorReport:
    """List the errors and warnings in the run's logs with file and line, the likeliest root first."""
    printed = [row for row in run.errors if row.kind == "error"]
    warnings = [row for row in run.errors if row.kind == "warning"]
    if not printed and not warnings:
        logs = ", ".join(file.path for file in run.files if file.role == "log") or "no log file"
        raise NoData(f"no error or warning was printed; looked in: {logs}")
    most = given.max_errors
    logged = Logged(run.series, run.once(objective))
    patterns = error_patterns(run.project)
    first = first_cause(read(printed, patterns, logged))
    errors = sorted(
        printed, key=lambda row: first is None or row.text != first.row.text or row.source != first.row.source
    )
    return ErrorReport(
        errors=[_row(row) for row in errors[:most]],
        warnings=[_row(row) for row in warnings[:most]],
        left_out=max(0, len(errors) - most) + max(0, len(warnings) - most),
        signals=families.detect(printed, run.code, patterns, _last_value(run), logged),
    )


def _last_value(run: Run) -> tuple[str, int] | None:
    """The file and line of the last value of the curve that the run is judged by."""
    goal = run.once(objective)
    last = len(goal) - 1 if goal is not None else -1
    return (goal.series.source_at(last), int(goal.series.lines[last])) if goal is not None and last >= 0 else None


def _row(row: LogError) -> ErrorSummary:
    return ErrorSummary(source=row.source, line=row.line, text=row.text, kind=row.kind)
