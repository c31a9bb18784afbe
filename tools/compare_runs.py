"""A good and a bad run side by side: where their curves part, and what differs between them, the likeliest first."""

from typing import Literal

from pydantic import Field

from traindx.contract import Value
from traindx.detectors.comparison import (
    Difference,
    by_suspicion,
    code_differences,
    git_differences,
    setting_differences,
)
from traindx.detectors.comparison.metrics import PartedMetric, badness, parted_metrics
from traindx.detectors.curves.objective import objective
from traindx.errors import UsageError
from traindx.readers import Run
from traindx.readers.code.texts import read_code_texts
from traindx.readers.inside import RunInside
from traindx.runtime import NoData, ToolInput, ToolOutput, tool

MOST_DIFFERENCES = 40


class Input(ToolInput):
    """Which two runs to compare."""

    good: str = Field(default="", description="folder or file of the good run; the first path when empty")
    bad: str = Field(default="", description="folder or file of the bad run; the second path when empty")


class RankedDifference(Value):
    """Something that is not the same in the two runs."""

    name: str
    kind: Literal["setting", "code", "git"]
    good: str
    bad: str
    suspicion: float = Field(ge=0.0, le=1.0)
    reason: str
    source: str = ""
    locator: str = ""
    quote: str = ""
    diff: str = ""


class Comparison(ToolOutput):
    """Where the runs part, and the differences by suspicion."""

    good: str
    bad: str
    first_parting: str = Field(description="the metric that diverges first, and where")
    metrics: list[PartedMetric]
    differences: list[RankedDifference]
    left_out: int = Field(default=0, description="other differences, unlikely to matter")


@tool(needs=["series", "settings", "code"], timeout=300.0)
def compare_runs(given: Input, run: Run) -> Comparison:
    """Compare a good and a bad run: the first point where their metrics differ by more than noise, and the
    differences in settings, code and git state, ranked by how likely they are to matter.
    """
    good, bad = _two(given, run)
    metrics = [
        row.model_copy(update={"source": bad.path(row.source)}) if row.source else row
        for row in parted_metrics(good.run.series, bad.run.series)
    ]
    found = by_suspicion(
        [
            *setting_differences(good.run.settings, good.files, bad.run.settings, bad.files),
            *code_differences(read_code_texts(good.run), read_code_texts(bad.run)),
            *git_differences(good.run.git, bad.run.git, bad.git_line),
        ]
    )
    if not metrics and not found:
        raise NoData(f"`{good.name}` and `{bad.name}` have no metric in common and differ in nothing that was read")
    parted = next((row for row in metrics if row.at), None)
    return Comparison(
        good=good.name,
        bad=bad.name,
        first_parting=f"{parted.metric} at {parted.at}" if parted else "",
        metrics=metrics,
        differences=[_ranked(row, good, bad) for row in found[:MOST_DIFFERENCES]],
        left_out=max(0, len(found) - MOST_DIFFERENCES),
    )


def _two(given: Input, run: Run) -> tuple[RunInside, RunInside]:
    if bool(given.good) != bool(given.bad):
        raise UsageError("name both runs, `good` and `bad`, or none of them")
    if given.good:
        return RunInside(run, given.good), RunInside(run, given.bad)
    if len(run.scope.only) == 2:
        return RunInside(run, run.scope.only[0]), RunInside(run, run.scope.only[1])
    folders = sorted({row.source.partition("/")[0] for row in run.series if "/" in row.source and len(row) > 1})
    if len(folders) != 2:
        found = ", ".join(f"`{name}`" for name in folders) or "no folder with metrics"
        raise NoData(f"two runs are needed: give two paths, or say which are `good` and `bad`; found {found}")
    sides = [RunInside(run, name) for name in folders]
    sides.sort(key=lambda side: badness(side.run.once(objective)))
    return sides[0], sides[1]


def _ranked(row: Difference, good: RunInside, bad: RunInside) -> RankedDifference:
    side = bad if row.in_bad else good
    return RankedDifference(
        name=row.name,
        kind=row.kind,
        good=row.good,
        bad=row.bad,
        suspicion=round(row.suspicion, 3),
        reason=row.reason,
        source=side.path(row.source) if row.source else "",
        locator=f"line {row.line}" if row.line else "",
        quote=row.quote,
        diff=row.diff,
    )
