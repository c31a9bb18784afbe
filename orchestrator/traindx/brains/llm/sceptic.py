"""The one who tries to refute a cause before it is reported as all but certain: one for each cause."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from pydantic import ValidationError

from traindx.brains.interface import Case
from traindx.brains.llm.answer import evidence_from
from traindx.brains.llm.budget import Budget
from traindx.brains.llm.investigation import Investigation
from traindx.brains.llm.leads import DOUBTED, POSSIBLE
from traindx.brains.llm.loop import Conversation
from traindx.brains.llm.prompt import challenge, sceptic_prompt
from traindx.brains.llm.refutation import Against, Weighed, weighed
from traindx.brains.llm.reply import ModelFault
from traindx.brains.llm.submission import Verdict, verdict_tool
from traindx.brains.llm.tool_runner import ToolRunner
from traindx.contract import RootCause
from traindx.diagnosis.evidence import DIRECT
from traindx.diagnosis.findings import Excluded, Findings


@dataclass(frozen=True)
class Opinion:
    """What became of a cause, and the sentence that says so."""

    cause: RootCause
    note: str
    holds: bool = False
    """whether a sceptic tried and could not refute it"""
    unasked: bool = False
    """whether no sceptic could be asked"""


async def doubted(found: Sequence[Findings], investigations: Mapping[str, Investigation]) -> list[Findings]:
    """The findings with every cause that would be reported at 0.9 or more put to one sceptic each.

    So is a cause that local findings stand against: it is taken up where the sceptic cannot refute it.
    """
    changed = [await _taken_up(one, investigations[one.specialist]) if one.contested else one for one in found]
    asked = {row.cause.name for one in found for row in one.contested}
    for name, held in _certain(changed):
        if name in asked:
            continue
        owner, cause = max(held, key=lambda row: row[1].confidence)
        opinion = await _examined(cause, investigations[owner.specialist])
        changed = [_with(one, name, cause, opinion, owner.specialist) for one in changed]
    return changed


async def _taken_up(one: Findings, investigation: Investigation) -> Findings:
    """The findings with each contested cause in its place where a sceptic holds it, and left where it was else."""
    for row in one.contested:
        opinion = await _examined(row.cause, investigation)
        one = replace(one, notes=[*one.notes, opinion.note])
        if opinion.unasked and row.unasked:
            opinion = replace(opinion, cause=row.cause.at_most(row.unasked))
        elif not opinion.holds:
            continue
        others = [cause for cause in one.causes if cause.id not in {row.cause.id, row.explains}]
        aside = [Excluded(row.explains, follows_from=row.cause.id)] if row.explains else []
        one = replace(
            one,
            status="diagnosis_complete" if one.status == "healthy" else one.status,
            causes=[opinion.cause, *others],
            excluded=[*one.excluded, *aside],
            disputed="" if one.disputed == row.explains else one.disputed,
        )
    return one


def _certain(found: Sequence[Findings]) -> Iterator[tuple[str, list[tuple[Findings, RootCause]]]]:
    """Each cause that somebody with a model holds for certain, with everybody who does, the surest first."""
    rows: dict[str, list[tuple[Findings, RootCause]]] = {}
    for one in found:
        for cause in one.causes:
            if one.brain != "local" and cause.confidence >= DIRECT:
                rows.setdefault(cause.name, []).append((one, cause))
    yield from sorted(rows.items(), key=lambda row: -max(cause.confidence for _, cause in row[1]))


def _with(one: Findings, name: str, examined: RootCause, opinion: Opinion, owner: str) -> Findings:
    """The findings with what was said of a cause, wherever it stands."""
    causes = []
    for cause in one.causes:
        if cause is examined:
            causes.append(opinion.cause)
        elif cause.name == name:
            most = min(cause.confidence, opinion.cause.confidence)
            causes.append(cause.model_copy(update={"id": opinion.cause.id, "confidence": most}))
        else:
            causes.append(cause)
    notes = [*one.notes, opinion.note] if one.specialist == owner else one.notes
    return replace(one, causes=causes, notes=notes)


async def _examined(cause: RootCause, investigation: Investigation) -> Opinion:
    case = investigation.case
    try:
        verdict = await _verdict(cause, case, investigation.conversation)
    except (ModelFault, ValidationError) as trouble:
        why = trouble.reason if isinstance(trouble, ModelFault) else "its answer could not be read"
        note = f"`{cause.name}` was not checked by the sceptic ({why}): kept below {DIRECT:g}"
        return Opinion(cause.at_most(DOUBTED), note, unasked=True)
    if verdict.outcome == "holds":
        return Opinion(cause, f"a sceptic tried to refute `{cause.name}` and could not: {verdict.why}", True)
    against = [
        Against(row.refutes, evidence_from(row).model_copy(update={"kind": "contrary"})) for row in verdict.evidence
    ]
    found = await weighed(cause, against, case)
    cause = cause.model_copy(update={"evidence": [*cause.evidence, *found.contrary]})
    if verdict.outcome == "wrong_id":
        return _renamed(cause, verdict, investigation)
    if verdict.outcome == "wrong_cause" and found.overturned:
        return Opinion(cause.at_most(POSSIBLE), f"a sceptic refuted `{cause.name}`: {verdict.why} ({found.why})")
    # What the tools' findings prove is not less sure for a doubt that no place bears out.
    sure = 0.0 if found.bears else investigation.local_confidence(cause.id)
    doubt = cause.at_most(max(DOUBTED, sure))
    return Opinion(doubt, f"a sceptic doubts `{cause.name}`: {verdict.why}{_shown(found)}")


def _renamed(cause: RootCause, verdict: Verdict, investigation: Investigation) -> Opinion:
    """The same cause under the id that the sceptic says it belongs to; what a tool's finding proves keeps its own."""
    better = verdict.better_id.strip("` ")
    said = f"a sceptic holds the cause, but not under `{cause.name}`: {verdict.why}"
    if better not in investigation.case.catalog or better == cause.id or investigation.proves(cause.id):
        return Opinion(cause.at_most(DOUBTED), said)
    renamed = cause.model_copy(update={"id": better, "title": ""})
    return Opinion(renamed.at_most(DOUBTED), f"{said}; it stands under `{better}` now")


def _shown(found: Weighed) -> str:
    return f" ({found.why})" if found.bears else " (no place was shown that contradicts it)"


async def _verdict(cause: RootCause, case: Case, conversation: Conversation) -> Verdict:
    """Ask, in a conversation of its own, out of the same budget."""
    budget = _purse(conversation.budget)
    runner = conversation.tool_runner
    doubting = Conversation(
        client=conversation.client,
        budget=budget,
        tool_runner=ToolRunner(case, f"{runner.who}/sceptic", runner.redactor, budget, idle=runner.idle),
        system=sceptic_prompt(case),
        model=conversation.model,
        effort=conversation.effort,
        stop=conversation.stop,
    )
    doubting.tell(await asyncio.to_thread(challenge, case, cause, runner.redactor))
    try:
        call = await doubting.until(verdict_tool(case))
    finally:
        conversation.budget.absorb(budget)
    return Verdict.model_validate(call.input)


def _purse(whole: Budget) -> Budget:
    """What is left, with a few tool calls."""
    left = whole.left()
    return Budget(replace(left, max_tool_calls=max(1, left.sceptic_calls)), whole.model, whole.price)
