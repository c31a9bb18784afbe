"""The conversation without a model: free text is understood by its words and answered from diagnosis and tools."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping

from traindx.chat.answers import anew, cause, figures, onset, remedy, smalltalk, whatif
from traindx.chat.phrases import GUESSING, PHRASES, QUESTION, plain
from traindx.chat.question import Question, understood
from traindx.chat.talk import Talk
from traindx.request import understand

SMALL_TALK = ("bye", "thanks", "hello")
NOTHING_HEARD = {"unclear", "not-about-training"}
Answer = Callable[[Talk, Question], Awaitable[str]]


async def answer(talk: Talk, text: str) -> str:
    """What can be said, in Markdown; raises `Leave` at a goodbye."""
    waits = talk.diagnosis.status == "needs_more_data"
    question = await understood(talk, text)
    return await ANSWERS[intent_of(question, open_questions=waits)](talk, question)


async def small_talk(talk: Talk, text: str) -> str | None:
    """The answer to a greeting, thanks or goodbye, for which no model is asked; `None` for anything else."""
    question = Question(text, plain(text))
    intent = intent_of(question)
    return await ANSWERS[intent](talk, question) if intent in SMALL_TALK else None


def intent_of(question: Question, *, open_questions: bool = False) -> str:
    """The first row of the table that fits; `open_questions` says that we have asked and wait for an answer."""
    named: Mapping[str, Callable[[], bool]] = {
        "suspect": lambda: bool(question.modes) and _guesses(question),
        "restated": lambda: _describes(question, open_questions),
        "figure": lambda: figures.asks_for_value(question),
        "blame": lambda: bool(question.levers) and _guesses(question),
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
    return open_questions and len(words) >= 4 and not figures.asks_for_value(question)


ANSWERS: Mapping[str, Answer] = {
    "bye": smalltalk.bye,
    "thanks": smalltalk.thanks,
    "hello": smalltalk.hello,
    "unclear": smalltalk.unclear,
    "again": anew.again,
    "restated": anew.restated,
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
    "when": onset.when,
    "figure": figures.figure,
}
