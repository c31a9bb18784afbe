"""What the run optimises: the one curve by which it is judged, turned so that down is better."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from traindx.detectors.curves.chain import chained
from traindx.detectors.curves.loss import main_loss
from traindx.detectors.curves.shape import Numbers, Shape, shape_of
from traindx.readers.model import Series

_WORDS = re.compile(r"[^a-z]+")
_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])")
_REWARDS = {"reward", "rewards", "rew", "return", "returns", "ret", "success", "winrate", "wins", "solved"}
# Parts, bounds and settings of a reward are not the reward.
_NOT_THE_REWARD = {
    "std",
    "var",
    "min",
    "max",
    "loss",
    "scale",
    "scaling",
    "penalty",
    "intrinsic",
    "kl",
    "weight",
    "code",
    # of preference training, where both fall and their distance counts
    "chosen",
    "rejected",
    "margin",
    "margins",
    "accuracies",
    "non",  # `non_score_reward`: the penalty for leaving the reference
}
_TOTAL = {"reward", "rewards", "return", "returns"}
_WEIGHTS = {"beta", "weight", "coef", "coeff", "anneal", "annealing", "lambda", "klw", "kw"}
_RECONSTRUCTION = {"rec", "recon", "reconstruction", "nll", "recloss"}
_ONE_SIDE = {"d": {"d", "disc", "discriminator", "critic"}, "g": {"g", "gen", "generator"}}
FEWEST = 5


@dataclass(frozen=True)
class Objective:
    """A series and its shape. Everything in `shape` is a cost: for a reward, the value with its sign turned."""

    series: Series
    costs: Numbers
    shape: Shape
    rewarded: bool

    def shown(self, cost: float) -> float:
        """A cost as the series itself has it."""
        return -cost if self.rewarded else cost

    @property
    def first(self) -> float:
        """The first finite value, as the file has it."""
        return float(self._finite[0]) if len(self._finite) else math.nan

    @property
    def last(self) -> float:
        """The last finite value, as the file has it; `shape.end` is the level there."""
        return float(self._finite[-1]) if len(self._finite) else math.nan

    @property
    def at_end(self) -> int:
        """The point of the last tenth whose value lies nearest to the level there."""
        since = len(self.costs) - max(1, len(self.costs) // 10)
        return since + int(
            np.nanargmin(np.abs(np.where(np.isfinite(self.costs), self.costs, np.inf)[since:] - self.shape.end))
        )

    @property
    def best(self) -> float:
        """The value at the best point, as the file has it."""
        return float(self.series.values[self.shape.best_index])

    @property
    def _finite(self) -> Numbers:
        return self.series.values[np.isfinite(self.series.values)]

    @property
    def rose(self) -> str:
        """What getting worse is called."""
        return "fell" if self.rewarded else "rose"

    @property
    def fell(self) -> str:
        """What getting better is called."""
        return "rose" if self.rewarded else "fell"

    def __len__(self) -> int:
        return len(self.costs)


def objective(series: Sequence[Series]) -> Objective | None:
    """The curve a run is judged by: its reward where it earns one, else its loss. Ask for it by `run.once(objective)`:
    measuring takes a while.
    """
    chosen = _chosen(series)
    return None if chosen is None else measured(chained(chosen, series))


def measured(series: Series) -> Objective:
    """A series and its shape, turned over when more of it is better."""
    rewarded = is_reward(series)
    costs = -series.values if rewarded else series.values
    return Objective(series, costs, shape_of(costs), rewarded)


def is_reward(series: Series) -> bool:
    """Whether this is what an agent earns."""
    words = words_of(series)
    return bool(words & _REWARDS) and not words & _NOT_THE_REWARD


def words_of(series: Series) -> set[str]:
    """The words of a metric's own name."""
    return {word for word in _WORDS.split(_CAMEL.sub("_", series.original.replace("IoU", "iou")).lower()) if word}


def adversaries(series: Sequence[Series]) -> tuple[Series, Series] | None:
    """The losses of a discriminator and a generator, where both were logged."""
    losses = [row for row in series if len(row) >= FEWEST and _is_side(words_of(row))]
    sides = [next((row for row in losses if _side(row) == side), None) for side in _ONE_SIDE]
    return None if sides[0] is None or sides[1] is None else (sides[0], sides[1])


def _is_side(words: set[str]) -> bool:
    """`loss_D`, `errG`, or `D` alone."""
    return any("loss" in word or "err" in word for word in words) or (
        len(words) == 1 and bool(words & (_ONE_SIDE["d"] | _ONE_SIDE["g"]))
    )


def _side(row: Series) -> str:
    words = words_of(row)
    words |= {word.removesuffix("loss").removeprefix("loss") for word in words}
    return next((side for side, names in _ONE_SIDE.items() if words & names), "")


def _chosen(series: Sequence[Series]) -> Series | None:
    earned = [row for row in series if len(row) >= FEWEST and is_reward(row) and not row.duplicate_of]
    if earned:
        return max(earned, key=_of_all)
    plain = any(row.name == "train/loss" for row in series)
    if not plain and adversaries(series) is not None:
        return None
    loss = main_loss(series)
    return loss if loss is None else _without_growing_penalty(loss, series)


def _of_all(row: Series) -> tuple[bool, bool, int]:
    """Puts a mean before a part, and what is called nothing but reward before the mean of a part."""
    words = words_of(row)
    plain = words <= _TOTAL
    return plain or bool(words & {"mean", "avg"}), plain, len(row)


def _without_growing_penalty(loss: Series, series: Sequence[Series]) -> Series:
    """The reconstruction instead of the sum, where a weight in the sum is raised on purpose during the run."""
    grows = any(words_of(row) & _WEIGHTS and _is_raised(row) for row in series if row.source == loss.source)
    if not grows:
        return loss
    parts = [
        row
        for row in series
        if row.source == loss.source and row.phase in {"train", ""} and words_of(row) & _RECONSTRUCTION and len(row) > 1
    ]
    return max(parts, key=len, default=loss)


def _is_raised(row: Series) -> bool:
    values = row.values[np.isfinite(row.values)]
    return len(values) >= FEWEST and 0 <= values[0] < 0.5 * values[-1] and bool((np.diff(values) >= 0).mean() > 0.9)
