"""The diagnosis: what comes out, as JSON and as Python."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from traindx.contract.check import Check
from traindx.contract.context import RunSummary, UnreadFile
from traindx.contract.coverage import CoverageRow, coverage_text
from traindx.contract.value import Value

Status = Literal["diagnosis_complete", "partial", "needs_more_data", "healthy"]
Severity = Literal["critical", "high", "medium", "low"]
SEVERITIES: tuple[Severity, ...] = ("low", "medium", "high", "critical")
LIKELY = 0.5
"""from here on a hypothesis is reported as what happened; below it is a possibility"""
SETTLED = 0.7
"""from here on a cause overrules a specialist's own word that the artifacts do not suffice"""
OTHER = "other"
"""the id of a cause that the catalog does not name; its `title` says what it is"""


class Evidence(Value):
    """A claim with a place one can open. `verified` is set by code that opened it, never by a brain."""

    claim: str
    kind: Literal["direct", "circumstantial", "contrary"]
    source: str
    locator: str = ""
    quote: str = ""
    verified: bool = False

    @property
    def place(self) -> tuple[str, str]:
        """Where it points to: `line 8, epoch 7` and `line 8` are one place, lines of a notebook's cell are not."""
        first, *rest = (part.strip() for part in self.locator.split(","))
        return self.source, f"{first}, {rest[0]}" if rest and first.startswith("cell ") else first


class Fix(Value):
    """A change, what it should do, how to see that it did, and what to try if it did not."""

    summary: str
    diff: str | None = None
    expected: str
    verify: str
    fallback: str
    prevention: str = Field(
        default="", description="the assertion, test, log line or setting that catches it next time"
    )
    example: str = Field(default="", description="the change as code in the run's own names, where no diff was made")
    checks: list[Check] = Field(
        default_factory=list, description="what has to hold in a run with the fix; `traindx verify` looks"
    )


class RootCause(Value):
    """One cause from the catalog, or one that it does not name (`other`)."""

    id: str
    title: str = Field(default="", description="what a cause that the catalog does not name is called")
    issue: str
    severity: Severity
    confidence: float = Field(ge=0.0, le=1.0)
    evidence: list[Evidence] = Field(default_factory=list)
    fix: Fix
    specialist: str

    def at_most(self, confidence: float) -> RootCause:
        """The same cause, no surer than this."""
        return self.model_copy(update={"confidence": min(self.confidence, confidence)})

    @property
    def likely(self) -> bool:
        """Whether it is reported as what happened, not as a possibility."""
        return self.confidence >= LIKELY

    @property
    def name(self) -> str:
        """What it is called: its id, or its own title where the catalog has none for it."""
        return self.title if self.id == OTHER and self.title else self.id


class RequestSummary(Value):
    """How the request was understood."""

    kind: str
    symptoms: list[str] = Field(default_factory=list)
    specialists: list[str] = Field(default_factory=list)
    reason: str = ""


class Answer(Value):
    """What the user said, and whether the artifacts show it."""

    said: str
    verdict: Literal["seen", "not seen", "cannot be seen here"]
    why: str = Field(description="where it was looked for, or what would show it")


class ToolUse(Value):
    """One call of a tool, and which of three things happened."""

    tool: str
    status: Literal["ok", "no_data", "failed"]
    reason: str = ""
    seconds: float = 0.0


class Provenance(Value):
    """How the answer came about."""

    brain: str = "local"
    tools: list[ToolUse] = Field(default_factory=list)
    sandbox: Literal["landlock", "none"] = "none"
    seconds: float = 0.0
    tokens: int = 0
    cost_usd: float = 0.0
    version: str = ""
    notes: list[str] = Field(default_factory=list)
    skipped: list[str] = Field(
        default_factory=list, description="those of the notes that say which tools had nothing to look at"
    )
    unwritten: list[str] = Field(
        default_factory=list, description="what was asked for and could not be written: a picture, a transcript"
    )


class Diagnosis(Value):
    """Specialist to engine to user."""

    schema_version: Literal[1] = 1
    status: Status
    summary: str = Field(default="", description="the diagnosis in one sentence")
    answer: str = Field(default="", description="to the user's own question, where the message asks one")
    request: RequestSummary
    reasons: list[str] = Field(default_factory=list, description="why a run is called healthy")
    answers: list[Answer] = Field(default_factory=list, description="to what the user reported, point by point")
    root_causes: list[RootCause] = Field(default_factory=list)
    excluded: list[str] = Field(
        default_factory=list, description="causes that were considered, and the evidence against them"
    )
    quick_fixes: list[str] = Field(default_factory=list)
    questions: list[str] = Field(default_factory=list)
    sections: dict[str, str] = Field(default_factory=dict)
    analysis_artifacts: dict[str, str] = Field(default_factory=dict)
    runs: list[RunSummary] = Field(default_factory=list, description="filled when the folder holds several runs")
    missing: list[str] = Field(default_factory=list)
    coverage: list[CoverageRow] = Field(default_factory=list, description="how much of the run was read")
    unread: list[UnreadFile] = Field(default_factory=list, description="files that a reader failed on")
    notable: list[str] = Field(default_factory=list, description="those of `missing` that every report shows")
    provenance: Provenance = Provenance()

    @property
    def named(self) -> list[RootCause]:
        """The likely causes; where nothing is settled, everything that is left open."""
        open_ones = self.root_causes if self.status == "needs_more_data" else []
        return [cause for cause in self.root_causes if cause.likely] or open_ones

    @property
    def possible(self) -> list[RootCause]:
        """What else it could be, besides the causes named."""
        return self.root_causes[len(self.named) :]

    @property
    def read(self) -> str:
        """How much of the run was read, in one line."""
        return coverage_text(self.coverage)
