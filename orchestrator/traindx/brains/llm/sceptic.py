"""The one who tries to refute the leading cause before it is reported as all but certain."""

from __future__ import annotations

import asyncio
from dataclasses import replace

from pydantic import ValidationError

from traindx.brains.interface import Case
from traindx.brains.llm.answer import evidence_from
from traindx.brains.llm.budget import Budget
from traindx.brains.llm.loop import Conversation
from traindx.brains.llm.prompt import challenge, sceptic_prompt
from traindx.brains.llm.reply import ModelFault
from traindx.brains.llm.submission import Verdict, verdict_tool
from traindx.brains.llm.tool_runner import ToolRunner
from traindx.contract import Evidence, RootCause, Signal
from traindx.diagnosis.evidence import DIRECT, UNVERIFIED, opened

BELOW = round(DIRECT - 0.01, 2)


async def examined(
    cause: RootCause, case: Case, conversation: Conversation, signals: list[Signal]
) -> tuple[RootCause, str]:
    """The cause after the attempt to refute it, and what came of it in one sentence."""
    try:
        verdict = await _verdict(cause, case, conversation)
    except (ModelFault, ValidationError) as trouble:
        why = trouble.reason if isinstance(trouble, ModelFault) else "its answer could not be read"
        return _capped(cause, BELOW), f"`{cause.id}` was not checked by the sceptic ({why}): kept below {DIRECT:g}"
    if verdict.outcome == "holds":
        return cause, f"a sceptic tried to refute `{cause.id}` and could not: {verdict.why}"
    contrary = [evidence_from(piece).model_copy(update={"kind": "contrary"}) for piece in verdict.evidence]
    shown = await _shown(cause, contrary, case, signals) if verdict.outcome == "refuted" else []
    if not shown:
        return _capped(cause, BELOW), f"a sceptic doubts `{cause.id}`: {verdict.why}"
    refuted = cause.model_copy(update={"evidence": [*cause.evidence, *shown]})
    return _capped(refuted, UNVERIFIED - 0.01), f"a sceptic refuted `{cause.id}`: {verdict.why}"


async def _verdict(cause: RootCause, case: Case, conversation: Conversation) -> Verdict:
    """Ask, in a conversation of its own, out of the same budget."""
    budget = _purse(conversation.budget)
    doubting = Conversation(
        client=conversation.client,
        budget=budget,
        tool_runner=ToolRunner(
            case, f"{conversation.tool_runner.who}/sceptic", conversation.tool_runner.redactor, budget
        ),
        system=sceptic_prompt(case),
        model=conversation.model,
        effort=conversation.effort,
        stop=conversation.stop,
    )
    doubting.tell(challenge(case, cause))
    try:
        call = await doubting.until(verdict_tool())
    finally:
        conversation.budget.absorb(budget)
    return Verdict.model_validate(call.input)


def _purse(whole: Budget) -> Budget:
    """What is left, with a few tool calls."""
    left = whole.left()
    return Budget(replace(left, max_tool_calls=max(1, left.sceptic_calls)), whole.model, whole.price)


async def _shown(cause: RootCause, contrary: list[Evidence], case: Case, signals: list[Signal]) -> list[Evidence]:
    """The contrary pieces that code could open."""
    rows = await asyncio.to_thread(opened, [cause.model_copy(update={"evidence": contrary})], case.toolbelt, signals)
    return [piece for piece, row in zip(contrary, rows[0], strict=True) if row.verified]


def _capped(cause: RootCause, most: float) -> RootCause:
    return cause.model_copy(update={"confidence": min(cause.confidence, most)})
