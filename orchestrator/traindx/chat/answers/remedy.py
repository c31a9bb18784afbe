"""What to do about it: the fix, how to check it, what to expect, what to try after it, what to supply."""

from __future__ import annotations

from traindx.chat.answers.cause import without
from traindx.chat.answers.evidence import opened
from traindx.chat.flow import fenced
from traindx.chat.question import Question
from traindx.chat.session import ChatSession
from traindx.diagnosis.wording import fix_for

PLAN = "Monitoring Plan"


async def fix(session: ChatSession, question: Question) -> str:
    """The change, as a diff where the faulty line is known, and what it should bring."""
    named = {row.id for row in session.diagnosis.root_causes}
    other = next((name for name in question.modes if name not in named), None)
    if other is not None and not named & set(question.modes):
        general = fix_for(session.catalog[other], {})
        return f"`{other}` is not what was found here. In general: {general.summary}\nMore: `/explain {other}`."
    cause = session.cause(question.cause)
    if cause is None:
        return without(session, question.cause)
    said = cause.fix.summary
    if session.diagnosis.status == "needs_more_data":
        said = f"The cause is not certain ({cause.confidence:.2f}). If it is `{cause.name}`: {said}"
    parts = [said, fenced(cause.fix.diff, "diff") if cause.fix.diff else "", f"Expect: {cause.fix.expected}"]
    return "\n".join(
        [*(part for part in parts if part), "Nothing was edited: apply it yourself, then ask how to verify it."]
    )


async def verify(session: ChatSession, question: Question) -> str:
    """How to see that the fix did what it should."""
    cause = session.cause(question.cause)
    if cause is None:
        return without(session, question.cause)
    return f"{cause.fix.verify}\n\nOtherwise: {cause.fix.fallback}"


async def effect(session: ChatSession, question: Question) -> str:
    """What should change after the fix."""
    cause = session.cause(question.cause)
    if cause is None:
        return without(session, question.cause)
    return f"After the fix: {cause.fix.expected}\n\nTo check it: {cause.fix.verify}"


async def fallback(session: ChatSession, question: Question) -> str:
    """What to try when the fix did not help."""
    cause = session.cause(question.cause)
    if cause is None:
        return without(session, question.cause)
    second = session.cause(question.cause + 1)
    parts = [cause.fix.fallback]
    if second is not None:
        parts.append(f"Next candidate: `{second.id}` ({second.confidence:.2f}): {second.fix.summary}")
    return "\n\n".join([*parts, "Put the log of the new run in the folder and say \u201cdiagnose again\u201d."])


async def following(session: ChatSession, question: Question) -> str:
    """What to do and what to supply next."""
    diagnosis = session.diagnosis
    parts: list[str] = []
    cause = session.cause(question.cause)
    settled = diagnosis.status not in {"needs_more_data", "healthy"}
    if cause is not None and settled:
        parts.append(f"1. {cause.fix.summary}\n2. {cause.fix.verify}\n3. Otherwise: {cause.fix.fallback}")
    if diagnosis.questions:
        rows = [f"- {row}" for row in diagnosis.questions]
        parts.append(
            "\n".join(
                ["What is missing:", *rows, "Add it to the folder and say \u201cdiagnose again\u201d, or tell me here."]
            )
        )
    if diagnosis.missing:
        parts.append("\n".join(["Not found or not read:", *(f"- {row}" for row in diagnosis.missing[:6])]))
    if diagnosis.sections.get(PLAN):
        parts.append(f"To watch:\n{diagnosis.sections[PLAN]}")
    return "\n\n".join(parts) or "Nothing is missing, and nothing has to be done."


async def evidence(session: ChatSession, question: Question) -> str:
    """The first citations, opened."""
    cause = session.cause(question.cause)
    return without(session, question.cause) if cause is None else await opened(session, cause, most=3)
