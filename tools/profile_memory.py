"""How the memory of the run develops: growth per step, or a level that holds."""

from pydantic import Field

from traindx.contract import Value
from traindx.detectors.citing import where
from traindx.detectors.curves import memory
from traindx.readers import Run
from traindx.runtime import NoData, ToolInput, ToolOutput, tool


class Input(ToolInput):
    """No options: every series that measures memory is looked at."""


class MemoryCourse(Value):
    """One series of memory."""

    series: str
    source: str
    points: int
    start: float
    end: float
    highest: float
    unit: str = ""
    last_at: str


class MemoryProfile(ToolOutput):
    """What was logged about memory."""

    courses: list[MemoryCourse] = Field(description="the longest first")


@tool(needs=["series"], emits=memory.SIGNALS)
def profile_memory(given: Input, run: Run) -> MemoryProfile:  # noqa: ARG001 - every tool takes its input
    """Look at what the run logged about memory (resident size, allocated and reserved device memory): does it grow from
    step to step, which is a leak, or settle?
    """
    rows = memory.memory_series(run.series)
    if not rows:
        raise NoData("no series measures memory; log `torch.cuda.memory_allocated()` or the process's resident size")
    courses = [
        MemoryCourse(
            series=row.original,
            source=row.source,
            points=len(row),
            start=float(row.values[0]),
            end=float(row.values[-1]),
            highest=float(max(row.values)),
            unit=row.unit,
            last_at=where(row, len(row) - 1),
        )
        for row in rows
    ]
    return MemoryProfile(courses=courses, signals=memory.detect(run.series))
