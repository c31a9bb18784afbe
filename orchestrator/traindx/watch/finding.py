"""What a watch tells: that something was found, that it became graver, or that it is gone."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

from pydantic import Field

from traindx.contract import Evidence, RootCause, Severity
from traindx.contract.value import Value
from traindx.definitions.visible import visible

LONGEST_QUOTE = 240


class Finding(Value):
    """One thing to tell about a running job."""

    kind: Literal["found", "graver", "recovered"]
    id: str
    issue: str
    severity: Severity
    confidence: float
    evidence: list[Evidence] = Field(default_factory=list)
    fix: str = ""
    path: str
    time: str
    at_end: bool = False
    """whether the job had ended when it was told"""

    @classmethod
    def of(cls, cause: RootCause, kind: Literal["found", "graver", "recovered"], path: str, time: str) -> Finding:
        """What is told of a cause."""
        return cls(
            kind=kind,
            id=cause.name,
            issue=cause.issue,
            severity=cause.severity,
            confidence=cause.confidence,
            evidence=[] if kind == "recovered" else cause.evidence,
            fix="" if kind == "recovered" else cause.fix.summary,
            path=path,
            time=time,
        )

    def text(self) -> str:
        """The finding in a line, and the place that shows it in another."""
        if self.kind == "recovered":
            return visible(f"{self.time} recovered  {self.id}: no longer seen")
        word = "graver" if self.kind == "graver" else "found"
        told = f"{self.time} {word}  {self.id}  [{self.severity}, confidence {self.confidence:.2f}]  {self.issue}"
        shown = next((row for row in self.evidence if row.verified), None)
        if shown is not None:
            quote = shown.quote.strip()[:LONGEST_QUOTE]
            told += f"\n    {shown.source}, {shown.locator}" + (f"  > {quote}" if quote else "")
        return "\n".join(visible(line) for line in told.split("\n"))


Tell = Callable[[Finding], None]
