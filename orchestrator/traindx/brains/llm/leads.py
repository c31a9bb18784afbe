"""The model's answer beside the local investigator's: what it set aside must be seen, and must be shown to be wrong."""

from __future__ import annotations

import asyncio

from traindx.brains.interface import Case
from traindx.brains.llm.answer import Answer
from traindx.brains.llm.submission import LeadVerdict
from traindx.contract import Evidence, RootCause, Signal
from traindx.diagnosis.evidence import DIRECT, opened, verify
from traindx.diagnosis.findings import Excluded, Findings

CONTESTED = 0.6
"""what a proven lead keeps when a model that explains the run otherwise has set it aside without proof"""


async def weighed_against(
    local: Findings, answer: Answer, case: Case, signals: list[Signal]
) -> tuple[Answer, list[str]]:
    """The answer with the local causes it left out: excluded where a place contradicts them, else still in it.

    A model can be talked into silence by what it reads; what code has proven does not vanish because of that.
    """
    named = {cause.id for cause in answer.causes if cause.likely}
    left = [
        cause
        for cause in await asyncio.to_thread(verify, local.causes, case.toolbelt, signals)
        if cause.id not in named
    ]
    said = {row.id.strip("`"): row for row in answer.leads}
    notes = []
    explained = bool(named)
    for cause in left:
        verdict = said.get(cause.id)
        held = f"the local investigator held `{cause.id}` at {cause.confidence:.2f}"
        if not cause.likely:
            continue
        why = verdict.why.strip() if verdict is not None else ""
        if verdict is not None and verdict.verdict == "refuted" and await _shown(verdict, cause, case, signals):
            answer.excluded.append(Excluded(cause.id, f"{why or 'refuted'} ({held})"))
        elif cause.confidence >= DIRECT:
            most = CONTESTED if explained else round(DIRECT - 0.01, 2)
            answer.causes.append(cause.model_copy(update={"confidence": min(cause.confidence, most)}))
            answer.status = "diagnosis_complete"
            tail = f": {why}" if why else ""
            notes.append(f"{case.specialist.name} disagrees with a proven lead: {held} and still shows it{tail}")
        else:
            answer.excluded.append(Excluded(cause.id, f"{why or 'not addressed'} ({held})"))
    return answer, notes


async def _shown(verdict: LeadVerdict, cause: RootCause, case: Case, signals: list[Signal]) -> bool:
    """Whether the place that is said to contradict a lead can be opened."""
    if not verdict.source.strip() or not verdict.quote.strip():
        return False
    piece = Evidence(
        claim="contradicts the lead",
        kind="contrary",
        source=verdict.source,
        locator=verdict.locator,
        quote=verdict.quote,
    )
    rows = await asyncio.to_thread(opened, [cause.model_copy(update={"evidence": [piece]})], case.toolbelt, signals)
    return rows[0][0].verified
