"""Hello, thanks, goodbye, and what is said to a question that was not understood."""

from __future__ import annotations

import re

from traindx.chat.question import Question
from traindx.chat.session import ChatSession, Leave
from traindx.chat.summary import in_short

UNCLEAR = (
    "I did not understand that. I can explain why it happened, show the evidence, the fix and how to verify it, say"
    " what else it could be or what changing a setting would do, and look up values (\u201clr at epoch 3\u201d).\n"
    "Or describe what you see and I will look again; `/help` lists the commands."
)
HELLO = (
    "Ask why it happened, where the evidence is, how to fix it, how to verify the fix, what a change would do,"
    " what else it could be, what to log, or for a value (\u201cbest val loss\u201d).\n"
    "Tell me what you see and I will look again. `/help` lists the commands."
)


async def bye(_talk: ChatSession, _question: Question) -> str:
    """End the chat."""
    raise Leave("Goodbye.")


async def thanks(session: ChatSession, _question: Question) -> str:
    """A friendly word, and the next step."""
    settled = session.cause() if session.diagnosis.status != "needs_more_data" else None
    return f"You are welcome. To check the fix: {settled.fix.verify}" if settled else "You are welcome."


async def hello(_talk: ChatSession, _question: Question) -> str:
    """What can be asked."""
    return HELLO


async def unclear(_talk: ChatSession, _question: Question) -> str:
    """What can be answered."""
    return UNCLEAR


_CORRECTION = re.compile(r"^(?:no|nope|wrong|actually|sorry|instead|rather|correction|i meant)\b")


async def again(session: ChatSession, _question: Question) -> str:
    """Open the run again, with whatever was added to it, and diagnose it."""
    await session.open()
    await session.diagnose(session.message)
    return f"Read again.\n\n{in_short(session.diagnosis)}"


async def restated(session: ChatSession, question: Question) -> str:
    """Diagnose again with the new description; a correction replaces the old one, anything else adds to it."""
    before = [row.id for row in session.diagnosis.root_causes]
    told = question.text.strip()
    replaces = not session.message or _CORRECTION.match(question.plain)
    await session.diagnose(told if replaces else f"{session.message.rstrip('.')}. {told}")
    if before and before == [row.id for row in session.diagnosis.root_causes]:
        return f"I looked again, taking that into account, and reached the same conclusion: {session.diagnosis.summary}"
    return f"I looked again, taking that into account.\n\n{in_short(session.diagnosis)}"
