"""Which of several attempts a message speaks of: "the first attempt", "before I restarted it"."""

from __future__ import annotations

import re

_ORDINALS = {"first": 1, "1st": 1, "second": 2, "2nd": 2, "third": 3, "3rd": 3, "fourth": 4, "4th": 4}
_NOUN = r"(?:attempt|try|launch|start|run|seed|fold)"
_PLACED = re.compile(rf"\b({'|'.join(_ORDINALS)}) {_NOUN}\b")
_NUMBERED = re.compile(r"\b(?:attempt|try|launch|fold) (?:number |no\.? ?|#)?(\d{1,3})\b")
_EARLIER = re.compile(
    rf"\b(?:previous|earlier|prior) {_NOUN}\b"
    r"|\bbefore (?:(?:i|we) )?(?:the |a |my )?(?:re-?start|re-?launch|re-?ran|re-?run)"
)


_LAST = re.compile(rf"\b(?:last|latest|newest|final) {_NOUN}\b")


def speaks_of_an_attempt(message: str) -> bool:
    """Whether the message means one of several attempts, the last included."""
    text = message.casefold()
    return any(one.search(text) for one in (_PLACED, _NUMBERED, _EARLIER, _LAST))


def attempt_named(message: str, attempts: int) -> int | None:
    """The number, from 1, of the attempt that the message speaks of; None for the last one, or none in particular."""
    text = message.casefold()
    placed, numbered = _PLACED.search(text), _NUMBERED.search(text)
    wanted = attempts
    if placed:
        wanted = _ORDINALS[placed[1]]
    elif numbered:
        wanted = int(numbered[1])
    elif _EARLIER.search(text):
        wanted = attempts - 1
    return wanted if 1 <= wanted < attempts else None
