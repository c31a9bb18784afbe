"""Texts that go round in circles: the same token, the same few words, the same answer to everything."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from traindx.contract import Fact, Signal
from traindx.detectors.citing import cite_line
from traindx.detectors.outputs import variety
from traindx.readers.logs.printed_samples import PrintedSample
from traindx.readers.quoting import quote_of

SIGNALS = {name: variety.SIGNALS[name] for name in ("outputs-collapsed", "outputs-varied")}

_WORD = re.compile(r"\w+|[^\w\s]")
FEWEST = 4
"""samples from which they can be compared with each other"""
FEWEST_WORDS = 12
LOOPING = 0.3
"""share of different pairs of words below which a text goes round in circles; prose has more than 0.8"""
_LAST = 12
_SENTENCE = 40
"""characters from which a text that stands under a heading is a sample rather than a notice"""


@dataclass(frozen=True)
class Measured:
    """How varied some texts are."""

    texts: int
    distinct: int
    """different texts"""
    words: int
    pairs: float
    """share of pairs of words that are different, each text for itself"""
    top: str
    """the text that occurs most often"""
    times: int


def measured(texts: Sequence[str]) -> Measured:
    """Count texts, words and pairs of words."""
    counts = Counter(" ".join(text.split()) for text in texts)
    top, times = counts.most_common(1)[0] if counts else ("", 0)
    words = [_WORD.findall(text) for text in texts]
    pairs = [list(pairwise(row)) for row in words]
    total = sum(map(len, pairs))
    share = sum(len(set(row)) for row in pairs) / total if total else 1.0
    return Measured(len(texts), len(counts), sum(map(len, words)), share, top, times)


def in_log(source: str, samples: Sequence[PrintedSample]) -> list[Signal]:
    """The last samples of a log: early ones may repeat, and mostly do."""
    late = list(samples[-min(_LAST, max(FEWEST, len(samples) // 3)) :])
    if not late:
        return []
    texts, references = [row.text for row in late], [row.reference for row in late if row.reference]
    # The same words again and again may be a notice of the program; answers to different questions are not.
    answers = len({row.given or row.reference for row in late} - {""}) >= 2 or min(map(len, texts)) >= _SENTENCE
    told = judged(texts, references, compared=answers)
    if told is None:
        return []
    claim, collapsed = told
    worst = min(late, key=lambda row: measured([row.text]).pairs) if collapsed else late[-1]
    place = cite_line(source, worst.line, claim, quote_of(worst.text.split("\n")[0]))
    if not collapsed:
        return [Signal(id="outputs-varied", claim=claim, citations=[place])]
    facts: dict[str, Fact] = {"output_example": quote_of(worst.text.split("\n")[0])[:80], "output_where": source}
    return [Signal(id="outputs-collapsed", claim=claim, citations=[place], facts=facts)]


def judged(texts: Sequence[str], references: Sequence[str], *, compared: bool = True) -> tuple[str, bool] | None:
    """What is to be said of some texts, and whether they have collapsed; None where there is too little to judge."""
    found = measured(texts)
    norm = measured(references) if len(references) >= FEWEST else None
    looping = found.words >= FEWEST_WORDS * 2 and found.pairs < LOOPING
    if looping and not (norm is not None and norm.pairs < 2 * LOOPING):
        beside = f" ({norm.pairs:.0%} in the references)" if norm is not None else ""
        return f"the last samples go round in circles: {found.pairs:.0%} of their pairs of words differ{beside}", True
    same = compared and found.texts >= FEWEST and found.times >= 0.8 * found.texts and len(found.top) > 1
    usual = norm.times / norm.texts if norm is not None else 0.0
    if same and usual < 0.5:
        return f"{found.times} of the last {found.texts} outputs are the same: `{found.top[:60]}`", True
    if found.texts >= FEWEST and found.distinct >= 0.8 * found.texts and found.pairs > 0.6 and found.words > 40:
        return f"the last {found.texts} samples are all different, {found.pairs:.0%} of their pairs of words too", False
    return None
