"""The errors a run printed, root before cascade, and what each of them is about."""

import re
from dataclasses import dataclass
from pathlib import PurePosixPath

from pydantic import Field

from traindx.contract import Citation, ErrorSummary, Fact, Signal
from traindx.readers import LogError, Run
from traindx.runtime import NoData, ToolInput, ToolOutput, tool


class Input(ToolInput):
    """How many errors to return."""

    max_errors: int = Field(default=20, ge=1, le=200, description="return at most this many, the earliest first")


class ErrorReport(ToolOutput):
    """Errors with file and line; the first is the likeliest root."""

    errors: list[ErrorSummary]
    warnings: list[ErrorSummary]
    left_out: int = 0


@dataclass(frozen=True)
class Family:
    """Error texts that mean one thing. The pattern is searched in the error's own line, never in advice around it."""

    signal: str
    means: str
    pattern: re.Pattern[str]


def _family(signal: str, means: str, pattern: str) -> Family:
    return Family(signal, means, re.compile(pattern, re.IGNORECASE))


# Order matters where texts overlap: the first family that matches names the error.
FAMILIES = (
    _family(
        "error-state-graph",
        "backward ran through a graph that an earlier backward had freed",
        r"backward through the graph a second time|saved (variables|intermediate values).{0,80}already been freed",
    ),
    _family(
        "error-device-memory",
        "an allocation on the accelerator failed",
        r"(cuda|hip|mps)[\w .:]{0,30}out of memory|torch\.(cuda\.)?OutOfMemoryError|CUBLAS_STATUS_ALLOC_FAILED"
        r"|ResourceExhaustedError|OOM when allocating tensor|RESOURCE_EXHAUSTED: Out of memory",
    ),
    _family(
        "error-loss-scale",
        "the loss scaler gave up: it had halved to its floor",
        r"minimum loss scale reached|loss scale (?:is )?already at minimum|loss scale.{0,30}below (?:the )?min",
    ),
    _family(
        "error-missing-file",
        "a path that the run needs does not exist",
        r"FileNotFoundError|No such file or directory|NotADirectoryError",
    ),
    _family(
        "error-shapes",
        "tensor shapes do not fit",
        r"shapes cannot be multiplied|size mismatch,? (got|m1)|must match the size of tensor"
        r"|expects each tensor to be equal size|Expected .{0,40}dimension|shape '.{0,40}' is invalid for input"
        r"|Sizes of tensors must match|could not be broadcast together|mat1 dim 1 must match"
        r"|expected input.{0,40}to have \d+ channels"
        r"|Expected target size|doesn't match the broadcast shape|Expected input batch_size|not aligned: ",
    ),
)
EXCEPTION = re.compile(r"(?:^|[\s:\]])([A-Za-z_][\w.]*(?:Error|Exception|Interrupt|Exit|Failure))\b")


@tool(
    needs=["errors"],
    emits={
        **{family.signal: family.means for family in FAMILIES},
        "error-unexplained": "the run ended with an exception that no known family explains",
        "run-ended-by-error": "the last thing the run printed is an error",
    },
)
def find_errors(given: Input, run: Run) -> ErrorReport:
    """List the errors and warnings in the run's logs with file and line, the earliest (likeliest root) first."""
    errors = [row for row in run.errors if row.kind == "error"]
    warnings = [row for row in run.errors if row.kind == "warning"]
    if not errors and not warnings:
        logs = ", ".join(file.path for file in run.files if file.role == "log") or "no log file"
        raise NoData(f"no error or warning was printed; looked in: {logs}")
    most = given.max_errors
    return ErrorReport(
        errors=[_row(row) for row in errors[:most]],
        warnings=[_row(row) for row in warnings[:most]],
        left_out=max(0, len(errors) - most) + max(0, len(warnings) - most),
        signals=_signals(run, errors),
    )


def _row(row: LogError) -> ErrorSummary:
    return ErrorSummary(source=row.source, line=row.line, text=row.text, kind=row.kind)


def _signals(run: Run, errors: list[LogError]) -> list[Signal]:
    named: dict[str, Signal] = {}
    for row in errors:
        family = next((family for family in FAMILIES if family.pattern.search(row.text)), None)
        if family is not None and family.signal not in named:
            named[family.signal] = _signal(family.signal, family.means, row, run)
    unexplained = next((row for row in errors if row.frames and EXCEPTION.search(row.text)), None)
    if not named and unexplained is not None:
        named["error-unexplained"] = _signal("error-unexplained", "an exception ended the run", unexplained, run)
    ended = [row for row in errors if row.frames]
    if named and ended:
        named["run-ended-by-error"] = _signal("run-ended-by-error", "the run ended with a traceback", ended[-1], run)
    return list(named.values())


def _signal(name: str, means: str, row: LogError, run: Run) -> Signal:
    places = [Citation(claim=means, source=row.source, locator=f"line {row.line}", quote=row.text)]
    facts: dict[str, Fact] = {"error": row.text, "error_place": f"{row.source}:{row.line}"}
    frame = _own_frame(row, run)
    if frame is not None:
        path, line = frame
        facts["frame"] = f"{path}:{line}"
        text = run.lines(path, line, line)
        if text and text[0].strip():
            places.append(
                Citation(
                    claim="the line that raised it",
                    source=path,
                    locator=f"line {line}",
                    quote=text[0].strip(),
                )
            )
    return Signal(id=name, claim=f"{means}: {row.text}", citations=places, facts=facts)


def _own_frame(row: LogError, run: Run) -> tuple[str, int] | None:
    """The innermost frame in a file of the run folder: libraries raise, users' lines cause."""
    code = {PurePosixPath(file.path).name: file.path for file in run.code}
    for printed, line in reversed(row.frames):
        name = PurePosixPath(printed.replace("\\", "/")).name
        if name in code and "site-packages" not in printed:
            return code[name], line
    return None
