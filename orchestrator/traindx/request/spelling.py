"""Typing mistakes in the words that matter: one wrong, missing, doubled or swapped letter is forgiven."""

from __future__ import annotations

import re
from collections.abc import Iterator

from traindx.request.words import words

_WORDS = words(
    """
    accuracy backward batches checkpoint collapse collapsed collapses converge converges converging crashed
    crashes crashing dataset decrease decreases decreasing detached diverge diverged divergence diverges
    diverging exploded explodes exploding gradient gradients improve improved improves improving increase
    increased increases increasing learned learning memory mismatch normal optimizer oscillate oscillates
    oscillating overfit overfits overfitting plateau plateaued training validation vanish vanished vanishing
    """
)
# English words one letter away from the list above.
_INNOCENT = words(
    """
    cashed clashed clashes clashing converse crushed crushes crushing detaches diverse diverted draining
    explored explores exploring leaned leaning learner learners memoir optimize straining trailing varnish
    yearning
    """
)
_WORD = re.compile(r"[a-z]{5,14}")


def _shortened(word: str) -> Iterator[str]:
    yield word
    for index in range(len(word)):
        yield word[:index] + word[index + 1 :]


def _index() -> dict[str, str]:
    known: dict[str, str] = {}
    for word in sorted(_WORDS):
        for form in _shortened(word):
            known.setdefault(form, word)
    return known


_NEAR = _index()


def _corrected(match: re.Match[str]) -> str:
    word = match[0]
    if word in _WORDS or word in _INNOCENT:
        return word
    return next((_NEAR[form] for form in _shortened(word) if form in _NEAR and form[:1] == word[:1]), word)


def corrected(text: str) -> str:
    """`text` (in lower case) with slips in the words of the trade put right."""
    return _WORD.sub(_corrected, text)
