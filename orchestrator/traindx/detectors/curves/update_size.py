"""The size of the updates: next to nothing beside the weights, or clipped away."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from traindx.contract import Citation, Fact, Signal
from traindx.detectors.citing import cite, cite_setting
from traindx.detectors.curves.objective import words_of
from traindx.detectors.curves.series import level
from traindx.readers.model import Series, Setting

SIGNALS = {
    "updates-tiny": "each step changes the weights by a negligible fraction of their size",
    "updates-clipped-away": "the gradient norm is far above the clipping threshold nearly all the time",
    "updates-rarely-clipped": "the gradient norm stays below the clipping threshold most of the time",
}

# Clipping half of all updates is called extremely aggressive in the literature.
MOSTLY = 0.5
FEWEST = 5
STILL = 1e-5
AFTER_CLIPPING = {"g", "gn", "grad", "grads", "gnorm", "gradnorm", "norm", "gradient"}


def beside_the_weights(series: Sequence[Series]) -> list[Signal]:
    """A logged ratio of update to weight: a thousandth is healthy, below a hundred-thousandth nothing moves.

    A rate that is too low holds back every layer: of several ratios the largest is judged.
    """
    ratios = [(level(row), row) for row in series if len(row) >= FEWEST and _is_ratio(row)]
    usual, row = max(((size, row) for size, row in ratios if size > 0), key=lambda pair: pair[0], default=(0.0, None))
    if row is None or usual >= STILL:
        return []
    claim = f"`{row.original}` is {usual:.2g}: each step changes the weights by that fraction of their size"
    place = cite(row, len(row) // 2, claim)
    return [Signal(id="updates-tiny", claim=claim, citations=[place], facts={"update_ratio": usual})]


def _is_ratio(row: Series) -> bool:
    words = words_of(row)
    return bool(words & {"upd", "update", "updates", "uw"}) and bool(words & {"ratio", "rel", "weight", "uw"})


def at_the_threshold(series: Sequence[Series], limit: Setting | None) -> list[Signal]:
    """A norm that is the clipping threshold itself, step after step: it was measured after clipping."""
    if limit is None:
        return []
    threshold = float(limit.value)
    for row in series:
        finite = row.values[np.isfinite(row.values)]
        if len(finite) < FEWEST or not words_of(row) & AFTER_CLIPPING or words_of(row) & {"clip", "range", "max"}:
            continue
        if float(np.mean(np.abs(finite - threshold) < 0.01 * threshold)) >= 0.9:
            claim = f"`{row.original}` is {threshold:g} nearly all the time: every update is clipped to the threshold"
            places = [cite(row, len(row) // 2, claim), cite_setting(limit, "the threshold")]
            return [Signal(id="updates-clipped-away", claim=claim, citations=places, facts={"clip": threshold})]
    return []


def clipped(norms: Series, limit: Setting | None) -> list[Signal]:
    """How the logged norm (frameworks log it before clipping) compares with the configured threshold."""
    finite = norms.values[np.isfinite(norms.values)]
    if limit is None or len(finite) < FEWEST:
        return []
    threshold = float(limit.value)
    share, ratio = float(np.mean(finite > threshold)), float(np.median(finite)) / threshold
    facts: dict[str, Fact] = {
        "clip": threshold,
        "clip_key": limit.key,
        "clip_place": f"{limit.source}:{limit.line}",
        "clip_ratio": ratio,
        "clip_share": share,
        "clip_proposed": float(f"{np.percentile(finite, 90):.2g}"),
    }
    if share <= MOSTLY:
        claim = f"only {share:.0%} of the logged gradient norms exceed the clipping threshold {threshold:g}"
        return [
            Signal(id="updates-rarely-clipped", claim=claim, citations=[_cite_norm(norms, len(norms) - 1)], facts=facts)
        ]
    claim = f"{share:.0%} of the logged gradient norms exceed `{limit.key}` = {threshold:g}, typically {ratio:.3g}-fold"
    # A norm of twice the threshold is how many recipes run; a hundred times leaves nothing of the gradient's scale.
    strength = float(np.clip(np.log10(max(ratio, 1.0)) / 2, 0.0, 1.0))
    place = cite_setting(limit, f"the threshold that clips nearly every update: {threshold:g}")
    places = [place, _cite_norm(norms, len(norms) // 2)]
    return [Signal(id="updates-clipped-away", claim=claim, strength=strength, citations=places, facts=facts)]


def _cite_norm(norms: Series, index: int) -> Citation:
    return cite(norms, index, f"the gradient norm is {norms.values[index]:.3g}")
