"""Saying each thing once: a specialist's section without what the report has said above it."""

from __future__ import annotations

import re
from collections.abc import Iterator

from traindx.contract import Diagnosis

_ITEM = re.compile(r"\s*(?:[-*+]|\d{1,3}[.)])\s")
_NOTHING = re.compile(r"[\W\d_]*")
_LEAD_IN = re.compile(r".*:\s*", re.DOTALL)


def unsaid(text: str, diagnosis: Diagnosis) -> str:
    """The lines that add something to the summary, the causes, the questions and what was set aside."""
    known = sorted(set(_said(diagnosis)), key=len, reverse=True)
    rows = [line for line in text.splitlines() if not _repeats(line, known)]
    return "\n".join(line for at, line in enumerate(rows) if not _introduces_nothing(rows, at)).strip()


def _said(diagnosis: Diagnosis) -> Iterator[str]:
    yield from (diagnosis.summary, *diagnosis.reasons, *diagnosis.excluded, *diagnosis.questions, *diagnosis.missing)
    for cause in diagnosis.root_causes:
        yield cause.issue
    for cause in diagnosis.named:
        fix = cause.fix
        yield from (fix.summary, fix.expected, fix.verify, fix.fallback)
        yield from (piece.claim for piece in cause.evidence)


def _repeats(line: str, known: list[str]) -> bool:
    rest = line
    for sentence in known:
        if sentence:
            rest = rest.replace(sentence, " ").replace(sentence.rstrip("."), " ")
    return rest != line and bool(_NOTHING.fullmatch(rest) or _LEAD_IN.fullmatch(_ITEM.sub("", rest.strip(), count=1)))


def _introduces_nothing(rows: list[str], at: int) -> bool:
    """Whether a line promises a list (`Considered and set aside:`) of which nothing is left."""
    line = rows[at].strip()
    if not line.endswith(":") or _ITEM.match(line):
        return False
    return at + 1 == len(rows) or not rows[at + 1].strip()
