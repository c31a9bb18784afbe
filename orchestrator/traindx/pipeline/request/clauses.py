"""A message, cut into clauses, each read as an observation or as a guess."""

from __future__ import annotations

import re
from dataclasses import dataclass

from traindx.pipeline.request.words import corrected

READ_CHARS, READ_LINES = 8_000, 200
"""of each end: a pasted log has its question at the top or the bottom, and its error at the end"""


_LONG_WORD = re.compile(r"\w{60,}")
_BLANK = re.compile(r"[\s\x00-\x1f\x7f-\x9f]+")
_CONTROL = re.compile(r"[\x00-\x09\x0b-\x1f\x7f-\x9f]+")
_QUOTES = str.maketrans({"\u2019": "'", "\u2018": "'", "\u201c": '"', "\u201d": '"', "\u00b4": "'", "\u2026": "."})
_SENTENCE = re.compile(r"[^\n.!?;]*(?:\.(?=\S)[^\n.!?;]*)*[.!?;\u3002\uff1f\uff01]*")
_BREAK = re.compile(r",\s|\s(?:but|however|although|though|yet|whereas|while|because|\u2014|\u2013|-{1,2})\s", re.I)
_PRINTED = re.compile(
    r'^\s*(?:Traceback |File "|[\w.]{2,80}(?:Error|Exception|Warning)\b|\[\w|\d{4}-\d\d-\d\d|at [\w.]+\()'
)

_LEADING = r"^\W*(?:(?:so|and|or|then|hi|hey|hello|ok|okay|please|also|but|hmm?|well|just|now)\b\W*){0,3}"
_REQUEST = re.compile(
    _LEADING + r"(?:(?:can|could|would|will) (?:you|u|someone|somebody|anyone)|do you|any(?:one| ideas?| clue)|why|what"
    r"|how|where|which|when|who|should i|shall i|may i|can i|must i|do i)\b"
)
_POLAR = re.compile(
    _LEADING + r"(?:is|are|was|were|am|does|do|did|has|have|had|could|can|might|may|should|would|will|isn't|aren't"
    r"|doesn't|don't|didn't|wasn't)\s+(?!not\b)[\w-]+"
)
_INVERTED = re.compile(_LEADING + r"(?:is|are|was|does|did|has|could|might|should)\s+(?:my|the|this|that|it|i)\b")
_HEDGE = re.compile(
    r"\b(?:maybe|perhaps|prob(?:ably|ly)?|possibly|presumably|supposedly|likely|i (?:think|guess|suspect|assume|believe"
    r"|fear|bet|suppose)|(?:could|might|may|must|can) (?:it )?be|suspect|is it|wondering (?:if|whether)"
    r"|(?:not|un)\s?sure (?:if|whether)|my (?:guess|theory|hunch|bet|suspicion))\b"
)
_ASIDE = re.compile(
    r"^\W*(?:is|are|does|do|can|should|was)\b (?:this|that|it|these|everything|all|my|the)\b[^\n]{0,40}"
    r"\b(?:ok|okay|good|normal|fine|healthy|alright|all right|expected|bad|right|correct|broken|wrong|enough|a problem"
    r"|an issue)\W*$"
)
_TELLING_WORD = 6
"""letters from which a single questioned word is a suspicion: `Overfitting?`, not `loss?`"""
_DECLARES = re.compile(r"\b(?:is|are|was|were|keeps?|goes|went|gets?|got|not)\b|n't\b")
_BLAMES = re.compile(r"\b(?:too|wrong|bad|corrupt\w*|broken|missing)\b")


@dataclass(frozen=True)
class Clause:
    """A clause as written and as compared; words from `guess_from` on are conjecture."""

    text: str
    plain: str
    guess_from: int | None = None
    question: bool = False


def excerpt(message: str) -> str:
    """The part of a message that is read: all of it, or both ends of a very long one."""
    if len(message) <= 2 * READ_CHARS:
        return message
    return message[:READ_CHARS] + "\n" + message[-READ_CHARS:]


def plainly(text: str) -> str:
    """Lower case, straight quotes, single blanks, slips of the keyboard put right."""
    folded = _BLANK.sub(" ", text.translate(_QUOTES).lower())
    return corrected(_LONG_WORD.sub(lambda match: match[0][:59], folded))


def sentences(text: str) -> list[tuple[Clause, ...]]:
    """The sentences of `text`, each as its clauses; a line that a program printed stays whole."""
    lines = [line for line in _CONTROL.sub(" ", text).split("\n") if line.strip()]
    if len(lines) > 2 * READ_LINES:
        lines = lines[:READ_LINES] + lines[-READ_LINES:]
    found: list[tuple[Clause, ...]] = []
    for line in lines:
        parts = [line] if _PRINTED.match(line) else [match[0] for match in _SENTENCE.finditer(line)]
        found.extend(clauses for part in parts if (clauses := tuple(_clauses(part))))
    return found[:READ_LINES] + found[READ_LINES:][-READ_LINES:]


def _clauses(sentence: str) -> list[Clause]:
    if _PRINTED.match(sentence):
        return [Clause(sentence.strip(), plainly(sentence).strip())]
    asked = sentence.rstrip(" \t\"')").endswith(("?", "\uff1f"))
    texts = [part.strip() for part in _BREAK.split(sentence)]
    texts = [text for text in texts if text]
    return [_clause(text, asked and text is texts[-1]) for text in texts]


def _clause(text: str, asked: bool) -> Clause:
    plain = plainly(text).strip()
    hedge = _HEDGE.search(plain)
    if hedge and not _REQUEST.match(plain):
        return Clause(text, plain, hedge.start(), asked)
    if _REQUEST.match(plain):
        return Clause(text, plain)
    if _POLAR.match(plain):
        return Clause(text, plain, 0, asked) if asked or _INVERTED.match(plain) else Clause(text, plain)
    return Clause(text, plain, 0 if asked and _is_fragment(plain) else None, asked)


def _is_fragment(plain: str) -> bool:
    """`lr too low?` is a guess; `loss still 2.3 after 100 epochs?` and `it doesn't improve?` report something."""
    if _DECLARES.search(plain) and not _BLAMES.search(plain):
        return False
    return len(plain.split()) <= 6 and not any(letter.isdigit() for letter in plain)


def suspicion(clause: Clause) -> str:
    """What the author of the clause suspects, in their own words; empty where nothing is guessed."""
    if clause.guess_from is None or _ASIDE.search(clause.plain):
        return ""
    said = clause.text.strip(" \t?!.,;:-")[:200]
    return said if " " in said or len(said) >= _TELLING_WORD else ""
