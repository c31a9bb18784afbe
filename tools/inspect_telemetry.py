"""What a monitor inside the training saw: where a NaN came from, and what the model was given."""

from traindx.contract import Value
from traindx.detectors.curves import input_statistics, non_finite_origin
from traindx.readers import Run
from traindx.readers.tables.monitor_events import origins
from traindx.runtime import NoData, ToolInput, ToolOutput, tool
from traindx.vocabulary.telemetry import is_monitor_file


class Input(ToolInput):
    """No options: all files that a monitor wrote are read."""


class Broken(Value):
    """What was no number, and since when."""

    step: int
    origin: str
    kind: str
    found: str
    place: str


class Telemetry(ToolOutput):
    """The files of monitors, and what broke in the order of the steps."""

    files: list[str]
    broken: list[Broken]


@tool(needs=["files", "series"], emits={**non_finite_origin.SIGNALS, **input_statistics.SIGNALS})
def inspect_telemetry(given: Input, run: Run) -> Telemetry:  # noqa: ARG001 - every tool takes its input
    """Look at what `traindx.monitor` wrote: the input, weight, module or gradient that was the first NaN or Inf, and
    whether inputs of training and evaluation are alike.
    """
    files = [file.path for file in run.files if is_monitor_file(file.path)]
    inputs = input_statistics.detect(run.series)
    if not files and not inputs:
        raise NoData("no telemetry of `traindx.monitor`; looked for traindx-monitor*.jsonl")
    found = origins(run)
    told = [Broken(step=o.step, origin=o.at, kind=o.kind, found=o.found, place=f"{o.source}:{o.line}") for o in found]
    return Telemetry(files=files, broken=told, signals=[*non_finite_origin.detect(found), *inputs])
