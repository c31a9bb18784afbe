"""What a message speaks for: phrases found in it, each weighed by whether it was seen, guessed or denied."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice

from traindx.pipeline.request.clauses import Clause
from traindx.pipeline.request.lexicon import PHRASES, Phrase
from traindx.vocabulary.shorthand import AFTER, WITHIN

# A symptom asked about ("is it overfitting?") says what to look at; a theory ("corrupt batch?") hardly does.
GUESSED_SYMPTOM, GUESSED_CAUSE, STATED_CAUSE = 0.5, 0.2, 0.5
_MATCHES_PER_PHRASE = 20

# `can't load the checkpoint` reports a failure; `isn't a crash` and `no NaN` deny one. After `not`, only words that
# lead up to the thing denied may stand before it; after `no`, adjectives may.
_DENIED_BEFORE = re.compile(
    r"(?:(?:\b(?:not(?! (?:only|sure|just))|never|doesnt|dont|isnt|didnt|wasnt|arent|nicht|pas)"
    r"|(?<!ca)(?<!wo)(?<!could)n't)"
    r"(?: (?:a|an|the|any|really|even|actually|due|to|because|of|caused|by|see|seeing|get|getting|have|having|been"
    r"|be|about|run|running|into|go|goes|become|becomes|it's|seem|like|look|my|being)){0,4}"
    r"|\b(?:no(?! (?:idea|clue|longer|matter|luck|one))|without|none|nothing(?! but)|neither|nor|zero|kein\w*|sin"
    r"|sans|aucun\w*|rul\w* out|instead of|rather than|excluded?|unlike|used to|fixed)"
    r"(?: (?!and\b|but\b|so\b|then\b|because\b|as\b|if\b|when\b|until\b|just\b)[\w'/-]{1,20}){0,3}"
    r"|\u6ca1\u6709|\u4e0d\u662f) ?[\"'(]?$"
)
_DENIED_AFTER = re.compile(
    r"^[\"')]{0,2} ?(?:usage |use |norms? |values? )?(?:is|are|was|were|look\w*|seem\w*|stay\w*|remain\w*)"
    r"(?: all| also| both| now)? (?:fine|ok|okay|good|stable|gone|solved|fixed|ruled out|normal|under control"
    r"|not (?:the|a|my|an) (?:problem|issue|cause))"
)


@dataclass(frozen=True)
class PhraseMatch:
    """A phrase that was found, with the sentence it stood in; `weight` scales what it speaks for."""

    phrase: Phrase
    weight: float
    sentence: str
    words: str

    @property
    def observed(self) -> bool:
        """The author reports it, rather than guessing at it."""
        return self.weight >= 1.0


def match_phrases(parts: Sequence[tuple[Clause, ...]]) -> tuple[PhraseMatch, ...]:
    """Every phrase of the lexicon, once each, in its most certain use; what is denied is left out."""
    if not parts:
        return ()
    message = _Message(parts)
    return tuple(found for phrase in PHRASES if (found := message.find(phrase)) is not None)


def tally(matches: Sequence[PhraseMatch]) -> dict[str, float]:
    """Points by kind: the strongest phrase in full, each further one for half as much as the one before."""
    votes: dict[str, list[float]] = {}
    for item in matches:
        for kind, weight in item.phrase.kinds.items():
            votes.setdefault(kind, []).append(weight * item.weight)
    return {
        kind: sum(vote * 0.5**place for place, vote in enumerate(sorted(found, reverse=True)))
        for kind, found in votes.items()
    }


class _Message:
    def __init__(self, parts: Sequence[tuple[Clause, ...]]) -> None:
        self.clauses: list[Clause] = []
        self.starts: list[int] = []
        self.sentence_of: list[str] = []
        pieces: list[str] = []
        position = 0
        for sentence in parts:
            wording = ", ".join(clause.text for clause in sentence)
            for index, clause in enumerate(sentence):
                self.clauses.append(clause)
                self.starts.append(position)
                self.sentence_of.append(wording)
                pieces.append(clause.plain + (WITHIN if index + 1 < len(sentence) else AFTER))
                position += len(pieces[-1])
        self.text = "".join(pieces)

    def find(self, phrase: Phrase) -> PhraseMatch | None:
        best: PhraseMatch | None = None
        for match in islice(phrase.pattern.finditer(self.text), _MATCHES_PER_PHRASE):
            index = max(bisect_right(self.starts, match.start()) - 1, 0)
            weight = self._weight(phrase, match, index)
            if weight > (best.weight if best else 0.0):
                best = PhraseMatch(phrase, weight, self.sentence_of[index], match[0].strip())
        return best

    def _weight(self, phrase: Phrase, match: re.Match[str], index: int) -> float:
        clause, start = self.clauses[index], self.starts[index]
        begin, end = match.start() - start, match.end() - start
        if _DENIED_BEFORE.search(clause.plain[max(0, begin - 80) : begin]):
            return 0.0
        if _DENIED_AFTER.match(clause.plain[end : end + 60]):
            return 0.0
        if phrase.asks:
            return 1.0
        guessed = clause.guess_from is not None and end > clause.guess_from
        if phrase.cause:
            return GUESSED_CAUSE if guessed or clause.question else STATED_CAUSE
        return GUESSED_SYMPTOM if guessed else 1.0
