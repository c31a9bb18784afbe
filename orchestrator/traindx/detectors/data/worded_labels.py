"""Labels against the words of the texts they stand beside: do words tell the label, and did they before?"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from math import log

from traindx.contract import Citation, Fact, Signal
from traindx.detectors.citing import cite_line
from traindx.detectors.data import alignment
from traindx.readers.tables.worded import Worded
from traindx.vocabulary.data_names import split_of

SIGNALS = {name: alignment.SIGNALS[name] for name in ("labels-misaligned", "labels-noisy-in-train")}
FEWEST_SHARED = 40
TELLS = 0.3
"""of the way from chance to certainty, from which words tell the label"""
SAYS_NOTHING = 0.06
"""of that way, up to which they do not"""
MOST_ROWS = 4_000
_WORD = re.compile(r"\w+")


@dataclass(frozen=True)
class _Told:
    """How far words tell the labels of a file, above chance: 0 for not at all, 1 for always."""

    rows: Worded
    share: float


def detect(files: Sequence[Worded]) -> list[Signal]:
    """Texts whose labels were another's before, and training labels that no word tells while words tell the others."""
    told = [_Told(rows, _told_by_words(rows)) for rows in files]
    for bad in [one for one in told if one.share <= SAYS_NOTHING]:
        for good in [one for one in told if one.share >= TELLS]:
            signal = _changed(bad, good) or _only_here(bad, good)
            if signal is not None:
                return [signal]
    return []


def _changed(bad: _Told, good: _Told) -> Signal | None:
    """The same texts in both files, with labels that agree no more than chance."""
    before = dict(zip(good.rows.texts, good.rows.labels, strict=True))
    rows = list(zip(bad.rows.texts, bad.rows.labels, strict=True))
    shared = [(place, text, label) for place, (text, label) in enumerate(rows) if text in before]
    if len(shared) < max(FEWEST_SHARED, 0.3 * len(bad.rows.texts)):
        return None
    agree = sum(before[text] == label for _, text, label in shared) / len(shared)
    place, text, label = next(((p, t, n) for p, t, n in shared if before[t] != n), shared[0])
    how = f"`{text[:60]}` is `{label}` here and `{before[text]}` there"
    claim = (
        f"{len(shared):,} texts of {bad.rows.path} are in {good.rows.path} as well,"
        f" and their labels agree in {agree:.0%}: {how}"
    )
    if agree > 0.8:
        return None
    facts: dict[str, Fact] = {"align_what": bad.rows.path, "align_how": how}
    there = good.rows.texts.index(text)
    places = [_cite(bad.rows, place, claim), _cite(good.rows, there, "the same text with its label")]
    return Signal(id="labels-misaligned", claim=claim, citations=places, facts=facts)


def _only_here(bad: _Told, good: _Told) -> Signal | None:
    """Training data whose labels no word tells, beside held-out data with the same classes whose labels words tell."""
    splits = split_of(bad.rows.path), split_of(good.rows.path)
    if splits != ("train", "val") or not set(good.rows.labels) <= set(bad.rows.labels):
        return None
    claim = f"words tell the label in {good.rows.path} and not in {bad.rows.path}"
    facts: dict[str, Fact] = {"align_what": bad.rows.path, "align_how": "mixed up, wholly or in part"}
    places = [_cite(bad.rows, 0, claim), _cite(good.rows, 0, "here they do")]
    return Signal(id="labels-noisy-in-train", claim=claim, citations=places, facts=facts)


def _told_by_words(rows: Worded) -> float:
    """How far a naive Bayes of the even rows predicts the labels of the odd ones, above the largest class."""
    pairs = list(zip(rows.texts, rows.labels, strict=True))[:MOST_ROWS]
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    classes: Counter[str] = Counter()
    for text, label in pairs[::2]:
        classes[label] += 1
        counts[label].update(set(_WORD.findall(text.lower())))
    held = pairs[1::2]
    right = sum(_likeliest(text, counts, classes) == label for text, label in held)
    chance = Counter(label for _, label in held).most_common(1)[0][1] / len(held)
    return (right / len(held) - chance) / max(0.05, 1 - chance)


def _likeliest(text: str, counts: dict[str, Counter[str]], classes: Counter[str]) -> str:
    words = set(_WORD.findall(text.lower()))
    total = sum(classes.values())

    def score(label: str) -> float:
        rows = classes[label]
        return log(rows / total) + sum(log((counts[label][word] + 0.5) / (rows + 1)) for word in words)

    return max(classes, key=score)


def _cite(rows: Worded, place: int, claim: str) -> Citation:
    if rows.lines:
        return cite_line(rows.path, rows.lines[place], claim)
    return Citation(claim=claim, source=rows.path, quote=rows.texts[place][:100])
