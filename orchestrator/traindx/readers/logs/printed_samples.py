"""Samples that stand inside a log: what a model generated, between headings, after a label, beside its reference."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace

LONGEST = 4_000
MOST_SAMPLES = 400
_HEADING = re.compile(
    r"^[^\w\n]{0,12}(?:(?:step|epoch|iter(?:ation)?)?\s*[\d:. ]{0,12})?(?:begin |start )?"
    r"(?:generated?(?: text| samples?| output)?|samples?(?: \d+)?(?: at \w+ \d+)?|completions?|decoded|"
    r"model output|generation)\b[^\n]{0,40}?[^\w\n]{2,12}$",
    re.IGNORECASE,
)
_RULE = re.compile(r"^\s*[-=*#~_]{3,}\s*$")
_LABELLED = re.compile(
    r"^.{0,80}?\b(?:generated(?: text)?|generation|sample(?: \d+)?|completion|prediction|predicted|pred|hyp|hypothesis"
    r"|decoded|translation)\s*(?:\(\d+\))?\s*(?::|=>|->|=)\s*(?P<text>\S.*)$",
    re.IGNORECASE,
)
_REFERENCE = re.compile(
    r"^.{0,80}?\b(?:reference|ref|target|gold|truth|ground truth|expected|label|tgt|gt)\s*(?:\(\d+\))?\s*(?::|=>|->|=)"
    r"\s*(?P<text>\S.*)$",
    re.IGNORECASE,
)
_ARROW = re.compile(
    r"^.{0,60}?(?:prompt|input|src|source|in|q)\s*[:=]\s*(?P<given>.{1,300}?)\s*(?:->|=>|\||\u2192)\s*(?P<text>\S.*)$",
    re.IGNORECASE,
)
_METRICS = re.compile(r"\b(?:loss|lr|acc(?:uracy)?|ppl|epoch|step|f1|auc|mse|mae)\b\s*[:=]?\s*[\d.]+", re.IGNORECASE)


@dataclass(frozen=True)
class PrintedSample:
    """A text that a model put out, where it stands, and the reference printed beside it."""

    line: int
    text: str
    reference: str = ""
    given: str = ""
    """the input it answers, where that stands in the same line"""


def printed_samples(numbered: Iterable[tuple[int, str]]) -> list[PrintedSample]:
    """The samples of a stretch of a log, in their order; the last ones where there are very many."""
    found: list[PrintedSample] = []
    open_since, inside = 0, list[str]()
    reference = ""
    for number, raw in numbered:
        line = raw.rstrip()[:LONGEST]
        if open_since and (_RULE.match(line) or _HEADING.match(line) or _METRICS.search(line) or len(inside) > 60):
            _close(found, open_since, inside)
            open_since = number if _HEADING.match(line) else 0
            inside = []
            continue
        if open_since:
            inside.append(line)
            continue
        if _HEADING.match(line):
            open_since, inside = number, []
            continue
        wanted = _REFERENCE.match(line)
        if wanted and not _METRICS.search(line):
            reference = wanted["text"]
            if found and not found[-1].reference and found[-1].line >= number - 2:
                found[-1] = replace(found[-1], reference=reference)
                reference = ""
            continue
        said = _ARROW.match(line) or _LABELLED.match(line)
        if said and not _METRICS.search(line) and not _is_number(said["text"]):
            given = said.groupdict().get("given") or ""
            found.append(PrintedSample(number, said["text"].strip(), reference, given))
            reference = ""
    if open_since:
        _close(found, open_since, inside)
    return found[-MOST_SAMPLES:]


def _close(found: list[PrintedSample], since: int, inside: list[str]) -> None:
    """Take in what stood under a heading; the sample is cited by its first line."""
    first = next((place for place, line in enumerate(inside, since + 1) if line.strip()), 0)
    text = "\n".join(inside).strip()
    if first and text:
        found.append(PrintedSample(first, text[:LONGEST]))


def _is_number(text: str) -> bool:
    return re.fullmatch(r"[-+\d.,eE%()\[\]/ ]+", text.strip()) is not None
