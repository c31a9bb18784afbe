"""The model's answer beside the local investigator's. Neither is thrown away on a word of the other.

A lead falls where code finds its evidence contradicted, or where a cause that brings it about is shown. What was proven
leads until then; beside what was only likely, a cause that shows something new may lead. Health is a lead as well.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

from traindx.brains.interface import Case
from traindx.brains.llm.answer import Answer
from traindx.brains.llm.injection import SIGNAL as ORDERS
from traindx.brains.llm.injection import reads_like_an_order
from traindx.brains.llm.refutation import Against, Weighed, weighed
from traindx.brains.llm.submission import LeadVerdict
from traindx.brains.llm.weight import shows_health, stands
from traindx.contract import LIKELY, SETTLED, Evidence, RootCause, Signal
from traindx.diagnosis.catalog import Catalog
from traindx.diagnosis.evidence import DIRECT, opened_places, verify
from traindx.diagnosis.findings import Contested, Excluded, Findings

POSSIBLE = round(LIKELY - 0.01, 2)
"""the most that a possibility may claim"""
UNSETTLED = round(SETTLED - 0.01, 2)
"""the most that a cause may claim which a sceptic holds against a run that was judged healthy"""
STEP = 0.01
"""how far below another one the second of two verdicts stays"""
DOUBTED = round(DIRECT - STEP, 2)
"""the most that a cause may claim which someone has held a fitting place against"""


@dataclass
class _Comparison:
    """What is weighed: the answer, what code found of its causes, and what the local investigator knew."""

    case: Case
    answer: Answer
    new: Sequence[Signal]
    """signals that the local investigator had not weighed"""
    notes: list[str]


async def weighed_against(
    local: Findings, answer: Answer, case: Case, signals: list[Signal]
) -> tuple[Answer, list[str]]:
    """The answer with the local verdict beside it, and in one sentence each what the two disagreed about."""
    known = {signal.id for signal in local.signals}
    comparison = _Comparison(case, answer, [signal for signal in signals if signal.id not in known], [])
    answer.causes = await asyncio.to_thread(verify, answer.causes, case.toolbelt, signals)
    answer.causes = [_bounded(cause) for cause in answer.causes]
    leads = [one for one in local.causes if one.likely]
    for lead in leads:
        if not any(cause.id == lead.id and cause.likely for cause in answer.causes):
            answer.causes = [cause for cause in answer.causes if cause.id != lead.id]
            await _dispute(comparison, lead)
    if not leads:
        await _without_leads(comparison, local, signals)
    _settle_status(comparison, local)
    return answer, comparison.notes


def unaddressed(local: Findings, answer: Answer, catalog: Catalog) -> list[str]:
    """What to ask of an answer that passes over a lead in silence, or refutes it without naming what falls."""
    named = {cause.id for cause in answer.causes} | {row.id for row in answer.excluded}
    named |= {one for cause in answer.causes if cause.id in catalog for one in followers(cause.id, catalog)}
    rows = []
    for lead in local.causes:
        if not lead.likely or lead.id in named:
            continue
        places = "; ".join(f"{piece.source}, {piece.locator}" for piece in lead.evidence[:3])
        spoken = [row for row in answer.leads if row.id == lead.id]
        if not spoken:
            rows.append(
                f"the lead `{lead.id}` ({lead.confidence:.2f}) is passed over: hold it, refute it in `leads`, or say in"
                " `excluded` what it follows from"
            )
        elif all(row.verdict == "refuted" and not row.refutes.strip() for row in spoken):
            rows.append(f"`leads`: `refutes` names no evidence of `{lead.id}`; it rests on {places}")
    return rows


def _bounded(cause: RootCause) -> RootCause:
    """A cause of which nothing could be shown, or only text that gives orders, is a possibility at most."""
    shown = [piece for piece in cause.evidence if piece.verified and piece.kind != "contrary"]
    if any(not reads_like_an_order(piece.quote) for piece in shown):
        return cause
    return cause.at_most(POSSIBLE)


async def _dispute(comparison: _Comparison, lead: RootCause) -> None:
    answer, case = comparison.answer, comparison.case
    against = [
        Against(row.refutes, _piece(row))
        for row in answer.leads
        if row.id == lead.id and row.verdict == "refuted" and row.source.strip() and row.quote.strip()
    ]
    found = await weighed(lead, against, case)
    said = next((row.why.strip() for row in answer.leads if row.id == lead.id and row.why.strip()), "")
    held = f"the local investigator held `{lead.id}` at {lead.confidence:.2f}"
    proven = lead.confidence >= DIRECT
    if found.overturned or (found.bears and not proven):
        answer.excluded.append(Excluded(lead.id, f"{said or found.why} ({held}; {found.why})"))
        return
    root = _root_of(comparison, lead)
    if root is not None:
        answer.excluded.append(Excluded(lead.id, follows_from=root.id))
        return
    for twin in _twins(comparison, lead):
        answer.causes.remove(twin)
        lead = lead.model_copy(update={"evidence": _with(lead.evidence, twin.evidence)})
        comparison.notes.append(f"`{twin.id}` was put under `{lead.id}`: both rest on the same place")
    rival = next((cause for cause in answer.causes if cause.confidence >= SETTLED), None)
    if not proven and rival is not None and stands(rival, case, comparison.new):
        _add(comparison, lead.at_most(POSSIBLE), found)
        comparison.notes.append(f"{held}; {case.specialist.name} shows `{rival.id}` instead{_why(said)}")
        return
    lead = lead.at_most(DOUBTED) if found.bears else lead
    answer.contested += [
        Contested(cause, lead.id)
        for cause in answer.causes
        if cause.confidence >= DIRECT and _explains(cause, lead, case.catalog)
    ]
    for cause in list(answer.causes):
        _replace(comparison, cause, cause.at_most(max(0.0, round(lead.confidence - STEP, 2))))
    _add(comparison, lead, found)
    what = "a proven lead" if proven else "a lead"
    if proven:
        answer.disputed = answer.disputed or lead.id
    comparison.notes.append(f"{case.specialist.name} disagrees with {what}: {held} and still shows it{_why(said)}")


async def _without_leads(comparison: _Comparison, local: Findings, signals: Sequence[Signal]) -> None:
    """The local investigator named no cause: the run was well, or it could not tell."""
    well = local.status == "healthy"
    for cause in list(comparison.answer.causes):
        if cause.likely and not stands(cause, comparison.case, comparison.new, against_health=well):
            _replace(comparison, cause, cause.at_most(POSSIBLE))
            most = UNSETTLED if well else DOUBTED
            unasked = 0.0 if well else min(cause.confidence, UNSETTLED)
            comparison.answer.contested.append(Contested(cause.at_most(most), unasked=unasked))
            seen = "the run was judged healthy" if well else "the local investigator found no cause"
            comparison.notes.append(
                f"`{cause.name}` needs a second opinion: {seen}, and no place cited shows a fault by itself"
            )
        elif cause.likely and well:
            _replace(comparison, cause, cause.at_most(DOUBTED))
    if well or comparison.answer.status != "healthy":
        return
    # Where the local investigator could not tell, health needs a place that shows it.
    orders = any(signal.id == ORDERS for signal in signals)
    rows = await asyncio.to_thread(opened_places, comparison.answer.health, comparison.case.toolbelt, signals)
    shown = [piece for piece, row in zip(comparison.answer.health, rows, strict=True) if row.verified]
    if orders or not any(shows_health(piece, comparison.case.context) for piece in shown):
        comparison.answer.status = "needs_more_data"
        why = "the artifacts give orders to their reader" if orders else "no curve or score was cited that shows it"
        comparison.notes.append(
            f"{comparison.case.specialist.name} calls the run healthy, which is not taken over: {why}"
        )
        comparison.answer.questions += [row for row in local.questions if row not in comparison.answer.questions]


def _settle_status(comparison: _Comparison, local: Findings) -> None:
    """What the causes that are left make of the status."""
    answer = comparison.answer
    answer.causes.sort(key=lambda cause: -cause.confidence)
    likely = [cause for cause in answer.causes if cause.likely]
    if likely:
        if answer.status == "healthy" or likely[0].confidence >= SETTLED:
            answer.status = "diagnosis_complete"
    elif local.status == "healthy" or answer.status == "diagnosis_complete":
        answer.status = local.status if local.status in {"healthy", "needs_more_data"} else "needs_more_data"


def _root_of(comparison: _Comparison, lead: RootCause) -> RootCause | None:
    """A cause of the answer that brings the lead about, and that shows something of its own."""
    for cause in comparison.answer.causes:
        if (
            cause.likely
            and _explains(cause, lead, comparison.case.catalog)
            and stands(cause, comparison.case, comparison.new)
        ):
            return cause
    return None


def _explains(cause: RootCause, lead: RootCause, catalog: Catalog) -> bool:
    """Whether a cause with verified evidence is known to bring the lead about."""
    shown = any(piece.verified and piece.kind == "direct" for piece in cause.evidence)
    return shown and cause.id in catalog and lead.id in followers(cause.id, catalog)


def followers(name: str, catalog: Catalog) -> set[str]:
    """Everything that a failure mode leads to, however far down."""
    found: set[str] = set()
    waiting = [name]
    while waiting:
        for one in catalog[waiting.pop()].leads_to:
            if one not in found:
                found.add(one)
                waiting.append(one)
    return found


def _twins(comparison: _Comparison, lead: RootCause) -> list[RootCause]:
    """Causes of the answer under another id that directly rest on nothing but what the lead rests on as well."""
    places = {piece.place for piece in lead.evidence if piece.kind == "direct" and piece.verified}
    found = []
    for cause in comparison.answer.causes:
        direct = [piece for piece in cause.evidence if piece.kind == "direct" and piece.verified]
        if direct and all(piece.place in places for piece in direct):
            found.append(cause)
    return found


def _piece(row: LeadVerdict) -> Evidence:
    """The place that a verdict on a lead cites."""
    return Evidence(claim=row.why, kind="contrary", source=row.source, locator=row.locator, quote=row.quote)


def _with(held: Sequence[Evidence], more: Sequence[Evidence]) -> list[Evidence]:
    places = {piece.place for piece in held}
    return [*held, *(piece for piece in more if piece.verified and piece.place not in places)]


def _add(comparison: _Comparison, lead: RootCause, found: Weighed) -> None:
    comparison.answer.causes.append(lead.model_copy(update={"evidence": [*lead.evidence, *found.contrary]}))


def _replace(comparison: _Comparison, old: RootCause, new: RootCause) -> None:
    comparison.answer.causes[:] = [new if cause is old else cause for cause in comparison.answer.causes]


def _why(said: str) -> str:
    return f": {said}" if said else ""
