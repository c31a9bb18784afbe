"""How often each class occurs, and whether an accuracy is no more than the share of the largest."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from traindx.contract import Citation, Fact, Signal
from traindx.detectors.citing import cite, cite_line
from traindx.detectors.curves.chance import is_accuracy
from traindx.detectors.data.labels import Labels
from traindx.readers.model import Excerpt, Series
from traindx.readers.quoting import quote_of

SIGNALS = {
    "class-frequencies-apart": "one class is many times as frequent as another",
    "accuracy-at-majority": "accuracy is the share of the largest class, and stays there",
}

MOST_LINES = 400
FEWEST = 100
"""samples from which frequencies mean something"""
MANY_TIMES = 9.0
"""largest over smallest class: 90 against 10 %"""
MOST_CLASSES = 200
_HEADING = re.compile(
    r"\b(?:class|label)e?s?[ _-]*(?:counts?|distribution|balance|frequenc\w+|histogram|samples|weights? from counts)\b"
    r"|\bper[- ]class (?:counts?|samples)\b|\b(?:counts?|samples) per class\b|\bCounter\(",
    re.IGNORECASE,
)
_PAIR = re.compile(r"['\"]?([\w -]{1,40}?)['\"]?\s*[:=]\s*(\d[\d,_]*)(?![\d.])")
_COUNT = re.compile(r"(?<![\w.:])\d[\d_]*(?![\w.:])")


def detect(labels: Sequence[Labels], heads: Iterable[Excerpt], series: Sequence[Series]) -> list[Signal]:
    """Frequencies that lie far apart, in the data or as the log prints them, and an accuracy that hides it."""
    for row in labels:
        if row.split != "val" and len(row.counts) >= 2 and row.rows >= FEWEST:
            told = {f"{label:g}": count for label, count in row.counts.items() if label >= 0}
            found = _apart(told, f"in {row.where}")
            if found is not None:
                claim, facts = found
                return _with_accuracy(claim, facts, row.cite(claim), series)
    for head in heads:
        for number, line in head.numbered():
            printed = _printed(line)
            found = _apart(printed, "as the log counts them") if printed else None
            if found is not None:
                claim, facts = found
                return _with_accuracy(claim, facts, cite_line(head.source, number, claim, quote_of(line)), series)
    return []


def _apart(counts: Mapping[str, int], where: str) -> tuple[str, dict[str, Fact]] | None:
    total = sum(counts.values())
    if not 2 <= len(counts) <= MOST_CLASSES or total < FEWEST:
        return None
    most, least = max(counts, key=counts.__getitem__), min(counts, key=counts.__getitem__)
    if counts[most] < MANY_TIMES * max(1, counts[least]):
        return None
    share = counts[most] / total
    claim = (
        f"class {most} has {counts[most]:,} of {total:,} samples ({share:.1%}) {where}, class {least} {counts[least]:,}"
    )
    facts: dict[str, Fact] = {
        "class_most": most,
        "class_least": least,
        "class_share": f"{share:.1%}",
        "class_ratio": round(counts[most] / max(1, counts[least]), 1),
    }
    return claim, facts | {"majority": share}


def _with_accuracy(claim: str, facts: dict[str, Fact], place: Citation, series: Sequence[Series]) -> list[Signal]:
    share = float(facts.pop("majority"))
    found = [Signal(id="class-frequencies-apart", claim=claim, citations=[place], facts=facts)]
    for row in series:
        values = row.values[np.isfinite(row.values)]
        late = values[len(values) // 2 :]
        if not is_accuracy(row.name) or row.phase == "train" or len(values) < 3:
            continue
        late = late / 100 if float(values.max()) > 1 else late
        # Validation data need not have the same frequencies to the last sample.
        if share >= 0.6 and float(np.abs(late - share).max()) <= 0.006:
            said = f"`{row.original}` stays at {late[-1]:.4g}, the share of the largest class ({share:.4g})"
            at = cite(row, len(row) - 1, said)
            found.append(Signal(id="accuracy-at-majority", claim=said, citations=[at]))
            break
    return found


def _printed(line: str) -> dict[str, int]:
    """The counts by class that a line of a log prints; nothing where it prints none."""
    heading = _HEADING.search(line) if len(line) < 2_000 else None
    if heading is None:
        return {}
    rest = line[heading.end() :]
    pairs = {name.strip(): int(count.replace(",", "").replace("_", "")) for name, count in _PAIR.findall(rest)}
    if len(pairs) >= 2:
        return pairs
    listed = rest.partition("[")[2].partition("]")[0]
    return {str(place): int(count) for place, count in enumerate(_COUNT.findall(listed))}
