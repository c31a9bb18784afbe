"""Where the metrics of two runs part."""

from __future__ import annotations

from collections.abc import Sequence

from pydantic import Field

from traindx.contract import Value
from traindx.detectors.citing import cite, where
from traindx.detectors.curves.objective import Objective
from traindx.detectors.curves.parting import FEWEST, Parting, parting
from traindx.readers.model import Series

MOST_METRICS = 12


class PartedMetric(Value):
    """A metric of both runs, and where it parts."""

    metric: str
    at: str = Field(description="the first point that differs, empty when the curves stay together")
    reason: str
    good: float | None = None
    bad: float | None = None
    identical_points: int = Field(default=0, description="leading points that are identical")
    source: str = ""
    locator: str = ""
    quote: str = ""


def badness(goal: Objective | None) -> tuple[bool, float]:
    """Whether a run broke, and where it ended: the better of two comes first."""
    if goal is None:
        return True, float("inf")
    return goal.shape.broke is not None, goal.shape.end


def parted_metrics(good: Sequence[Series], bad: Sequence[Series]) -> list[PartedMetric]:
    """The metrics that both have; those that part earliest first. Places are those of the bad run."""
    pairs = in_both(good, bad)
    rows = [(_position(one, parting(one, other)), one, other) for one, other in pairs]
    rows.sort(key=lambda row: (row[0][0], row[1].name))
    return [_metric(one, other, found) for (_, found), one, other in rows[:MOST_METRICS]]


def in_both(good: Sequence[Series], bad: Sequence[Series]) -> list[tuple[Series, Series]]:
    """The longest curve of each metric that both runs have."""
    longest: list[dict[str, Series]] = []
    for series in (good, bad):
        own: dict[str, Series] = {}
        for row in series:
            if not row.duplicate_of and len(row) > len(own.get(row.name, ())):
                own[row.name] = row
        longest.append(own)
    return [(longest[0][name], longest[1][name]) for name in longest[0] if name in longest[1]]


def _position(one: Series, found: Parting | None) -> tuple[float, Parting | None]:
    """How far into the run two curves part, as a share: steps and epochs are compared that way."""
    if found is None:
        return float("inf"), None
    return float((one.at[found.one] - one.at[0]) / ((one.at[-1] - one.at[0]) or 1.0)), found


def _metric(one: Series, other: Series, found: Parting | None) -> PartedMetric:
    if found is None:
        ends = f"the last values are {one.values[-1]:.4g} and {other.values[-1]:.4g}"
        if one.axis != other.axis:
            reason = f"one is counted in {one.axis}s, the other in {other.axis}s; {ends}"
        elif min(len(one), len(other)) < FEWEST:
            reason = f"too few points to tell a difference from noise; {ends}"
        else:
            reason = f"no lasting difference where both were logged; {ends}"
        return PartedMetric(metric=one.name, at="", reason=reason)
    at = where(other, found.other)
    apart = "one of them is not finite" if found.times == float("inf") else f"{found.times:.3g} times the noise"
    equal = f"; identical for {found.same} points before" if found.same > 1 else ""
    reason = f"from here on the curves differ by {apart}{equal}"
    ours, theirs = float(one.values[found.one]), float(other.values[found.other])
    claim = f"`{other.original}` is {theirs:.4g} here, where the good run has {ours:.4g}"
    place = cite(other, found.other, claim)
    return PartedMetric(
        metric=one.name,
        at=at,
        reason=reason,
        good=ours,
        bad=theirs,
        identical_points=found.same,
        source=place.source,
        locator=place.locator,
        quote=place.quote,
    )
