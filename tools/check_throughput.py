"""Where the time of a step goes, and whether the pace holds."""

from traindx.detectors.curves import step_time
from traindx.readers import Run
from traindx.readers.series.closer import closer
from traindx.runtime import NoData, ToolInput, ToolOutput, tool


class Input(ToolInput):
    """No options: every measure of time, pace and utilisation is looked at."""


class ThroughputReport(ToolOutput):
    """How many measures of time there were."""

    looked_at: int


@tool(needs=["series"], emits=step_time.SIGNALS)
def check_throughput(given: Input, run: Run) -> ThroughputReport:  # noqa: ARG001 - every tool takes its input
    """Compare the time spent waiting for data with that of the step, the use of the device, and the pace with the run's
    own earlier pace.
    """
    found = step_time.detect(run.series, closer(run))
    if not found:
        raise NoData("no time per step, no throughput and no utilisation among the series tells of slowness")
    return ThroughputReport(looked_at=len(run.series), signals=found)
