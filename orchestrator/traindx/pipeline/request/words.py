"""Typing mistakes in the words that matter: one wrong, missing, doubled or swapped letter is forgiven."""

from __future__ import annotations

import re
from collections.abc import Iterator


def words(text: str) -> frozenset[str]:
    """The words of `text`."""
    return frozenset(text.split())


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


_ENGLISH = words(
    """
    a about an and are be but can could do does for get give have how i if in is it make me my of on or
    please should tell that the this to want was what when where which who why will with would you your
    """
)
_OTHER = words(
    """
    ab aber al als auch auf bei bonjour c'est che ciao com con dans das del della dem den depuis der des
    desde di die du ein eine el elle en es est esta está et hallo hola ich il ist je kein la las le les los
    ma mais mein meine meu mi mit mon nach ne nicht no non não o oder os par para pas per perché pero por
    porque pourquoi que qui qué se seit sich sin sind sono su sur uma un una und une von warum wie wird y zu
    """
)
_SHARED = words("a as des die du en in me no o on par sin un")
_A_WORD = re.compile(r"[^\W\d_]+(?:'[^\W\d_]+)?")


def is_english(text: str) -> bool:
    """More of its small words are English than anything else, and its letters are Latin."""
    said = [word.lower() for word in _A_WORD.findall(text[:4000])]
    foreign_letters = sum(1 for word in said for letter in word if letter > "\u024f")
    if not said or foreign_letters > 2:
        return False
    english = sum(1 for word in said if word in _ENGLISH)
    other = sum(1 for word in said if word in _OTHER and word not in _SHARED)
    return english > other
