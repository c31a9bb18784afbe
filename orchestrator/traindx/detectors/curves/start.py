"""The first value against what a network that knows nothing would score."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from traindx.contract import Fact, Signal
from traindx.detectors.citing import cite, cite_setting
from traindx.detectors.curves.objective import Objective
from traindx.readers.code.codeunit import CodeUnit
from traindx.readers.model import Setting

SIGNALS = {"loss-starts-far-above-chance": "the first loss is far above ln K for the number of classes"}

# No vocabulary in use is larger: a cross-entropy above its logarithm is above chance whatever the number of classes.
LARGEST_VOCABULARY = 300_000


def detect(goal: Objective, classes: Setting | None, code: Sequence[CodeUnit]) -> list[Signal]:
    """A start far above chance, where the number of classes is known or no number could explain it."""
    loss, first = goal.series, float(goal.costs[0]) if len(goal) else math.nan
    if goal.rewarded or not math.isfinite(first) or not goal.shape.enough or loss.at[0] > 0.02 * loss.at[-1] + 1:
        return []
    if classes is None and not _is_cross_entropy(code):
        return []
    count = float(classes.value) if classes is not None else LARGEST_VOCABULARY
    expected = math.log(count)
    if first < (1.5 * expected + 0.5 if classes is not None else 1.2 * expected):
        return []
    counted = f"ln {count:g}" if classes is not None else f"at most ln {LARGEST_VOCABULARY}"
    claim = f"`{loss.original}` starts at {first:.4g}, where random guessing costs {counted} = {expected:.4g}"
    facts: dict[str, Fact] = {"loss_start": first, "expected_start": expected}
    places = [cite(loss, 0, claim)]
    if classes is not None:
        facts["classes"] = classes.value
        places.append(cite_setting(classes, f"the number of classes: {classes.value}"))
    strength = float(np.clip((first / expected - 1) / 2, 0.2, 1.0))
    return [Signal(id="loss-starts-far-above-chance", claim=claim, strength=strength, citations=places, facts=facts)]


def _is_cross_entropy(code: Sequence[CodeUnit]) -> bool:
    return any("cross-entropy" in unit.traits for unit in code)
