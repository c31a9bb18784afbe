"""A loss without labels behind it: zero or NaN from the first step on, with no gradient."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

import numpy as np

from traindx.contract import Fact, Signal
from traindx.detectors.citing import cite, cite_line
from traindx.detectors.curves.objective import Objective, words_of
from traindx.readers.model import Excerpt, Series
from traindx.readers.quoting import quote_of

SIGNALS = {
    "loss-without-labels": "the loss is zero from the first step on, and so is the gradient",
    "labels-masked-in-log": "the log says that labels of whole samples are left out of the loss",
}

FEWEST = 3
MOST_LINES = 4_000
OFTEN = 3
_TEXTS = (
    re.compile(r"could not find (?:the )?(?:response|instruction) key", re.IGNORECASE),
    re.compile(r"this instance will be ignored in loss calculation", re.IGNORECASE),
    re.compile(r"all labels (?:in (?:your|the) dataset )?are -100", re.IGNORECASE),
    re.compile(
        r"\b(?:100(?:\.0+)?\s?%|all) (?:of )?(?:the )?(?:labels?|tokens?|targets?) (?:are |were )?(?:masked|ignored)\b",
        re.IGNORECASE,
    ),
    re.compile(
        r"\b(?:supervised|label|target|trainable|unmasked|loss)[ _]tokens?\s*[:=]\s*0\b(?![.\d])", re.IGNORECASE
    ),
)
_REWARDED = {"reward", "rewards", "advantage", "advantages", "kl"}


def in_curves(goal: Objective | None, series: Sequence[Series]) -> list[Signal]:
    """A loss and a gradient norm that are both zero from the start; a policy's loss may be zero with a gradient."""
    if goal is None and not any(row.name == "train/loss" for row in series):
        return []
    loss = next((row for row in series if row.name == "train/loss" and len(row) >= FEWEST), None)
    norm = next((row for row in series if row.name == "grad_norm" and len(row) >= FEWEST), None)
    if loss is None or any(words_of(row) & _REWARDED for row in series):
        return []
    # An overflow in half precision gives NaN from the first step on as well: only zeros tell.
    if norm is None or not (loss.values == 0).all() or not (norm.values == 0).all():
        return []
    claim = (
        f"`{loss.original}` is {loss.values[0]:g} and `{norm.original}` {norm.values[0]:g}"
        " from the first point to the last"
    )
    places = [cite(loss, 0, claim), cite(norm, 0, "no gradient from the start")]
    return [Signal(id="loss-without-labels", claim=claim, citations=places)]


def never_measured(series: Sequence[Series]) -> bool:
    """Whether the training loss is zero or no number at every point."""
    loss = next((row for row in series if row.name == "train/loss" and len(row) >= FEWEST), None)
    return loss is not None and bool(((loss.values == 0) | ~np.isfinite(loss.values)).all())


def in_logs(heads: Iterable[Excerpt], *, lost: bool = False) -> list[Signal]:
    """Lines that say that samples have no label left: several, or one where the loss was never a number (`lost`)."""
    for head in heads:
        hits = [(number, line) for number, line in head.numbered() if any(text.search(line[:2_000]) for text in _TEXTS)]
        whole = [hit for hit in hits if any(text.search(hit[1][:2_000]) for text in _TEXTS[2:])]
        if len(hits) >= OFTEN or whole or (hits and lost):
            number, line = (whole or hits)[0]
            claim = f"the log says {len(hits)} times that samples have no label left: {quote_of(line)[:120]}"
            facts: dict[str, Fact] = {"masked_lines": len(hits)}
            return [
                Signal(
                    id="labels-masked-in-log",
                    claim=claim,
                    citations=[cite_line(head.source, number, claim, quote_of(line))],
                    facts=facts,
                )
            ]
    return []
