"""The machine-checkable twin of a fix's "how to verify", and what came of it on a new run."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from traindx.contract.signal import Citation
from traindx.contract.value import Value

Relation = Literal["below", "above", "finite", "better", "steadier"]
Outcome = Literal["passed", "failed", "unknown"]
Verdict = Literal["confirmed", "refuted", "inconclusive"]


class Check(Value):
    """One thing that has to hold in a run with the fix."""

    kind: Literal["gone", "past", "series", "error", "checkpoints"]
    signals: list[str] = Field(default_factory=list, description="`gone`: what must not be found any more")
    axis: str = Field(default="", description="`past`: `epoch`, `step` or `row`; empty: as far as the run before got")
    at: float | None = Field(default=None, description="`past`: where the new run has to get; `series`: from here on")
    series: str = Field(default="", description="`loss`: the curve the run is judged by; else part of a series' name")
    relation: Relation | None = None
    value: float | None = None
    over: Literal["whole", "end"] = Field(default="whole", description="which stretch of the series counts")


class PairCitation(Citation):
    """A place in one of the two runs."""

    run: Literal["before", "after"]


class CheckResult(Value):
    """A check, and what the new run says to it."""

    what: str = Field(description="the check in words")
    outcome: Outcome
    why: str
    evidence: list[PairCitation] = Field(default_factory=list)


class Verification(Value):
    """Whether a fix did what it promised."""

    schema_version: Literal[1] = 1
    verdict: Verdict
    summary: str
    cause: str = Field(description="the failure mode that the fix is for")
    verify: str = Field(default="", description="the fix's own sentence")
    before: str
    after: str
    checks: list[CheckResult] = Field(default_factory=list)
