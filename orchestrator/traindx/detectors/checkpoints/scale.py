"""The size of weights: matrices of one number, and layers far larger than the others like them."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from traindx.contract import Fact, Signal
from traindx.detectors.checkpoints.citing import cite_tensor
from traindx.readers.checkpoints import Checkpoint, Measure
from traindx.readers.checkpoints.model import is_buffer

SIGNALS = {
    "weights-constant": "weight matrices hold one and the same number after training: their units are copies",
    "weights-outlying": "the weights of a layer are far larger than those of the layers like it",
}
ENOUGH_STEPS = 20
FEWEST_PEERS = 4
OUTLYING = 30.0
"""times the middle of its peers"""
LARGE = 3.0
"""a weight of a trained matrix is usually 0.01 to 1"""
FEWEST = 16
_ON_PURPOSE = re.compile(
    r"lora|adapter|mask|zero_conv|zero_module|prefix|prompt|position|token_type|gate|gamma|alpha", re.I
)
_NUMBER = re.compile(r"\d+")


def detect(checkpoint: Checkpoint, measures: Sequence[Measure], steps: int | None) -> list[Signal]:
    """Constant matrices of a trained model; layers that outgrew their peers."""
    matrices = [
        one
        for one in measures
        if one.tensor.part == "model"
        and len(one.tensor.shape) > 1
        and one.looked >= FEWEST
        and not is_buffer(one.tensor)
    ]
    return [*_constant(checkpoint, matrices, steps), *_outlying(checkpoint, matrices)]


def _constant(checkpoint: Checkpoint, matrices: Sequence[Measure], steps: int | None) -> list[Signal]:
    same = [one for one in matrices if one.constant and not _ON_PURPOSE.search(one.tensor.name)]
    if not same or steps is None or steps < ENOUGH_STEPS:
        return []
    shown = same[0]
    claim = f"`{shown.tensor.name}` holds {shown.highest:g} in all its {shown.looked:,} values after {steps:,} steps"
    facts: dict[str, Fact] = {"constant_tensor": shown.tensor.name, "constant_value": shown.highest}
    places = [
        cite_tensor(checkpoint, one.tensor, f"`{one.tensor.name}` is {one.highest:g} throughout") for one in same[:3]
    ]
    strength = 1.0 if len(same) > 1 or len(matrices) < 4 else 0.6
    return [Signal(id="weights-constant", claim=claim, strength=strength, citations=places, facts=facts)]


def _outlying(checkpoint: Checkpoint, matrices: Sequence[Measure]) -> list[Signal]:
    """Peers have the same name but for their numbers, and the same shape."""
    families: dict[tuple[str, tuple[int, ...]], list[Measure]] = {}
    for one in matrices:
        families.setdefault((_NUMBER.sub("#", one.tensor.name), one.tensor.shape), []).append(one)
    found: list[tuple[float, Measure]] = []
    for peers in families.values():
        sizes = np.array([one.rms for one in peers])
        if len(peers) < FEWEST_PEERS or not np.isfinite(sizes).all():
            continue
        middle = float(np.median(sizes))
        found += [(one.rms / middle, one) for one in peers if middle > 0 and one.rms > max(LARGE, OUTLYING * middle)]
    if not found:
        return []
    times, shown = max(found, key=lambda one: one[0])
    claim = (
        f"the weights of `{shown.tensor.name}` are {shown.rms:.3g} in size, {times:.0f} times the median of their peers"
    )
    facts: dict[str, Fact] = {"outlying_tensor": shown.tensor.name, "outlying_times": round(times)}
    place = cite_tensor(checkpoint, shown.tensor, claim)
    return [Signal(id="weights-outlying", claim=claim, citations=[place], facts=facts)]
