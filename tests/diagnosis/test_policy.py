"""Confidence is capped by what could be verified."""

from typing import Literal

import pytest

from traindx.contract import Evidence, Fix, RootCause
from traindx.diagnosis.evidence import judged

Kind = Literal["direct", "circumstantial", "contrary"]


def cause(confidence: float, *evidence: tuple[Kind, bool]) -> RootCause:
    return RootCause(
        id="x",
        issue="x",
        severity="high",
        confidence=confidence,
        evidence=[Evidence(claim="c", kind=kind, source="s", verified=verified) for kind, verified in evidence],
        fix=Fix(summary="x", expected="x", verify="x", fallback="x"),
        specialist="ml-debugger",
    )


@pytest.mark.parametrize(
    ("evidence", "most"),
    [
        ([], 0.5),
        ([("direct", False)], 0.5),
        ([("contrary", True)], 0.5),
        ([("circumstantial", True)], 0.89),
        ([("circumstantial", True), ("direct", False)], 0.89),
        ([("direct", True)], 0.98),
    ],
)
def test_the_ceiling_follows_the_best_verified_evidence(evidence: list[tuple[Kind, bool]], most: float) -> None:
    assert judged(cause(1.0, *evidence)).confidence <= most


def test_what_cannot_be_verified_lowers_the_confidence() -> None:
    whole = judged(cause(0.96, ("direct", True), ("direct", True)))
    half = judged(cause(0.96, ("direct", True), ("direct", False)))
    assert half.confidence < whole.confidence


def test_confidence_is_never_raised() -> None:
    assert judged(cause(0.3, ("direct", True))).confidence == 0.3
