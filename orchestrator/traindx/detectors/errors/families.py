"""What the errors that a run printed are about."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

from traindx.contract import Fact, Signal
from traindx.detectors.citing import cite_line
from traindx.readers.code.codebase import CodeUnit
from traindx.readers.model import LogError


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
        "tensor shapes do not match",
        r"shapes cannot be multiplied|size mismatch,? (got|m1)|must match the size of tensor"
        r"|expects each tensor to be equal size|Expected .{0,40}dimension|shape '.{0,40}' is invalid for input"
        r"|Sizes of tensors must match|could not be broadcast together|mat1 dim 1 must match"
        r"|expected input.{0,40}to have \d+ channels"
        r"|Expected target size|doesn't match the broadcast shape|Expected input batch_size|not aligned: ",
    ),
)
EXCEPTION = re.compile(r"(?:^|[\s:\]])([A-Za-z_][\w.]*(?:Error|Exception|Interrupt|Exit|Failure))\b")
SIGNALS = {
    **{family.signal: family.means for family in FAMILIES},
    "error-unexplained": "the run ended with an exception that matches no known error family",
    "run-ended-by-error": "the last thing the run printed is an error",
}


def detect(errors: Sequence[LogError], code: Sequence[CodeUnit]) -> list[Signal]:
    """What the errors mean, the first of each family; and whether one ended the run."""
    named: dict[str, Signal] = {}
    for row in errors:
        family = next((family for family in FAMILIES if family.pattern.search(row.text)), None)
        if family is not None and family.signal not in named:
            named[family.signal] = _signal(family.signal, family.means, row, code)
    unexplained = next((row for row in errors if row.frames and EXCEPTION.search(row.text)), None)
    if not named and unexplained is not None:
        named["error-unexplained"] = _signal("error-unexplained", "an exception ended the run", unexplained, code)
    ended = [row for row in errors if row.frames]
    if named and ended:
        named["run-ended-by-error"] = _signal("run-ended-by-error", "the run ended with a traceback", ended[-1], code)
    return list(named.values())


def _signal(name: str, means: str, row: LogError, code: Sequence[CodeUnit]) -> Signal:
    places = [cite_line(row.source, row.line, means, row.text)]
    facts: dict[str, Fact] = {"error": row.text, "error_place": f"{row.source}:{row.line}"}
    frame = _own_frame(row, code)
    if frame is not None:
        unit, line = frame
        facts["frame"] = f"{unit.path}:{line}"
        if unit.file_quote(line):
            places.append(cite_line(unit.path, line, "the line that raised it", unit.file_quote(line)))
    return Signal(id=name, claim=f"{means}: {row.text}", citations=places, facts=facts)


def _own_frame(row: LogError, code: Sequence[CodeUnit]) -> tuple[CodeUnit, int] | None:
    """The innermost frame in a file of the run folder: libraries raise, users' lines cause."""
    units = {PurePosixPath(unit.path).name: unit for unit in code}
    for printed, line in reversed(row.frames):
        name = PurePosixPath(printed.replace("\\", "/")).name
        if name in units and "site-packages" not in printed:
            return units[name], line
    return None
