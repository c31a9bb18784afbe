"""Logged measures of how varied the outputs are."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from traindx.contract import Fact, Signal
from traindx.detectors.citing import cite, where
from traindx.detectors.curves.objective import words_of
from traindx.readers.model import Series

SIGNALS = {
    "outputs-collapsed": "the outputs are all the same, or nearly so",
    "outputs-varied": "the outputs are as varied at the end as before",
}

_DIVERSITY = {"distinct", "unique", "diversity", "variety", "modes", "coverage", "pairwise", "uniq"}
_SPREADS = {"embedding", "embeddings", "emb", "sample", "samples", "output", "outputs", "pred", "preds", "fake", "gen"}
# What is left of the early variety when the outputs have become one.
COLLAPSED = 0.1
FEWEST = 5


def measures(series: Sequence[Series]) -> list[Series]:
    """Counts of distinct outputs, distances between them, spreads of embeddings."""
    return [row for row in series if _is_variety(row) and np.isfinite(row.values).sum() >= FEWEST]


def _is_variety(row: Series) -> bool:
    words = words_of(row)
    return bool(words & _DIVERSITY) or ("std" in words and bool(words & _SPREADS))


def detect(row: Series, line: str) -> Signal | None:
    """Whether a measure of variety has fallen to nothing, or kept its level; `line` is the last it was read from."""
    values = np.where(np.isfinite(row.values), row.values, np.nan)
    quarter = max(1, len(values) // 4)
    top = int(np.nanargmax(values))
    late = values[-quarter:][np.isfinite(values[-quarter:])]
    if not len(late) or values[top] <= 0:
        return None
    peak, end, last = float(values[top]), float(np.median(late)), len(row) - 1
    whole = _whole(row, line)
    count = bool(words_of(row) & {"distinct", "unique", "modes", "uniq"}) and peak >= 2
    if end <= COLLAPSED * peak or (count and end <= 1) or (whole > 2 * max(end, 1) and end <= 1):
        fallen = np.flatnonzero(values > max(COLLAPSED * peak, 1.0 if count else 0.0))
        since = where(row, min(last, int(fallen[-1]) + 1))
        claim = f"`{row.original}` fell from {peak:.4g} to {end:.4g}; from {since} on the outputs repeat"
        facts: dict[str, Fact] = {
            "diversity_series": row.original,
            "diversity_start": peak,
            "diversity_end": end,
            "collapsed_at": since,
        }
        places = [cite(row, top, "varied outputs"), cite(row, last, "the outputs at the end")]
        return Signal(id="outputs-collapsed", claim=claim, citations=places, facts=facts)
    if end >= 0.5 * max(peak, whole) and (end >= 2 or not words_of(row) & {"modes", "distinct", "unique", "uniq"}):
        claim = f"`{row.original}` is {end:.4g} at the end, {peak:.4g} at its highest"
        return Signal(id="outputs-varied", claim=claim, citations=[cite(row, last, claim)])
    return None


def _whole(row: Series, line: str) -> float:
    """The number after the slash in `modes: 1/6`; zero where there is none."""
    found = re.search(re.escape(row.original) + r"\W{0,3}[\d.]+\s?/\s?(\d{1,9})\b", line)
    return float(found[1]) if found else 0.0
