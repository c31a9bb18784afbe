"""`diagnose`: why a training run went wrong."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from typing import Any, Literal

from pydantic import Field

from traindx.contract import Diagnosis, Status, Value
from traindx.mcp.answering import parsed
from traindx.mcp.offer import RUN, Asked, Offer, Result, Said, input_schema, output_schema
from traindx.runtime import ToolInput


class Input(ToolInput):
    """Which run, and what its user sees."""

    run: str = Field(default=".", description=RUN)
    message: str = Field(default="", max_length=20_000, description="what the user sees or asks, in their own words")
    specialist: str = Field(
        default="", description="send this one: training-monitor, state-debugger or ml-debugger; empty: chosen"
    )
    detail: Literal["short", "full"] = Field(
        default="short", description="full adds the specialist's report and what was read"
    )


class Cited(Value):
    """A piece of evidence."""

    claim: str
    kind: str
    source: str
    locator: str = ""
    quote: str = ""
    verified: bool = False


class Named(Value):
    """A root cause."""

    id: str
    issue: str
    severity: str
    confidence: float
    specialist: str
    evidence: list[Cited] = Field(default_factory=list)
    fix: dict[str, Any]


class DiagnosisResult(Result):
    """The fields of the JSON contract that a caller needs first; `detail: full` gives all of it."""

    status: Status
    summary: str
    answer: str = ""
    root_causes: list[Named] = Field(default_factory=list)
    reasons: list[str] = Field(default_factory=list)
    excluded: list[str] = Field(default_factory=list)
    quick_fixes: list[str] = Field(default_factory=list)
    questions: list[str] = Field(default_factory=list)
    notable: list[str] = Field(default_factory=list)


SHORT = (*(name for name in DiagnosisResult.model_fields if name != "cut"), "answers", "runs")


async def answer(given: Mapping[str, Any], asked: Asked) -> Said:
    """Diagnose on this machine; no model is asked, the host has one."""
    from traindx.api import stream
    from traindx.report import render

    wanted = parsed("diagnose", Input, given)
    place = asked.resolve(wanted.run)
    diagnosis: Diagnosis | None = None
    # Leaving the generator ends the worker: a host that cancels leaves nothing behind.
    async with contextlib.aclosing(
        stream(place, wanted.message, brain="local", specialist=wanted.specialist or None)
    ) as events:
        async for event in events:
            if event.kind == "done":
                diagnosis = event.diagnosis
            elif event.kind in {"stage", "tool_started", "finding"}:
                asked.tell(event.text)
    assert diagnosis is not None  # noqa: S101 - `stream` ends with the diagnosis or raises
    asked.kept.diagnosis, asked.kept.run = diagnosis, place
    text = render(diagnosis, "markdown", title=f"traindx: {wanted.run}")
    return Said(_shown(diagnosis, wanted.detail == "full"), text)


def _shown(diagnosis: Diagnosis, full: bool) -> dict[str, Any]:
    whole = diagnosis.model_dump(mode="json", exclude_defaults=not full)
    result = whole if full else {key: whole[key] for key in SHORT if key in whole}
    for cause in result.get("root_causes", []):
        # What a repaired run has to show is for `traindx verify`; `verify` says it in words.
        cause["fix"].pop("checks", None)
    return {"summary": "", **result}


OFFER = Offer(
    name="diagnose",
    title="Diagnose a training run",
    description="Why did this training run fail, diverge, spike, go NaN, plateau, overfit, crash, hang, run out of"
    " memory or learn nothing, or is it healthy? Reads logs, metrics, config, code and checkpoints of a run folder (of"
    " any size, no model is asked) and gives root causes with citations that were opened again, confidence, fix with"
    " diff, and how to verify it. Start here.",
    input_schema=input_schema(Input),
    output_schema=output_schema(DiagnosisResult),
    answer=answer,
    narrow="ask with `detail: short`, or `inspect` one analysis",
)
