"""The answer to what the user guesses at: whether it is the batch size, the rate, the data."""

from __future__ import annotations

from traindx.contract import ContextPackage, Diagnosis
from traindx.contract.request import Request
from traindx.pipeline.request.clauses import plainly
from traindx.vocabulary.tunables import TUNABLES, Tunable

MOST_PLACES = 2


def answered(diagnosis: Diagnosis, request: Request, context: ContextPackage) -> Diagnosis:
    """The diagnosis with its answer to the user's own question, where a guess was made and nobody has spoken to it."""
    guessed = next(filter(None, (_tunable(plainly(text)) for text in request.mentions.suspicions)), None)
    said = _answer(guessed, diagnosis, context) if guessed is not None and not diagnosis.answer else ""
    return diagnosis.model_copy(update={"answer": said}) if said else diagnosis


def _tunable(words: str) -> Tunable | None:
    """The one that is named first."""
    found = [(match.start(), one) for one in TUNABLES if (match := one.pattern.search(words))]
    return min(found, key=lambda row: row[0])[1] if found else None


def _answer(guessed: Tunable, diagnosis: Diagnosis, context: ContextPackage) -> str:
    first = next(iter(diagnosis.named), None)
    if first is None:
        stands = _stands(guessed, context)
        return f"Nothing that was found speaks against {guessed.name}{stands}." if diagnosis.status == "healthy" else ""
    if any(guessed.pattern.search(text) for text in (first.issue, first.id.replace("-", " "), first.fix.summary)):
        return f"Yes: {guessed.name} has to do with it."
    others = [cause for cause in diagnosis.named[1:] if guessed.pattern.search(cause.issue)]
    if others:
        return f"In part: {guessed.name} comes second, after `{first.name}`."
    return f"No: the evidence points to `{first.name}`, not to {guessed.name}{_stands(guessed, context)}."


def _stands(guessed: Tunable, context: ContextPackage) -> str:
    """Where the setting stands, in brackets."""
    rows = [row for row in context.settings if guessed.keys is not None and guessed.keys.search(row.key)]
    once = {(row.key, str(row.value)): row for row in reversed(rows)}
    shown = [f"`{row.key}` = {row.value}, {row.source}:{row.line}" for row in list(once.values())[::-1][:MOST_PLACES]]
    return f" ({'; '.join(shown)})" if shown else ""
