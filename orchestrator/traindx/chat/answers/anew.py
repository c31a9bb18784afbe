"""Looking again: because the folder has changed, or because the user says what is really to be seen."""

from __future__ import annotations

import re

from traindx.chat.question import Question
from traindx.chat.summary import in_short
from traindx.chat.talk import Talk

_CORRECTION = re.compile(r"^(?:no|nope|wrong|actually|sorry|instead|rather|correction|i meant)\b")


async def again(talk: Talk, _question: Question) -> str:
    """Open the run anew, with whatever was added to it, and diagnose it."""
    await talk.open()
    await talk.diagnose(talk.message)
    return f"Read anew.\n\n{in_short(talk.diagnosis)}"


async def restated(talk: Talk, question: Question) -> str:
    """Diagnose again with the new description; a correction replaces the old one, anything else adds to it."""
    before = [row.id for row in talk.diagnosis.root_causes]
    told = question.text.strip()
    replaces = not talk.message or _CORRECTION.match(question.plain)
    await talk.diagnose(told if replaces else f"{talk.message.rstrip('.')}. {told}")
    if before and before == [row.id for row in talk.diagnosis.root_causes]:
        return f"I looked again with that in mind and come to the same: {talk.diagnosis.summary}"
    return f"I looked again with that in mind.\n\n{in_short(talk.diagnosis)}"
