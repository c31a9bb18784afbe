"""From outcomes to figures: accuracy, false alarms, confusion, Brier score, calibration error."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from pydantic import Field

from traindx.contract import LIKELY, Value
from traindx.evaluation.case import LabelledCase

ALARM = 0.5
"""a cause this sure on a healthy run is a false alarm"""
INSISTING = 0.7
"""a cause from the `never` list is wrong when it is this sure"""
BINS = 10


class Outcome(Value):
    """One case and what was said about it; `named` holds (id, confidence), first cause first."""

    case: str
    expect: str
    status: str
    named: list[tuple[str, float]]
    right_first: bool
    right_any: bool
    false_alarm: bool
    forbidden: list[str] = Field(description="causes from the `never` list named with confidence")
    found_place: bool | None = Field(description="whether the evidence names the place of the fault; null when unknown")
    right_specialist: bool | None = None
    seconds: float


class Scorecard(Value):
    """The figures over all cases."""

    cases: int
    failing: int
    healthy: int
    first_right: float
    any_right: float
    false_alarms: float
    judged_healthy: float
    forbidden: float
    places: float
    specialists: float
    brier: float
    calibration_error: float
    seconds_per_case: float
    confusion: dict[str, dict[str, int]] = Field(description="for each expected cause: what was named first, how often")


def right(case: LabelledCase, status: str, named: Sequence[tuple[str, float]]) -> bool:
    """Whether the first likely cause of a failing run is a right one, or of a healthy run none is likely."""
    truth = case.truth
    sure = [name for name, confidence in named if confidence >= LIKELY]
    if truth.expect != "diagnosis":
        return bool(status) and all(name in truth.also for name in sure)
    return status != "healthy" and bool(sure) and sure[0] in truth.primary


def outcome(
    case: LabelledCase,
    status: str,
    named: list[tuple[str, float]],
    places: set[str],
    specialists: Sequence[str],
    seconds: float,
) -> Outcome:
    """Compare one answer with the truth."""
    truth = case.truth
    healthy = truth.expect != "diagnosis"
    return Outcome(
        case=case.name,
        expect="/".join(truth.primary) if not healthy else truth.expect,
        status=status,
        named=named,
        # Beside a verdict of health a cause is a remark, not an answer.
        right_first=status != "healthy" and bool(named) and named[0][0] in truth.primary,
        right_any=status != "healthy" and any(name in truth.primary for name, _ in named[:3]),
        false_alarm=healthy and any(sure >= ALARM for name, sure in named if name not in truth.also),
        forbidden=[name for name, sure in named if name in truth.never and sure >= INSISTING],
        found_place=None if healthy or not truth.where else any(place in places for place in truth.where),
        right_specialist=bool(specialists) and specialists[0] in truth.specialist if truth.specialist else None,
        seconds=round(seconds, 3),
    )


def score(outcomes: Sequence[Outcome], cases: Sequence[LabelledCase]) -> Scorecard:
    """The figures; shares are between 0 and 1, and 0 where there is nothing to share."""
    failing = [row for row, case in zip(outcomes, cases, strict=True) if case.truth.expect == "diagnosis"]
    healthy = [row for row, case in zip(outcomes, cases, strict=True) if case.truth.expect == "healthy"]
    sure = [
        (confidence, name in (*case.truth.primary, *case.truth.also))
        for row, case in zip(outcomes, cases, strict=True)
        for name, confidence in row.named[:1]
        if row.status != "healthy"  # there it is a remark, not an answer
    ]
    return Scorecard(
        cases=len(outcomes),
        failing=len(failing),
        healthy=len(healthy),
        first_right=_share([row.right_first for row in failing]),
        any_right=_share([row.right_any for row in failing]),
        false_alarms=_share([row.false_alarm for row in healthy]),
        judged_healthy=_share([row.status == "healthy" for row in healthy]),
        forbidden=_share([bool(row.forbidden) for row in outcomes]),
        places=_share([row.found_place for row in failing if row.found_place is not None]),
        specialists=_share([row.right_specialist for row in outcomes if row.right_specialist is not None]),
        brier=round(sum((c - right) ** 2 for c, right in sure) / len(sure), 4) if sure else 0.0,
        calibration_error=_calibration_error(sure),
        seconds_per_case=round(sum(row.seconds for row in outcomes) / max(1, len(outcomes)), 3),
        confusion=_confusion(failing),
    )


def _share(marks: Sequence[bool | None]) -> float:
    return round(sum(map(bool, marks)) / len(marks), 4) if marks else 0.0


def _calibration_error(sure: Sequence[tuple[float, bool]]) -> float:
    """Expected calibration error: the mean gap between confidence and accuracy over bins, weighted by their size."""
    error = 0.0
    for place in range(BINS):
        inside = [(c, right) for c, right in sure if min(int(c * BINS), BINS - 1) == place]
        if inside:
            error += abs(sum(c for c, _ in inside) - sum(right for _, right in inside))
    return round(error / len(sure), 4) if sure else 0.0


def _confusion(failing: Sequence[Outcome]) -> dict[str, dict[str, int]]:
    seen: dict[str, Counter[str]] = {}
    for row in failing:
        first = row.named[0][0] if row.named else row.status
        seen.setdefault(row.expect, Counter())[first] += 1
    return {expected: dict(sorted(counts.items())) for expected, counts in sorted(seen.items())}
