"""The conversation without a model: free text is understood by its words and answered from diagnosis and tools."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping

from traindx.chat.answers import cause, remedy, small_talk, values, whatif
from traindx.chat.phrases import GUESSING, PHRASES, QUESTION, plain
from traindx.chat.question import Question, understood
from traindx.chat.session import ChatSession
from traindx.pipeline.request import understand

SMALL_TALK = ("bye", "thanks", "hello")
NOTHING_HEARD = {"unclear", "not-about-training"}
Answer = Callable[[ChatSession, Question], Awaitable[str]]


async def answer(session: ChatSession, text: str) -> str:
    """What can be said, in Markdown; raises `Leave` at a goodbye."""
    waits = session.diagnosis.status == "needs_more_data"
    question = await understood(session, text)
    return await ANSWERS[intent_of(question, open_questions=waits)](session, question)


async def quick_reply(session: ChatSession, text: str) -> str | None:
    """The answer to a greeting, thanks or goodbye, for which no model is asked; `None` for anything else."""
    question = Question(text, plain(text))
    intent = intent_of(question)
    return await ANSWERS[intent](session, question) if intent in SMALL_TALK else None


def intent_of(question: Question, *, open_questions: bool = False) -> str:
    """The first row of the table that fits; `open_questions` says that we have asked and wait for an answer."""
    named: Mapping[str, Callable[[], bool]] = {
        "suspect": lambda: bool(question.modes) and _guesses(question),
        "restated": lambda: _describes(question, open_questions),
        "figure": lambda: values.asks_for_value(question),
        "blame": lambda: bool(question.tunables) and _guesses(question),
    }
    for phrase in PHRASES:
        if phrase.pattern.search(question.plain) if phrase.pattern is not None else named[phrase.intent]():
            return phrase.intent
    return "unclear"


def _guesses(question: Question) -> bool:
    return GUESSING.search(question.plain) is not None


def _describes(question: Question, open_questions: bool) -> bool:
    """Whether symptoms are told rather than asked about; after we have asked, any statement may be the answer."""
    words = question.plain.split()
    if question.asked or QUESTION.match(question.plain) or len(words) < 3:
        return False
    if understand(question.text).kind not in NOTHING_HEARD:
        return True
    return open_questions and len(words) >= 4 and not values.asks_for_value(question)


ANSWERS: Mapping[str, Answer] = {
    "bye": small_talk.bye,
    "thanks": small_talk.thanks,
    "hello": small_talk.hello,
    "unclear": small_talk.unclear,
    "again": small_talk.again,
    "restated": small_talk.restated,
    "why": cause.why,
    "sure": cause.sure,
    "healthy": cause.healthy,
    "others": cause.others,
    "suspect": cause.suspect,
    "blame": whatif.blame,
    "whatif": whatif.whatif,
    "fix": remedy.fix,
    "verify": remedy.verify,
    "effect": remedy.effect,
    "fallback": remedy.fallback,
    "next": remedy.following,
    "evidence": remedy.evidence,
    "when": values.when,
    "figure": values.figure,
}
