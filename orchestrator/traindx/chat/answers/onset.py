"""When it began."""

from __future__ import annotations

import re

from traindx.chat.answers.cause import place, without
from traindx.chat.question import Question
from traindx.chat.talk import Talk

_MOMENT = re.compile(r"\b(?:epoch|step) (\d+(?:\.\d+)?)")


async def when(talk: Talk, question: Question) -> str:
    """The moment of the break, with the findings that show it; or that the evidence knows no moment."""
    cause = talk.cause(question.cause)
    if cause is None:
        return without(talk, question.cause)
    belief = await talk.belief(cause.id)
    facts = belief.facts if belief else {}
    moments = [(float(match[1]), piece) for piece in cause.evidence if (match := _MOMENT.search(piece.locator))]
    rows = [
        f"- {piece.claim} ({place(piece.source, piece.locator)})"
        for _, piece in sorted(moments, key=lambda row: row[0])
        if piece.kind != "contrary"
    ]
    if "onset" in facts:
        good = f"; the last good point is {facts['last_good']}" if "last_good" in facts else ""
        return "\n".join([f"At {facts['onset']}{good}.", *rows])
    if rows:
        return "\n".join(["These are the moments that the evidence speaks of:", *rows])
    where = place(cause.evidence[0].source, cause.evidence[0].locator) if cause.evidence else "no place"
    return f"No single moment is in evidence for `{cause.id}`: it stands in {where} and holds for the whole run."
