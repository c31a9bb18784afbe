"""The monitor inside sb3-contrib's `RecurrentPPO`, with the health of the policy's state over each of its updates."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import torch

from traindx.monitor.hooks import Handle, Hook, remove
from traindx.monitor.integrations.stable_baselines3 import MonitorCallback, optimizers_of
from traindx.monitor.lstm_tracker import LstmHealthTracker


class RecurrentMonitorCallback(MonitorCallback):
    """Also records `lstm_h_norm` and the like, under `train/` in the algorithm's own log and in the telemetry."""

    def __init__(self, folder: str | Path | None = None, **options: Any) -> None:
        super().__init__(folder, **options)
        self._health = LstmHealthTracker()
        self._states: dict[int, object] = {}
        self._own: list[Handle] = []
        self._is_broken = False

    def _on_training_start(self) -> None:
        super()._on_training_start()
        for module in self.model.policy.modules():
            if isinstance(module, torch.nn.RNNBase):
                self._own.append(module.register_forward_hook(Hook(self._keep)))
        # `evaluate_actions` ends with a state, and a step of the optimizer follows it.
        self._own += [one.register_step_pre_hook(Hook(self._take)) for one in optimizers_of(self.model)[:1]]

    def _on_training_end(self) -> None:
        super()._on_training_end()
        remove(self._own)

    def _keep(self, module: torch.nn.Module, _: object, output: Any) -> None:
        if not module.training:
            return
        self._states[id(module)] = state = output[1]
        # The policy refuses a NaN with an exception, and no callback is asked any more: it is told of at once. A device
        # would have to be waited for.
        if state[0].is_cpu and not math.isfinite(float(state[0].detach().sum() + state[1].detach().sum())):
            self._tell_broken()

    def _tell_broken(self) -> None:
        if self.monitor is not None and not self._is_broken:
            self._is_broken = True
            self._take()
            self.monitor.log({"timesteps": self.num_timesteps, **self._more()})

    def _take(self, *_: object) -> None:
        if self._states:
            self._health.add(list(self._states.values()))  # type: ignore[arg-type]
        self._states.clear()

    def _more(self) -> dict[str, float]:
        metrics = {name: value for name, value in self._health.metrics().items() if value is not None}
        self._health.reset()
        found: dict[str, float] = {}
        for name, value in metrics.items():
            found[name] = float(value)  # type: ignore[arg-type]
            self.logger.record(f"train/{name}", found[name])
        return found
