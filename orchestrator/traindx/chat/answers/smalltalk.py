"""Hello, thanks, goodbye, and what is said to a question that was not understood."""

from __future__ import annotations

from traindx.chat.question import Question
from traindx.chat.talk import Leave, Talk

UNCLEAR = (
    "That I did not understand. I can say why it happened, show the evidence, the fix and how to verify it, what else"
    " it could be, what if you change a setting, and look up values (\u201clr at epoch 3\u201d).\n"
    "Or describe what you see, and I look again; `/help` lists the commands."
)
HELLO = (
    "Ask why it happened, where that stands, how to fix it, how to verify it, what if you change something, what else"
    " it could be, what to log, or for a value (\u201cbest val loss\u201d).\n"
    "Tell me what you see, and I look again. `/help` lists the commands."
)


async def bye(_talk: Talk, _question: Question) -> str:
    """End the chat."""
    raise Leave("Goodbye.")


async def thanks(talk: Talk, _question: Question) -> str:
    """A friendly word, and the next step."""
    settled = talk.cause() if talk.diagnosis.status != "needs_more_data" else None
    return f"You are welcome. To check the fix: {settled.fix.verify}" if settled else "You are welcome."


async def hello(_talk: Talk, _question: Question) -> str:
    """What can be asked."""
    return HELLO


async def unclear(_talk: Talk, _question: Question) -> str:
    """What can be answered."""
    return UNCLEAR
