"""What a model is given in training beside what it is given in evaluation, where a monitor measured both."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from traindx.contract import Fact, Signal
from traindx.detectors.citing import cite
from traindx.readers.model import Series

SIGNALS = {
    "eval-inputs-on-other-scale": "inputs of evaluation have another mean or spread than those of training",
    "eval-inputs-alike": "inputs of evaluation have the mean and spread of those of training",
}
_INPUT = re.compile(r"^(?:(?P<phase>train|val|eval|test)[/_.])?inputs?[_.](?P<what>mean|std)$", re.IGNORECASE)
FEWEST = 3
"""measurements of the training's inputs that say how much batches differ among themselves"""
WIDER = 3.0
"""times the spread, or a third of it: augmentation and other splits change it by far less"""
MOVED = 1.0
"""spreads between the means: pixels that are scaled on one side only are several apart"""
PLAIN = 30.0
"""times, from which on no split and no augmentation is in question: pixels of 0 to 255 beside those of unit scale"""
CLEAR = 4.0
"""deviations of the batches' own means that a difference has to exceed as well"""


def detect(series: Sequence[Series]) -> list[Signal]:
    """Whether both kinds of input agree; nothing where one of them was not measured."""
    found = {(match["phase"] or "train", match["what"]): row for row in series if (match := _INPUT.match(row.original))}
    train_mean, train_std = (found.get(("train", what)) for what in ("mean", "std"))
    phase = next((one for one in ("val", "eval", "test") if (one, "mean") in found), "")
    mean, std = (found.get((phase, what)) for what in ("mean", "std"))
    if train_mean is None or train_std is None or mean is None or std is None or len(train_mean) < FEWEST:
        return []
    centre, spread = _usual(train_mean), _usual(train_std)
    if not (np.isfinite([centre, spread, _usual(mean), _usual(std)]).all() and spread > 0):
        return []
    noise = float(np.nanstd(train_mean.values))
    distance, ratio = abs(_usual(mean) - centre), _usual(std) / spread
    numbers = f"{_usual(mean):.3g} ± {_usual(std):.3g} in evaluation, {centre:.3g} ± {spread:.3g} in training"
    moved = distance > MOVED * spread and distance > CLEAR * noise
    facts: dict[str, Fact] = {"input_numbers": numbers}
    places = [cite(std, len(std) - 1, f"inputs of evaluation: {numbers}"), cite(train_std, len(train_std) - 1, numbers)]
    if moved or not 1 / WIDER < ratio < WIDER:
        claim = f"inputs are {numbers}"
        apart = max(distance / spread, ratio, 1 / max(ratio, 1e-9))
        strength = float(np.clip(np.log10(apart) / np.log10(PLAIN), 0.3, 1.0))
        name = "eval-inputs-on-other-scale"
        return [Signal(id=name, claim=claim, strength=strength, citations=places, facts=facts)]
    claim = f"inputs are alike: {numbers}"
    return [Signal(id="eval-inputs-alike", claim=claim, citations=places[:1])]


def _usual(row: Series) -> float:
    finite = row.values[np.isfinite(row.values)]
    return float(np.median(finite)) if len(finite) else float("nan")
