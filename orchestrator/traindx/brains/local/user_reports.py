"""What a user has tried or seen and no artifact shows: it moves beliefs, and is never evidence."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass

from traindx.contract import Signal


@dataclass(frozen=True)
class UserReport:
    """A thing that people say, the signal it becomes, and how it is repeated to them."""

    signal: str
    what: str
    pattern: re.Pattern[str]


def _said(signal: str, what: str, pattern: str) -> UserReport:
    return UserReport(signal, what, re.compile(pattern, re.IGNORECASE))


_FULL = (
    r"(?:fp32|float32|f32|bf16|bfloat16|full precision|single precision|amp off"
    r"|without (?:amp|fp16|mixed precision|half))"
)
_FINE = (
    r"(?:works?|fine|ok(?:ay)?|good|trains?|converges?|goes (?:to|down)|learns?|stable|no nan"
    r"|l\u00e4uft|geht|funktioniert)"
)
HEARD = (
    _said(
        "said-fine-in-full-precision",
        "you say that it trains in full precision",
        rf"\b{_FULL}\b[^.!?\n]{{0,60}}\b{_FINE}\b(?!\s?\?)|\b{_FINE}\b[^.!?\n]{{0,30}}\b{_FULL}\b(?!\s?\?)",
    ),
    _said(
        "said-resumed",
        "you say that the run was resumed",
        r"\b(?:after|since|when|nach)\b[^.!?\n]{0,30}\b(?:resum\w+|restart\w*|preempt\w+|requeue\w*|continu\w+"
        r"|fortgesetzt\w*|neustart\w*)\b|\bresum(?:ed|ing)\b",
    ),
)
KINDS_HEARD = {"hang": ("said-hangs", "you say that the run hangs")}
"""kinds of trouble that are signals as soon as they are reported"""
VOCABULARY = {one.signal: one.what for one in HEARD} | dict(KINDS_HEARD.values())


def user_reports(message: str, kinds: Collection[str] = ()) -> list[Signal]:
    """The signals in what the user says; nobody can open them, so they carry no citation."""
    said = [Signal(id=one.signal, claim=one.what) for one in HEARD if one.pattern.search(message[:4000])]
    return said + [Signal(id=name, claim=what) for kind, (name, what) in KINDS_HEARD.items() if kind in kinds]
