"""A training with a monitor is the same training, bit by bit."""

from __future__ import annotations

import copy
import pickle
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.extras import torch
from tests.monitor.trainings import (
    Training,
    convolutional,
    in_bfloat16,
    mlp,
    one_thread,
    recurrent,
    rooted,
    rows,
    training,
    transformer,
)
from traindx.monitor import Monitor

STEPS = 25
MODELS = [mlp, convolutional, recurrent, transformer, in_bfloat16]


def losses(make: Callable[[], Training], folder: Path | None) -> tuple[list[float], Any]:
    with one_thread():
        one = make()
        if folder is None:
            return [float(one.step(number)) for number in range(STEPS)], one
        found = []
        with Monitor(one.model, one.optimizer, folder=folder, every=1) as monitor:
            for number in range(STEPS):
                loss = one.step(number)
                monitor.step(loss)
                found.append(float(loss))
        return found, one


@pytest.mark.slow
@pytest.mark.parametrize("make", MODELS, ids=lambda make: make.__name__)
def test_losses_weights_and_random_numbers_are_the_same(make: Callable[[], Training], tmp_path: Path) -> None:
    alone, bare = losses(make, None)
    drawn = torch.rand(3)
    watched, seen = losses(make, tmp_path)
    assert watched == alone
    assert torch.equal(torch.rand(3), drawn)
    for old, new in zip(bare.model.state_dict().values(), seen.model.state_dict().values(), strict=True):
        assert torch.equal(old, new)
    assert len([row for row in rows(tmp_path) if "grad_norm" in row]) == STEPS


def test_two_networks_that_play_against_each_other_are_watched_side_by_side(tmp_path: Path) -> None:
    nn = torch.nn

    def play(folder: Path | None) -> list[float]:
        torch.manual_seed(0)
        generator, judge = nn.Linear(4, 2), nn.Sequential(nn.Linear(2, 8), nn.ReLU(), nn.Linear(8, 1))
        makes, judges = (torch.optim.Adam(one.parameters(), 1e-3) for one in (generator, judge))
        watching = [] if folder is None else [
            Monitor(generator, makes, folder=folder, name="generator", every=1),
            Monitor(judge, judges, folder=folder, name="judge", every=1),
        ]  # fmt: skip
        found = []
        for _ in range(STEPS):
            fake = generator(torch.randn(8, 4))
            loss = (
                nn.functional.softplus(judge(fake.detach())).mean()
                + nn.functional.softplus(-judge(torch.randn(8, 2))).mean()
            )
            judges.zero_grad()
            loss.backward()
            judges.step()
            makes.zero_grad()
            own = nn.functional.softplus(-judge(fake)).mean()
            own.backward()
            makes.step()
            found += [float(loss.detach()), float(own.detach())]
        for one in watching:
            one.close()
        return found

    assert play(tmp_path) == play(None)
    for name in ("generator", "judge"):
        assert rows(tmp_path, f"traindx-monitor.{name}.jsonl")[-1]["step"] == STEPS


def test_a_nan_that_the_loop_survives_leaves_no_trace_of_the_search_for_it(tmp_path: Path) -> None:
    """The forward pass is run again to find the module: dropout and batch statistics must not notice."""

    def survive(folder: Path | None) -> list[str]:
        one = rooted()
        monitor = None if folder is None else Monitor(one.model, one.optimizer, folder=folder)
        found = []
        for number in range(12):
            one.model[4].guard = -100.0 if number == 6 else 1e-3
            loss = one.loss_of(number)
            found.append(str(float(loss.detach())))
            one.optimizer.zero_grad()
            loss.backward()
            if loss.isfinite():
                one.optimizer.step()
        if monitor is not None:
            monitor.close()
        return [*found, str(float(torch.rand(())))]

    assert survive(tmp_path) == survive(None)
    (event,) = [row for row in rows(tmp_path) if row.get("event") == "non-finite"]
    assert (event["step"], event["at"]) == (7, "module 4")


def test_hooks_are_gone_at_the_end(tmp_path: Path) -> None:
    one = mlp()
    with Monitor(one.model, one.optimizer, folder=tmp_path, every=1) as monitor:
        monitor.step(one.step(0))
    hooks = ("_forward_hooks", "_forward_pre_hooks", "_forward_hooks_with_kwargs", "_forward_pre_hooks_with_kwargs")
    assert not any(getattr(module, name) for module in one.model.modules() for name in hooks)
    assert not one.optimizer._optimizer_step_pre_hooks
    assert not one.optimizer._optimizer_step_post_hooks


def test_a_watched_model_is_copied_and_pickled_without_its_monitor(tmp_path: Path) -> None:
    one = mlp()
    with Monitor(one.model, one.optimizer, folder=tmp_path, every=1) as monitor:
        monitor.step(one.step(0))
        written = len(rows(tmp_path))
        twin = copy.deepcopy(one.model)
        twin(torch.randn(2, 20)).sum().backward()
        (tmp_path / "model.pickle").write_bytes(pickle.dumps(one.model))
        assert len(rows(tmp_path)) == written
    assert b"traindx" not in (tmp_path / "model.pickle").read_bytes()


@pytest.mark.slow
def test_importing_the_room_imports_nothing_heavy() -> None:
    code = (
        "import sys, traindx.monitor; assert 'torch' not in sys.modules; traindx.monitor.Monitor\n"
        "heavy = {'pydantic', 'rich', 'jinja2', 'anthropic', 'yaml', 'wandb', 'lightning'} & set(sys.modules)\n"
        "assert not heavy, heavy\n"
    )
    subprocess.run([sys.executable, "-W", "ignore", "-c", code], check=True, timeout=120)


def test_a_model_that_is_not_called_itself_is_told_of_all_the_same(tmp_path: Path) -> None:
    """Policies are called by their methods: what hooks on the model see is missing, gradients and loss are not."""
    nn = torch.nn
    one = training(lambda: [nn.Linear(20, 8), nn.ReLU(), nn.Linear(8, 1)])
    with Monitor(one.model, one.optimizer, folder=tmp_path, every=1) as monitor:
        for _ in range(3):
            loss = one.model[2](one.model[1](one.model[0](torch.randn(4, 20)))).square().mean()
            one.optimizer.zero_grad()
            loss.backward()
            one.optimizer.step()
            monitor.step(loss)
    told = [row for row in rows(tmp_path) if "grad_norm" in row]
    assert [row["step"] for row in told] == [1, 2, 3]
    assert all({"loss", "lr", "update_ratio", "dead/1"} <= set(row) for row in told)
