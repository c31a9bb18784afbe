"""Warnings that name a fault although the run goes on."""

from pydantic import Field

from traindx.contract import ErrorSummary
from traindx.detectors.errors import warned
from traindx.readers import Run
from traindx.runtime import NoData, ToolInput, ToolOutput, tool
from traindx.vocabulary.error_texts import error_patterns


class Input(ToolInput):
    """How many warnings to return."""

    max_warnings: int = Field(default=20, ge=1, le=200, description="return at most this many, the earliest first")


class WarningReport(ToolOutput):
    """Warnings with file and line."""

    warnings: list[ErrorSummary]


@tool(needs=["errors"], emits=warned.SIGNALS)
def check_warnings(given: Input, run: Run) -> WarningReport:
    """List the warnings of the run's logs, and say which of them name a fault that does not stop the run: a variance
    over one value, an adapter without gradients.
    """
    rows = [row for row in run.errors if row.kind == "warning"]
    if not rows:
        raise NoData("no warning was printed")
    listed = [ErrorSummary(source=row.source, line=row.line, text=row.text, kind=row.kind) for row in rows]
    return WarningReport(
        warnings=listed[: given.max_warnings], signals=warned.detect(rows, error_patterns(run.project))
    )
