"""What a monitor wrote is read, cited and judged right: small real trainings with one fault each, and healthy ones."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import Command
from tests.extras import torch
from tests.monitor.trainings import Training, mlp, one_thread, rooted, training
from traindx.monitor import Monitor


def follow(one: Training, folder: Path, steps: int = 200, before: Callable[[int], object] = id, **options: Any) -> None:
    with one_thread(), Monitor(one.model, one.optimizer, folder=folder, **options) as monitor:
        for number in range(steps):
            before(number)
            monitor.step(one.step(number))
            if number % 20 == 19:
                one.model.eval()
                with torch.no_grad():
                    monitor.log({"val_loss": one.loss_of(number)})
                one.model.train()


def healthy(folder: Path) -> None:
    follow(mlp(), folder)


def healthy_with_a_root(folder: Path) -> None:
    follow(rooted(), folder, steps=300)


def dead(folder: Path) -> None:
    nn = torch.nn
    one = training(lambda: [nn.Linear(20, 32), nn.ReLU(), nn.Linear(32, 32), nn.ReLU(), nn.Linear(32, 1)])
    with torch.no_grad():
        one.model[0].bias.fill_(-20.0)
    follow(one, folder)


def nan_in_a_module(folder: Path) -> None:
    one = rooted()

    def slip(number: int) -> None:
        one.model[4].guard = -100.0 if number >= 100 else 1e-3

    follow(one, folder, before=slip)


def nan_in_the_data(folder: Path) -> None:
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Linear(20, 16), torch.nn.ReLU(), torch.nn.Linear(16, 1))
    optimizer = torch.optim.Adam(model.parameters(), 1e-3)
    features = torch.randn(6400, 20)
    target = features[:, :1].clone()
    features[5_000, 3] = float("nan")

    def loss_of(number: int) -> Any:
        chosen = slice(number % 100 * 64, number % 100 * 64 + 64)
        return (model(features[chosen]) - target[chosen]).square().mean()

    follow(Training(model, optimizer, loss_of), folder)


def exploding(folder: Path) -> None:
    """Momentum carries a deep linear network away: gradients explode, then the loss, then all is NaN."""
    torch.manual_seed(0)
    layers = [torch.nn.Linear(16, 16, bias=False) for _ in range(6)]
    for layer in layers:
        torch.nn.init.orthogonal_(layer.weight, gain=1.1)
    model = torch.nn.Sequential(*layers, torch.nn.Linear(16, 1))
    optimizer = torch.optim.SGD(model.parameters(), 0.02, momentum=0.9)

    def loss_of(_: int) -> Any:
        batch = torch.randn(32, 16)
        return (model(batch) - 3 * batch[:, :1] - batch[:, 1:2]).square().mean()

    follow(Training(model, optimizer, loss_of), folder, every=1)


def waiting_for_data(folder: Path) -> None:
    follow(mlp(), folder, steps=15, before=lambda _: time.sleep(0.15), every=1)


def scaled_in_training_only(folder: Path) -> None:
    one = mlp()
    with one_thread(), Monitor(one.model, one.optimizer, folder=folder) as monitor:
        for number in range(200):
            monitor.step(one.step(number))
            if number % 20 == 19:
                one.model.eval()
                with torch.no_grad():
                    raw = 128 + 60 * torch.randn(64, 20)
                    monitor.log({"val_loss": one.model(raw).square().mean()})
                one.model.train()


RUNS: list[tuple[Callable[[Path], None], str, str]] = [
    (healthy, "", ""),
    (healthy_with_a_root, "", ""),
    (dead, "dead-relu", "`dead/1` ends at 100%"),
    (nan_in_a_module, "unguarded-math", "module 4"),
    (nan_in_the_data, "non-finite-inputs", "argument 0"),
    (exploding, "exploding-gradients", "gradient norm"),
    (waiting_for_data, "dataloader-bottleneck", "data_time"),
    (scaled_in_training_only, "unnormalised-inputs", "in evaluation"),
]


@pytest.mark.slow
@pytest.mark.parametrize(("train", "cause", "cited"), RUNS, ids=lambda one: getattr(one, "__name__", None))
def test_the_folder_of_a_run_is_diagnosed(
    train: Callable[[Path], None], cause: str, cited: str, tmp_path: Path, traindx: Command
) -> None:
    train(tmp_path)
    said = json.loads(traindx("diagnose", tmp_path, "--json").stdout)
    likely = [one for one in said["root_causes"] if one["confidence"] >= 0.5]
    if not cause:
        assert (said["status"], likely) == ("healthy", [])
        return
    assert [one["id"] for one in likely][:1] == [cause]
    evidence = [one for one in likely[0]["evidence"] if cited in one["claim"]]
    assert evidence
    assert all(one["verified"] and one["source"] == "traindx-monitor.jsonl" for one in evidence)


@pytest.mark.slow
def test_a_pinned_layer_that_does_no_harm_is_no_cause(tmp_path: Path, traindx: Command) -> None:
    class Beside(torch.nn.Module):  # type: ignore[misc]
        """A branch that is pinned at its limits, and one beside it that learns."""

        def __init__(self) -> None:
            super().__init__()
            self.pinned = torch.nn.Sequential(torch.nn.Linear(20, 16), torch.nn.Tanh())
            self.learns = torch.nn.Linear(36, 1)

        def forward(self, x: Any) -> Any:
            return self.learns(torch.cat([x, self.pinned(1000 * x)], 1))

    torch.manual_seed(0)
    model = Beside()
    data = torch.randn(6400, 20)

    def loss_of(number: int) -> Any:
        batch = data[number % 100 * 64 :][:64]
        return (model(batch) - batch[:, :3].sum(1, keepdim=True)).square().mean()

    follow(Training(model, torch.optim.Adam(model.parameters(), 1e-2), loss_of), tmp_path)
    rows = [json.loads(line) for line in (tmp_path / "traindx-monitor.jsonl").read_text().splitlines()]
    assert max(row.get("saturated/pinned.1", 0.0) for row in rows) > 0.9
    said = json.loads(traindx("diagnose", tmp_path, "--json").stdout)
    assert [one["id"] for one in said["root_causes"] if one["confidence"] >= 0.5] == []
