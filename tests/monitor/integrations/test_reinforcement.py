"""The monitor in Stable-Baselines3, and in sb3-contrib's recurrent PPO."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.monitor.trainings import measured, rows
from traindx.vocabulary.telemetry import STATE_KEYS

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore::UserWarning")]


def test_the_updates_of_a_policy_are_told_of(tmp_path: Path) -> None:
    pytest.importorskip("stable_baselines3")
    from stable_baselines3 import PPO

    from traindx.monitor.integrations.stable_baselines3 import MonitorCallback

    def learn(callback: Any) -> dict[str, Any]:
        model = PPO("MlpPolicy", "CartPole-v1", n_steps=64, batch_size=32, n_epochs=2, seed=0, device="cpu")
        model.learn(256, callback=callback)
        return dict(model.policy.state_dict())

    watched, alone = learn(MonitorCallback(tmp_path, every=1)), learn(None)
    assert all(bool((watched[name] == alone[name]).all()) for name in alone)
    told = [row for row in rows(tmp_path) if "grad_norm" in row]
    assert [row["step"] for row in told] == list(range(1, 17))
    assert all({"lr", "update_ratio"} <= set(row) for row in told)
    assert len(measured(tmp_path, "train/value_loss")) == 4
    assert all(reward > 5 for reward in measured(tmp_path, "ep_rew_mean"))


def test_an_algorithm_with_two_optimizers_is_told_of(tmp_path: Path) -> None:
    pytest.importorskip("stable_baselines3")
    from stable_baselines3 import SAC

    from traindx.monitor.integrations.stable_baselines3 import MonitorCallback

    model = SAC("MlpPolicy", "Pendulum-v1", learning_starts=20, buffer_size=500, seed=0, device="cpu")
    model.learn(40, callback=MonitorCallback(tmp_path, every=1))
    assert [row for row in rows(tmp_path) if "grad_norm" in row]


def test_the_state_of_a_recurrent_policy_is_in_both_logs(tmp_path: Path) -> None:
    pytest.importorskip("sb3_contrib")
    from sb3_contrib import RecurrentPPO

    from traindx.monitor.integrations.sb3_contrib import RecurrentMonitorCallback

    model = RecurrentPPO(
        "MlpLstmPolicy", "CartPole-v1", n_steps=32, batch_size=32, n_epochs=2, seed=0, device="cpu",
        policy_kwargs={"lstm_hidden_size": 16},
    )  # fmt: skip
    model.learn(96, callback=RecurrentMonitorCallback(tmp_path))
    for key in STATE_KEYS:
        assert f"train/{key}" in model.logger.name_to_value
    updates = [row for row in rows(tmp_path) if "train/value_loss" in row]
    assert len(updates) == 3
    assert all(row["lstm_h_norm"] > 0 and row["lstm_has_nan"] == 0 for row in updates)
