"""The monitor as a callback of Stable-Baselines3: `model.learn(steps, callback=MonitorCallback("runs/1"))`."""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import torch
from stable_baselines3.common.base_class import BaseAlgorithm
from stable_baselines3.common.callbacks import BaseCallback

from traindx.monitor.integrations.numbers import numbers_of
from traindx.monitor.locating import Origin
from traindx.monitor.monitor import Monitor
from traindx.vocabulary.telemetry import INPUT


class MonitorCallback(BaseCallback):
    """Watches the updates of a policy; what the algorithm logs of each iteration goes into the same file."""

    def __init__(self, folder: str | Path | None = None, **options: Any) -> None:
        super().__init__()
        self._folder, self._options = folder, options
        self.monitor: Monitor | None = None
        self._is_blind = False
        """whether an observation was no number"""

    def _on_training_start(self) -> None:
        folder = self._folder or self.model.logger.get_dir()
        self.monitor = Monitor(self.model.policy, optimizers_of(self.model), folder=folder, **self._options)

    def _on_step(self) -> bool:
        # The policy refuses a NaN with an exception, and no callback is asked any more: it is told of before that.
        if self.monitor is not None and not self._is_blind and (found := broken_array(self.locals.get("new_obs"))):
            self._is_blind = True
            self.monitor.tell_origin(Origin(INPUT, "observation", "", found))
        return True

    def _on_rollout_start(self) -> None:
        self._tell()

    def _on_training_end(self) -> None:
        self._tell()
        if self.monitor is not None:
            self.monitor.close()
        self.monitor = None

    def _tell(self) -> None:
        """Write what the algorithm has logged since the last time: it clears its log whenever it prints."""
        told = {
            name: value for name, value in numbers_of(self.logger.name_to_value).items() if name.startswith("train")
        }
        episodes = self.model.ep_info_buffer
        if episodes:
            told["ep_rew_mean"] = statistics.fmean(float(one["r"]) for one in episodes)
        if told and self.monitor is not None:
            self.monitor.log({"timesteps": self.num_timesteps, **told, **self._more()})

    def _more(self) -> dict[str, float]:
        return {}


def optimizers_of(model: BaseAlgorithm) -> list[torch.optim.Optimizer]:
    """The optimizers of an algorithm: of its policy, or of its actor and its critic."""
    owners = [model.policy, *(getattr(model, name, None) for name in ("critic", "actor"))]
    found = [getattr(owner, "optimizer", None) for owner in owners]
    return [one for one in found if isinstance(one, torch.optim.Optimizer)]


def broken_array(value: object) -> str:
    """`NaN` or `Inf` where an array, or one of a dictionary of arrays, holds that; else nothing."""
    if isinstance(value, Mapping):
        return next((found for one in value.values() if (found := broken_array(one))), "")
    if not isinstance(value, np.ndarray) or value.dtype.kind != "f" or math.isfinite(float(value.sum())):
        return ""
    # A sum may also overflow.
    return "" if np.isfinite(value).all() else "NaN" if np.isnan(value).any() else "Inf"
