"""A good and a bad run side by side: where their curves part, and what differs between them, the likeliest first."""

from pathlib import PurePosixPath
from typing import Literal

from pydantic import Field

from traindx.contract import Value
from traindx.detectors.citing import cite, where
from traindx.detectors.comparison import Difference, code_differences, git_differences, setting_differences
from traindx.detectors.curves.objective import objective
from traindx.detectors.curves.parting import Parting, parting
from traindx.errors import UsageError
from traindx.readers import Run, Scope, Series
from traindx.runtime import NoData, ToolInput, ToolOutput, tool

MOST_METRICS = 12
MOST_DIFFERENCES = 40


class Input(ToolInput):
    """Which two runs to compare."""

    good: str = Field(default="", description="folder or file of the good run; the first path when empty")
    bad: str = Field(default="", description="folder or file of the bad run; the second path when empty")


class PartedMetric(Value):
    """A metric of both runs, and where it parts."""

    metric: str
    at: str = Field(description="the first point that lies apart, empty when the curves stay together")
    reason: str
    good: float | None = None
    bad: float | None = None
    identical_points: int = Field(default=0, description="leading points that are equal to the digit")
    source: str = ""
    locator: str = ""
    quote: str = ""


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
    first_parting: str = Field(description="the metric that parts first, and where")
    metrics: list[PartedMetric]
    differences: list[RankedDifference]
    left_out: int = Field(default=0, description="further differences, all of little suspicion")


@tool(needs=["series", "settings", "code"], timeout=300.0)
def compare_runs(given: Input, run: Run) -> Comparison:
    """Lay a good and a bad run side by side: the first point where their metrics part by more than noise, and the
    differences in settings, code and git state, ranked by how likely they are to matter.
    """
    good, bad = _two(given, run)
    metrics = _metrics(good, bad)
    found = [
        *setting_differences(good.run, bad.run),
        *code_differences(good.run, bad.run),
        *git_differences(good.run, bad.run),
    ]
    found = _without_echoes(found)
    found.sort(key=lambda row: (-row.suspicion, row.kind, row.name))
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


class _Side:
    """One of the two runs: as a run of its own, with the way to it from the whole."""

    def __init__(self, whole: Run, name: str) -> None:
        real = whole.scope.resolve(name)
        scope = Scope(real) if real.is_dir() else Scope(real.parent, (real.name,))
        self.name = name
        self.run = Run(scope)
        self._way = PurePosixPath(scope.root.relative_to(whole.scope.root).as_posix())

    def path(self, source: str) -> str:
        """A path of this run as the whole has it."""
        return str(self._way / source)


def _two(given: Input, run: Run) -> tuple[_Side, _Side]:
    if bool(given.good) != bool(given.bad):
        raise UsageError("name both runs, `good` and `bad`, or none of them")
    if given.good:
        return _Side(run, given.good), _Side(run, given.bad)
    if len(run.scope.only) == 2:
        return _Side(run, run.scope.only[0]), _Side(run, run.scope.only[1])
    folders = sorted({row.source.partition("/")[0] for row in run.series if "/" in row.source and len(row) > 1})
    if len(folders) != 2:
        found = ", ".join(f"`{name}`" for name in folders) or "no folder with metrics"
        raise NoData(f"two runs are needed: give two paths, or say which are `good` and `bad`; found {found}")
    sides = [_Side(run, name) for name in folders]
    sides.sort(key=lambda side: _badness(side.run))
    return sides[0], sides[1]


def _badness(run: Run) -> tuple[bool, float]:
    """Whether a run broke, and where it ended: the better of two comes first."""
    goal = objective(run)
    if goal is None:
        return True, float("inf")
    return goal.shape.broke is not None, goal.shape.end


def _metrics(good: _Side, bad: _Side) -> list[PartedMetric]:
    """The metrics that both have; those that part earliest first."""
    pairs = _pairs(good.run, bad.run)
    rows = [(_position(one, parting(one, other)), one, other) for one, other in pairs]
    rows.sort(key=lambda row: (row[0][0], row[1].name))
    return [_metric(bad, one, other, found) for (_, found), one, other in rows[:MOST_METRICS]]


def _pairs(good: Run, bad: Run) -> list[tuple[Series, Series]]:
    longest: list[dict[str, Series]] = []
    for run in (good, bad):
        own: dict[str, Series] = {}
        for row in run.series:
            if not row.duplicate_of and len(row) > len(own.get(row.name, ())):
                own[row.name] = row
        longest.append(own)
    return [(longest[0][name], longest[1][name]) for name in longest[0] if name in longest[1]]


def _position(one: Series, found: Parting | None) -> tuple[float, Parting | None]:
    """How far into the run two curves part, as a share: steps and epochs are compared that way."""
    if found is None:
        return float("inf"), None
    return float((one.at[found.one] - one.at[0]) / ((one.at[-1] - one.at[0]) or 1.0)), found


def _metric(bad: _Side, one: Series, other: Series, found: Parting | None) -> PartedMetric:
    if found is None:
        same = one.axis == other.axis
        reason = (
            "no lasting difference where both were logged"
            if same
            else f"one is counted in {one.axis}s, the other in {other.axis}s"
        )
        return PartedMetric(metric=one.name, at="", reason=reason)
    at = where(other, found.other)
    apart = "one of them is not finite" if found.times == float("inf") else f"{found.times:.3g} times the noise"
    equal = f"; equal to the digit for {found.same} points before" if found.same > 1 else ""
    reason = f"from here on the curves lie apart by {apart}{equal}"
    ours, theirs = float(one.values[found.one]), float(other.values[found.other])
    claim = f"`{other.original}` is {theirs:.4g} here, where the good run has {ours:.4g}"
    place = cite(bad.run, other, found.other, claim)
    return PartedMetric(
        metric=one.name,
        at=at,
        reason=reason,
        good=ours,
        bad=theirs,
        identical_points=found.same,
        source=bad.path(place.source),
        locator=place.locator,
        quote=place.quote,
    )


def _without_echoes(found: list[Difference]) -> list[Difference]:
    """A changed constant is a setting and a line of code: it is told once."""
    told = {(row.source, row.line) for row in found if row.kind == "setting" and row.in_bad}
    return [
        row for row in found if row.kind != "code" or (row.source, row.line) not in told or not row.bad.startswith("1 ")
    ]


def _ranked(row: Difference, good: _Side, bad: _Side) -> RankedDifference:
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
