"""What it is, how sure that is, how bad, and what else it could be."""

from __future__ import annotations

from traindx.chat.answers.evidence import first_paragraph, of_cause
from traindx.chat.question import Question
from traindx.chat.session import ChatSession
from traindx.contract import RootCause
from traindx.diagnosis.findings import Excluded

CONTRARY = "contrary"


def without(session: ChatSession, number: int = 1) -> str:
    """What is said where a question is about a cause that was not found."""
    diagnosis = session.diagnosis
    count = len(diagnosis.root_causes)
    if count:
        return f"There is no cause {number}: the diagnosis names {count}. `/evidence 1` shows the first."
    rows = [f"- {row}" for row in diagnosis.questions]
    if rows:
        return "\n".join([diagnosis.summary, "", "What would settle it:", *rows])
    return diagnosis.summary


def verdict(session: ChatSession) -> str:
    """What is known about a run of which no cause is known."""
    if session.diagnosis.status == "needs_more_data":
        return "The cause is not certain yet: ask \u201cwhat is missing\u201d."
    return session.diagnosis.summary


async def why(session: ChatSession, question: Question) -> str:
    """The cause in one sentence, what showed it, and what the catalog says it is."""
    cause = session.cause(question.cause)
    if cause is None:
        return without(session, question.cause)
    shown = [f"- {piece.claim} ({place(piece.source, piece.locator)})" for piece in cause.evidence[:3]]
    unsettled = session.diagnosis.status == "needs_more_data"
    likely = f"Not certain; the most likely cause so far, at {cause.confidence:.2f}: {cause.issue}"
    lead = likely if unsettled else cause.issue
    mode = session.catalog.get(cause.id)
    parts = [lead, "\n".join(shown), first_paragraph(mode, "What it is") if mode and not unsettled else ""]
    asked = [f"- {row}" for row in session.diagnosis.questions]
    if unsettled and asked:
        parts.append("\n".join(["What would settle it:", *asked]))
    page = f"`/explain {cause.id}`, " if mode else ""
    return "\n\n".join([*(part for part in parts if part), f"More: {page}`/evidence {question.cause}`."])


async def sure(session: ChatSession, question: Question) -> str:
    """The confidence, and what it rests on."""
    cause = session.cause(question.cause)
    if cause is None:
        return without(session, question.cause)
    held = [piece for piece in cause.evidence if piece.verified and piece.kind != CONTRARY]
    direct = sum(piece.kind == "direct" for piece in held)
    against = [piece for piece in cause.evidence if piece.kind == CONTRARY]
    said = [
        f"`{cause.name}`: {cause.confidence:.2f}.",
        f"{len(held)} of {len(cause.evidence)} citations were opened again and hold up, {direct} of them direct.",
        "At 0.90 and above, the faulty line or the exact step was seen; nothing is ever reported above 0.98.",
    ]
    said += [f"Against it: {piece.claim} ({place(piece.source, piece.locator)})." for piece in against]
    if cause.confidence < 0.7:
        said.append("That is a hypothesis, not a finding: ask \u201cwhat should I log\u201d for what would settle it.")
    return " ".join(said)


async def healthy(session: ChatSession, question: Question) -> str:  # noqa: ARG001 - one signature for every answer
    """Whether the run is all right."""
    diagnosis = session.diagnosis
    if diagnosis.status == "healthy":
        return diagnosis.summary
    if diagnosis.status == "needs_more_data" or not diagnosis.root_causes:
        return f"It is too early to tell. {without(session) if not diagnosis.root_causes else diagnosis.summary}"
    first = diagnosis.root_causes[0]
    judged = f"Severity: {first.severity}, confidence {first.confidence:.2f}."
    return f"Not healthy. {first.issue} {judged} Ask \u201chow do I fix it\u201d."


async def others(session: ChatSession, question: Question) -> str:  # noqa: ARG001 - one signature for every answer
    """The other hypotheses, and those that were set aside, with the reasons."""
    diagnosis = session.diagnosis
    rest = [_in_short(cause) for cause in diagnosis.root_causes[1:]]
    aside = [f"- {row}" for row in diagnosis.excluded]
    parts = []
    if diagnosis.root_causes:
        parts.append(f"Most likely: `{diagnosis.root_causes[0].id}` ({diagnosis.root_causes[0].confidence:.2f}).")
    parts.append("\n".join(["Also possible:", *rest]) if rest else "The evidence supports no second cause.")
    if aside:
        parts.append("\n".join(["Considered and set aside:", *aside]))
    mode = session.catalog.get(diagnosis.root_causes[0].id) if diagnosis.root_causes else None
    if mode is not None:
        parts.append("\n".join(["What would tell them apart:", *(f"- {row}" for row in mode.asks)]))
    return "\n\n".join(parts)


async def suspect(session: ChatSession, question: Question) -> str:
    """What speaks for and against the failure modes that the question names."""
    return "\n\n".join([await _judged(session, name) for name in question.modes[:2]])


async def _judged(session: ChatSession, name: str) -> str:
    mode = session.catalog[name]
    what = first_paragraph(mode, "What it is")
    named = next((cause for cause in session.diagnosis.named if cause.id == name), None)
    if named is not None:
        number = session.diagnosis.root_causes.index(named) + 1
        return f"`{name}` is cause {number}, at {named.confidence:.2f}: {named.issue}\n\n{of_cause(named)}\n\n{what}"
    row = next((row for row in session.diagnosis.excluded if Excluded.parse(row).id == name), None)
    belief = await session.belief(name)
    found = [f"- for it: {voice.signal.claim}" for voice in belief.support[:3]] if belief else []
    found += [f"- against it: {voice.signal.claim}" for voice in belief.against[:3]] if belief else []
    verdict = f"It was considered and set aside: {row}." if row else f"`{name}` is not what was found here."
    grounds = "\n".join(found) or f"None of its signs showed up. Its signs: `/explain {name}`."
    return f"{verdict}\n\n{grounds}\n\n{what}"


def place(source: str, locator: str) -> str:
    """A place as one reads it: `metrics.csv, line 8`."""
    return f"{source}, {locator}" if locator else source


def _in_short(cause: RootCause) -> str:
    return f"- `{cause.name}` ({cause.confidence:.2f}): {cause.issue}"
