"""Recurrent PPO of sb3-contrib, healthy and with a state that was broken on purpose, from training to diagnosis."""

from __future__ import annotations

import json
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import Command
from tests.extras import torch

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore::UserWarning")]

REFUSED = (ValueError, RuntimeError)
"""what a policy raises for a NaN; the second where other code has switched the checks of distributions off"""


class Amplified:
    """Makes the cell state that the network ends with larger, more so with every update."""

    def __init__(self) -> None:
        self.updates = 0

    def __call__(self, module: Any, _: Any, output: Any) -> Any:
        sequence, (h, c) = output
        return (sequence, (h, c * (1.0 + self.updates))) if module.training else output


class Blank(Amplified):
    """Puts a NaN into the state from the eighth update on; the policy ends the run when it meets it."""

    def __call__(self, module: Any, _: Any, output: Any) -> Any:
        sequence, (h, c) = output
        return (sequence, (h * float("nan"), c)) if module.training and self.updates > 7 else output


@pytest.mark.parametrize(
    ("fault", "cause"), [(None, ""), (Amplified, "state-explosion"), (Blank, "state-non-finite")],
    ids=["healthy", "exploding", "nan"],
)  # fmt: skip
def test_a_run_and_its_diagnosis(fault: Any, cause: str, tmp_path: Path, traindx: Command) -> None:
    pytest.importorskip("sb3_contrib")
    from sb3_contrib import RecurrentPPO

    from traindx.monitor.integrations.sb3_contrib import RecurrentMonitorCallback

    torch.set_num_threads(1)
    model = RecurrentPPO(
        "MlpLstmPolicy", "CartPole-v1", n_steps=64, batch_size=64, n_epochs=2, seed=0, device="cpu",
        policy_kwargs={"lstm_hidden_size": 16},
    )  # fmt: skip
    broken = fault() if fault else None

    class Watched(RecurrentMonitorCallback):
        def _on_rollout_start(self) -> None:
            super()._on_rollout_start()
            if broken is not None:
                broken.updates += 1

    if broken is not None:
        # In front of the callback's own hooks: what the policy ends with is what it is broken to.
        policy: Any = model.policy
        policy.lstm_actor.register_forward_hook(broken)
    ends = pytest.raises(REFUSED, match="nan") if fault is Blank else nullcontext()
    with ends:
        model.learn(64 * 12, callback=Watched(tmp_path))
    said = json.loads(traindx("diagnose", tmp_path, "--json").stdout)
    likely = [one["id"] for one in said["root_causes"] if one["confidence"] >= 0.5]
    assert likely[:1] == ([cause] if cause else [])


@pytest.mark.filterwarnings("ignore")
def test_an_observation_that_is_no_number_is_named(tmp_path: Path, traindx: Command) -> None:
    pytest.importorskip("stable_baselines3")
    import gymnasium
    from stable_baselines3 import PPO

    from traindx.monitor.integrations.stable_baselines3 import MonitorCallback

    class Blind(gymnasium.ObservationWrapper[Any, Any, Any]):
        seen = 0

        def observation(self, observation: Any) -> Any:
            self.seen += 1
            return observation * float("nan") if self.seen > 300 else observation

    torch.set_num_threads(1)
    model = PPO("MlpPolicy", Blind(gymnasium.make("CartPole-v1")), n_steps=64, seed=0, device="cpu")
    with pytest.raises(REFUSED, match="nan"):
        model.learn(1000, callback=MonitorCallback(tmp_path))
    said = json.loads(traindx("diagnose", tmp_path, "--json").stdout)
    assert said["root_causes"][0]["id"] == "non-finite-inputs"
    assert "`observation`" in said["root_causes"][0]["issue"]
