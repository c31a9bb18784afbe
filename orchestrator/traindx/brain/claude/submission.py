"""What the model submits: the schema of the two tools that end a conversation."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from traindx.brain.claude.schema import tool_definition
from traindx.brain.interface import Case

SUBMIT = "submit_diagnosis"
VERDICT = "submit_verdict"


class _Part(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True)


class SubmittedEvidence(_Part):
    """A place and what stands there."""

    claim: str = Field(min_length=1, description="what the place shows, in one sentence; its numbers stand there")
    kind: Literal["direct", "circumstantial", "contrary"]
    source: str = Field(min_length=1, description="path relative to the run folder")
    locator: str = Field(description="`line 41`, `step 300 of train/loss`, `epoch 7 of lr`, `tensor encoder.weight`")
    quote: str = Field(description="text of that one line to the letter, or the number at that point")


class SubmittedFix(_Part):
    """A change, with values."""

    summary: str = Field(min_length=1, description="the change: setting or line, old value to new value, file")
    diff: str = Field(description="a unified diff against lines that exist, or empty")
    expected: str = Field(min_length=1, description="which curve changes, how, by which step")
    verify: str = Field(min_length=1, description="the command or the observation that shows it")
    fallback: str = Field(min_length=1, description="what to try if it does not help")


class SubmittedCause(_Part):
    """One root cause."""

    id: str = Field(description="an id from the list of failure modes")
    issue: str = Field(min_length=1, description="what went wrong, in one sentence with its numbers")
    severity: Literal["critical", "high", "medium", "low"]
    confidence: float = Field(ge=0.0, le=1.0)
    evidence: list[SubmittedEvidence]
    fix: SubmittedFix


class LeadVerdict(_Part):
    """What became of a lead; a refutation cites the place that contradicts it."""

    id: str = Field(description="the cause or the signal the lead is about")
    verdict: Literal["confirmed", "refuted", "open"]
    why: str
    source: str = Field(description="for `refuted`: the file that contradicts it; else empty")
    locator: str
    quote: str


class Section(_Part):
    """One part of the report."""

    heading: str
    text: str


class Submission(_Part):
    """The whole answer."""

    status: Literal["diagnosis_complete", "needs_more_data", "healthy"]
    causes: list[SubmittedCause] = Field(description="root causes, the surest first; empty when healthy")
    leads: list[LeadVerdict]
    excluded: list[str] = Field(description="causes considered and set aside: "
                                            "`id`: what speaks against it")  # fmt: skip
    questions: list[str] = Field(description="what is missing, and the command that would produce it")
    sections: list[Section] = Field(description="the report under your headings, all of them, in order")


class Verdict(_Part):
    """The sceptic's answer."""

    outcome: Literal["holds", "doubtful", "refuted"]
    why: str = Field(description="what was tried and what it showed, in one or two sentences")
    evidence: list[SubmittedEvidence] = Field(description="for `refuted`: the places that contradict the cause")


def submit_tool(case: Case) -> dict[str, Any]:
    """`submit_diagnosis`, bound to this catalog and this specialist's headings."""
    schema = Submission.model_json_schema()
    schema["$defs"]["SubmittedCause"]["properties"]["id"]["enum"] = list(case.catalog)
    schema["$defs"]["Section"]["properties"]["heading"]["enum"] = list(case.specialist.headings)
    return tool_definition(SUBMIT, "Submit the diagnosis; this ends the investigation.", schema)


def verdict_tool() -> dict[str, Any]:
    """`submit_verdict`, for the sceptic."""
    return tool_definition(VERDICT, "Submit what the attempt to refute came to.", Verdict.model_json_schema())
