"""What the model submits: the schema of the two tools that end a conversation."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from traindx.brains.interface import Case
from traindx.contract import OTHER

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

    id: str = Field(description=f"an id from the list of failure modes; `{OTHER}` when none of them is the cause")
    title: str = Field(default="", description=f"for `{OTHER}`: the failure's name in three to eight words; else empty")
    issue: str = Field(min_length=1, description="what went wrong, in one sentence with its numbers")
    severity: Literal["critical", "high", "medium", "low"]
    confidence: float = Field(ge=0.0, le=1.0)
    evidence: list[SubmittedEvidence]
    fix: SubmittedFix


class LeadVerdict(_Part):
    """A lead that you do not hold: what it rests on, and the place that contradicts it."""

    id: str = Field(description="the cause the lead is about")
    verdict: Literal["refuted", "open"]
    why: str
    refutes: str = Field(
        default="", description="for `refuted`: the lead's own place that falls, as shown: `config.yaml, line 17`"
    )
    source: str = Field(default="", description="for `refuted`: the file that shows it; else empty")
    locator: str = ""
    quote: str = ""


class Section(_Part):
    """One part of the report."""

    heading: str
    text: str


class Submission(_Part):
    """The whole answer."""

    status: Literal["diagnosis_complete", "needs_more_data", "healthy"]
    answer: str = Field(
        description="to the user's own question, first: yes or no where it asks that, and why; else empty"
    )
    causes: list[SubmittedCause] = Field(description="root causes, the surest first; empty when healthy")
    leads: list[LeadVerdict] = Field(description="only leads that you refute or leave open; those you hold need no row")
    health: list[SubmittedEvidence] = Field(description="for `healthy`: the curve or score that shows it; else empty")
    excluded: list[str] = Field(description="causes considered and set aside: `id`: what speaks against it, or "
                                            "`id` follows from `root`")  # fmt: skip
    questions: list[str] = Field(description="what is missing, and the command that would produce it")
    sections: list[Section] = Field(description="the report under your headings, all of them, in order")


class Objection(SubmittedEvidence):
    """A place that contradicts a piece of evidence."""

    refutes: str = Field(default="", description="the place of the evidence that it contradicts, as it is cited")


class Verdict(_Part):
    """The sceptic's answer."""

    outcome: Literal["holds", "doubtful", "wrong_id", "wrong_cause"]
    why: str = Field(description="what was tried and what it showed, in one or two sentences")
    better_id: str = Field(default="", description="for `wrong_id`: the id under which the same cause belongs")
    evidence: list[Objection] = Field(description="the places that speak against it; `wrong_cause` needs one")


def submit_tool(case: Case) -> dict[str, Any]:
    """`submit_diagnosis`, bound to this catalog and this specialist's headings."""
    schema = Submission.model_json_schema()
    schema["$defs"]["SubmittedCause"]["properties"]["id"]["enum"] = [*case.catalog, OTHER]
    schema["$defs"]["Section"]["properties"]["heading"]["enum"] = list(case.specialist.headings)
    return tool_definition(SUBMIT, "Submit the diagnosis; this ends the investigation.", schema)


def verdict_tool(case: Case) -> dict[str, Any]:
    """`submit_verdict`, for the sceptic."""
    schema = Verdict.model_json_schema()
    schema["properties"]["better_id"]["enum"] = ["", *case.catalog]
    return tool_definition(VERDICT, "Submit what the attempt to refute came to.", schema)


# https://platform.claude.com/docs/en/build-with-claude/structured-outputs: at most 20 strict tools in a request, no
# numeric or length bounds, and few optional fields; so every field is required and its default is told.
MOST_STRICT = 20
_TOLD = {
    "minimum": "at least {}", "maximum": "at most {}", "exclusiveMinimum": "above {}", "exclusiveMaximum": "below {}",
    "minLength": "at least {} characters", "maxLength": "at most {} characters", "maxItems": "at most {} items",
    "pattern": "matching {}", "default": "{} when in doubt", "examples": "e.g. {}",
}  # fmt: skip
_KEPT = frozenset({"type", "enum", "const", "items", "properties", "anyOf", "description", "$ref", "$defs"})


def strict_schema(schema: Mapping[str, Any]) -> dict[str, Any]:
    """The same schema with bounds told in words, every field required and no others allowed."""
    kept = {key: value for key, value in schema.items() if key in _KEPT}
    told = [text.format(_spelled(schema[key])) for key, text in _TOLD.items() if key in schema]
    if told:
        kept["description"] = f"{kept.get('description', '')} ({'; '.join(told)})".strip()
    for key in ("properties", "$defs"):
        if key in kept:
            kept[key] = {name: strict_schema(part) for name, part in kept[key].items()}
    if "items" in kept:
        kept["items"] = strict_schema(kept["items"])
    if "anyOf" in kept:
        kept["anyOf"] = [strict_schema(part) for part in kept["anyOf"]]
    if schema.get("type") == "object":
        kept.setdefault("properties", {})
        kept["required"] = list(kept["properties"])
        kept["additionalProperties"] = False
    return kept


def tool_definition(name: str, description: str, schema: Mapping[str, Any], *, strict: bool = True) -> dict[str, Any]:
    """A tool as the Messages API takes it."""
    whole: dict[str, Any] = {"name": name, "description": description, "input_schema": strict_schema(schema)}
    return {**whole, "strict": True} if strict else whole


def _spelled(value: object) -> str:
    if isinstance(value, list):
        return ", ".join(str(item) for item in value)
    return "empty" if value == "" else str(value).lower() if isinstance(value, bool) else str(value)
