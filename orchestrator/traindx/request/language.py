"""Whether a message is English: only then does the absence of words of the trade mean anything."""

from __future__ import annotations

import re

from traindx.request.words import words

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
_WORDS = re.compile(r"[^\W\d_]+(?:'[^\W\d_]+)?")


def is_english(text: str) -> bool:
    """More of its small words are English than anything else, and its letters are Latin."""
    said = [word.lower() for word in _WORDS.findall(text[:4000])]
    foreign_letters = sum(1 for word in said for letter in word if letter > "\u024f")
    if not said or foreign_letters > 2:
        return False
    english = sum(1 for word in said if word in _ENGLISH)
    other = sum(1 for word in said if word in _OTHER and word not in _SHARED)
    return english > other
