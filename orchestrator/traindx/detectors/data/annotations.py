"""Labels that a detection or segmentation run did not find, as its log says."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

import numpy as np

from traindx.contract import Citation, Fact, Signal
from traindx.detectors.citing import cite, cite_line
from traindx.detectors.curves.objective import words_of
from traindx.readers.model import Excerpt, Series
from traindx.readers.quoting import quote_of

SIGNALS = {
    "annotations-missing": "the log says that no labels were found for the training images",
    "evaluated-without-labels": "the evaluation counts no label in its images, and its scores are zero",
    "score-zero-for-good": "the detection score is exactly zero at every one of many evaluations",
}

MOST_LINES = 3_000
MOST_LINES_CITED = 3
FEWEST = 8
"""evaluations before a score of zero is more than a slow start"""
_TEXTS = (
    re.compile(r"\bno labels? found\b|\blabels? (?:are )?missing or empty\b|\bno labels in \S+", re.IGNORECASE),
    re.compile(r"\b0 images?, (?P<images>[1-9]\d*) backgrounds?\b"),
    re.compile(r"(?P<images>[1-9]\d*) missing, (?P<found>0) found\b|\b(?P<none>0) found, (?P<all>[1-9]\d*) missing\b"),
    re.compile(r"\bRemoved [1-9]\d* images with no usable annotations\. 0 images left\b"),
    re.compile(r"\b(?:loaded|found|read) 0 (?:annotations?|instances?|objects?|boxes|masks?|labels?)\b", re.IGNORECASE),
    re.compile(r"\bnum(?:ber of|_)?[_ ]?(?:annotations|instances|boxes|labels) ?[:=] ?0\b(?!\s*[,.\d])", re.IGNORECASE),
)
_EVALUATED = re.compile(r"^\s*all\s{1,40}(?P<images>[1-9]\d{0,8})\s{1,40}0(?:\s{1,40}0(?:\.0+)?){3,8}\s*$")
"""the row of a table of classes, images, labels and scores"""
_VALIDATION = re.compile(r"\bval(?:id(?:ation)?)?\b[: ]|\btest\b[: ]", re.IGNORECASE)
_COUNTS = {"instances", "labels", "boxes", "annotations", "objects", "targets", "gts", "masks"}
_OF_IMAGES = {"loss", "acc", "accuracy", "images", "background", "backgrounds", "ignored", "missing"}
_DETECTION = {"map", "ap", "miou"}


def detect(heads: Iterable[Excerpt], series: Sequence[Series]) -> list[Signal]:
    """Lines that tell of missing labels, and a score that never leaves zero."""
    lines = list(heads)
    return [*_told(lines), *_evaluated(lines), *_counted(series), *_zero(series)][:2]


def _counted(series: Sequence[Series]) -> list[Signal]:
    """A count of labels that is logged beside the images, and is zero every time."""
    rows = [row for row in series if words_of(row) & _COUNTS and not words_of(row) & _OF_IMAGES and len(row) >= FEWEST]
    if not rows or any(np.nanmax(np.abs(row.values)) > 0 for row in rows):
        return []
    row = max(rows, key=len)
    claim = f"`{row.original}` is 0 at every one of {len(row)} points: no label reaches the loss"
    place = cite(row, len(row) - 1, claim)
    facts: dict[str, Fact] = {"annotations_line": place.quote[:160]} if place.quote else {}
    return [Signal(id="annotations-missing", claim=claim, citations=[place], facts=facts)]


def _told(heads: Iterable[Excerpt]) -> list[Signal]:
    for head in heads:
        # A loader counts what it found, and then warns: each way of saying it once.
        said: dict[re.Pattern[str], Citation] = {}
        for number, line in head.numbered():
            text = line[-600:]
            wanted = next((one for one in _TEXTS if one not in said and one.search(text)), None)
            if wanted is not None:
                claim = "no labels were found for the images" + (" of validation" if _VALIDATION.search(text) else "")
                said[wanted] = cite_line(head.source, number, claim, quote_of(line))
        if said:
            places = list(said.values())
            facts: dict[str, Fact] = {"annotations_line": places[0].quote[:160]}
            claim = f"{places[0].claim}: {places[0].quote[:160]}"
            return [Signal(id="annotations-missing", claim=claim, citations=places[:MOST_LINES_CITED], facts=facts)]
    return []


def _evaluated(heads: Iterable[Excerpt]) -> list[Signal]:
    """Tables of scores in which no image of the evaluation has a label, and no table that counts some."""
    for head in heads:
        rows = [(number, line) for number, line in head.numbered() if re.match(r"\s*all\s+\d", line)]
        if rows and all(_EVALUATED.match(line) for _, line in rows):
            number, line = rows[-1]
            claim = f"the evaluation counts 0 labels in its images: {quote_of(line)[:160]}"
            facts: dict[str, Fact] = {"annotations_line": " ".join(line.split())[:160]}
            place = cite_line(head.source, number, claim, quote_of(line))
            return [Signal(id="evaluated-without-labels", claim=claim, citations=[place], facts=facts)]
    return []


def _zero(series: Sequence[Series]) -> list[Signal]:
    rows = [row for row in series if words_of(row) & _DETECTION and len(row) >= FEWEST]
    if not rows or any(np.nanmax(row.values) > 0 for row in rows):
        return []
    row = max(rows, key=len)
    claim = f"`{row.original}` is exactly 0 at every one of {len(row)} evaluations"
    place = cite(row, len(row) - 1, claim)
    return [Signal(id="score-zero-for-good", claim=claim, citations=[place])]
