"""Schedules reconstructed from settings are those of torch and transformers, and what differs from them is told."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.extras import torch
from tests.tools.calling import call, load
from traindx.detectors.settings.own_schedule import own_plan
from traindx.detectors.settings.planned_rate import planned
from traindx.program.followed import program_of, settings_of
from traindx.readers import Run, Scope
from traindx.runtime import NoData

LR = 0.1
SCHEDULERS = [
    "StepLR(opt, step_size=10, gamma=0.5)",
    "StepLR(opt, 7)",
    "MultiStepLR(opt, milestones=[10, 25], gamma=0.2)",
    "ExponentialLR(opt, gamma=0.9)",
    "CosineAnnealingLR(opt, T_max=20, eta_min=0.01)",
    "CosineAnnealingLR(opt, T_max=40)",
    "CosineAnnealingWarmRestarts(opt, T_0=8)",
    "CosineAnnealingWarmRestarts(opt, T_0=5, T_mult=2, eta_min=0.001)",
    "OneCycleLR(opt, max_lr=0.1, total_steps=41, pct_start=0.25)",
]


def program(scheduler: str) -> str:
    return (
        "import torch\nmodel = torch.nn.Linear(2, 2)\n"
        f"opt = torch.optim.SGD(model.parameters(), lr={LR})\n"
        f"sched = torch.optim.lr_scheduler.{scheduler}\n"
    )


def real_rates(scheduler: str, count: int = 40) -> list[float]:
    """What torch itself does."""
    opt = torch.optim.SGD([torch.nn.Parameter(torch.ones(1))], lr=LR)
    sched = eval(f"torch.optim.lr_scheduler.{scheduler}", {"torch": torch, "opt": opt})  # noqa: S307 - from the list
    found = []
    for _ in range(count):
        found.append(opt.param_groups[0]["lr"])
        opt.step()
        sched.step()
    return found


def falling(points: int) -> list[float]:
    wobble = np.random.default_rng(0).normal(0, 0.005, points)
    values: list[float] = (0.3 + 2 * np.exp(-5 * np.arange(points) / points) + wobble).tolist()
    return values


def log(folder: Path, axis: str, loss: Sequence[float], rate: Sequence[float] | None = None, every: int = 1) -> None:
    rows = [f"{axis} {at * every} loss {value:.5f}" for at, value in enumerate(loss)]
    if rate is not None:
        rows = [f"{row} lr {lr:.6g}" for row, lr in zip(rows, rate, strict=True)]
    (folder / "train.log").write_text("\n".join(rows) + "\n")


def looked(folder: Path) -> Any:
    tool = load("check_schedule")
    output = call(tool, Run(Scope.of(folder)))
    for signal in output.signals:
        assert signal.id in tool.emits
        for place in signal.citations:
            line = int(place.locator.removeprefix("line ").split(",")[0])
            assert place.quote in (folder / place.source).read_text().splitlines()[line - 1]
    return output


def heard(folder: Path) -> set[str]:
    return {signal.id for signal in looked(folder).signals}


@pytest.mark.parametrize("scheduler", SCHEDULERS)
def test_the_plan_is_what_torch_does(tmp_path: Path, scheduler: str) -> None:
    (tmp_path / "train.py").write_text(program(scheduler))
    run = Run(Scope.of(tmp_path))
    plan = planned(settings_of(run), program_of(run))
    assert plan is not None
    np.testing.assert_allclose(plan.at(np.arange(40.0)), real_rates(scheduler), rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("scheduler", SCHEDULERS)
def test_a_log_that_follows_the_plan(tmp_path: Path, scheduler: str) -> None:
    (tmp_path / "train.py").write_text(program(scheduler))
    (tmp_path / "config.yaml").write_text("epochs: 41\n")
    log(tmp_path, "epoch", falling(40), real_rates(scheduler))
    assert heard(tmp_path) == {"schedule-as-planned"}


@pytest.mark.parametrize("kind", ["linear", "cosine"])
@pytest.mark.parametrize("length", [{"max_steps": 500}, {"num_train_epochs": 5}])
def test_the_arguments_of_a_trainer(tmp_path: Path, kind: str, length: dict[str, int]) -> None:
    said = {"learning_rate": 5e-4, "lr_scheduler_type": f'"{kind}"', "warmup_steps": 50, "warmup_ratio": 0.1} | length
    (tmp_path / "training_args.json").write_text(
        "{" + ", ".join(f'"{key}": {value}' for key, value in said.items()) + "}"
    )
    done = [max(0.0, (step - 50) / 450) for step in range(0, 501, 10)]
    down = [1 - share if kind == "linear" else (1 + math.cos(math.pi * share)) / 2 for share in done]
    rates = [5e-4 * min(step / 50, 1) * level for step, level in zip(range(0, 501, 10), down, strict=True)]
    rows = [
        f"{{'loss': {value:.4f}, 'learning_rate': {rate:.6g}, 'epoch': {step / 100:.2f}, 'step': {step}}}"
        for step, value, rate in zip(range(0, 501, 10), falling(51), rates, strict=True)
    ]
    (tmp_path / "train.log").write_text("\n".join(rows))
    assert heard(tmp_path) == {"schedule-as-planned"}


def test_stepped_per_batch_where_epochs_are_meant(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(program("StepLR(opt, step_size=30, gamma=0.1)"))
    (tmp_path / "config.yaml").write_text("epochs: 90\n")
    per_batch = [LR * 0.1 ** (epoch * 20 // 30) for epoch in range(90)]
    log(tmp_path, "epoch", falling(90), per_batch)
    assert heard(tmp_path) == {"schedule-differs", "schedule-stepped-at-wrong-rate"}
    log(tmp_path, "epoch", falling(90), [LR * 0.1 ** (epoch // 30) for epoch in range(90)])
    assert heard(tmp_path) == {"schedule-as-planned"}


def test_a_rate_that_somebody_set_by_hand(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(program("CosineAnnealingLR(opt, T_max=40)"))
    (tmp_path / "config.yaml").write_text("epochs: 40\n")
    log(tmp_path, "epoch", falling(40), [0.02] * 40)
    assert heard(tmp_path) == {"schedule-differs"}


def test_a_word_in_a_config_may_mean_anything(tmp_path: Path) -> None:
    (tmp_path / "config.yaml").write_text("lr: 0.1\nscheduler: cosine\nepochs: 40\n")
    log(tmp_path, "epoch", falling(40), [0.1 * (1 - epoch / 40) ** 3 for epoch in range(40)])
    assert heard(tmp_path) == set()


@pytest.mark.parametrize(
    ("scheduler", "config"),
    [
        ("CosineAnnealingLR(opt, T_max=args.epochs)", "epochs: 40\n"),
        ('CosineAnnealingLR(opt, cfg["t_max"])', "epochs: 60\nt_max: 40\n"),
    ],
)
def test_arguments_are_followed_to_their_settings(tmp_path: Path, scheduler: str, config: str) -> None:
    (tmp_path / "train.py").write_text(program(scheduler))
    (tmp_path / "config.yaml").write_text(config)
    log(tmp_path, "epoch", falling(40), real_rates("CosineAnnealingLR(opt, T_max=40)"))
    assert heard(tmp_path) == {"schedule-as-planned"}


CHOSEN = """\
import torch, yaml
from torch.optim import lr_scheduler

class {own}:
    def __init__(self, opt, epochs):
        self.opt = opt

def make(opt, cfg):
    if cfg["schedule"] == "cosine":
        return lr_scheduler.CosineAnnealingLR(opt, cfg["epochs"])
    return lr_scheduler.StepLR(opt, 10)

cfg = yaml.safe_load(open("config.yaml"))
model = torch.nn.Linear(2, 2)
opt = torch.optim.SGD(model.parameters(), lr=cfg["lr"])
{last}
"""


def chosen(folder: Path, last: str, own: str = "Unused") -> None:
    (folder / "config.yaml").write_text("lr: 0.1\nepochs: 40\nschedule: cosine\n")
    (folder / "train.py").write_text(CHOSEN.format(last=last, own=own))
    log(folder, "epoch", falling(40), real_rates("CosineAnnealingLR(opt, T_max=40)"))


def test_of_two_schedulers_the_one_that_the_configuration_chooses(tmp_path: Path) -> None:
    chosen(tmp_path, "sched = make(opt, cfg)")
    assert heard(tmp_path) == {"schedule-as-planned"}


def test_a_schedule_of_the_program_beside_it_leaves_the_plan_open(tmp_path: Path) -> None:
    chosen(tmp_path, "sched = make(opt, cfg)\nwarm = SlowLR(opt, 4)", "SlowLR")
    with pytest.raises(NoData, match="more than one"):
        heard(tmp_path)


@pytest.mark.parametrize(
    "scheduler",
    [
        "CosineAnnealingLR(opt, T_max=len(loader) * 9)",
        "LambdaLR(opt, f)",
        "StepLR(opt, 5)\nb = X.ExponentialLR(opt, 0.9)",
    ],
)
def test_what_cannot_be_known_is_not_guessed(tmp_path: Path, scheduler: str) -> None:
    (tmp_path / "train.py").write_text(program(scheduler))
    log(tmp_path, "epoch", falling(40), [0.1] * 40)
    with pytest.raises(NoData):
        looked(tmp_path)


def broken(at: int, points: int = 40) -> list[float]:
    values = falling(points)
    return [value + (3.0 if index >= at else 0.0) for index, value in enumerate(values)]


@pytest.mark.parametrize(
    ("scheduler", "loss", "expected"),
    [
        ("CosineAnnealingWarmRestarts(opt, T_0=20)", broken(20), {"planned-lr-raised-at-onset"}),
        ("StepLR(opt, step_size=25, gamma=10)", broken(25), {"planned-lr-raised-at-onset"}),
        ("CosineAnnealingWarmRestarts(opt, T_0=20)", broken(30), set()),
        ("CosineAnnealingLR(opt, T_max=40)", broken(20), set()),
        ("CosineAnnealingWarmRestarts(opt, T_0=20)", falling(40), set()),
        ("OneCycleLR(opt, max_lr=0.1, total_steps=40)", broken(4), set()),
        ("MultiStepLR(opt, milestones=[5, 10, 15, 20], gamma=0.1)", falling(40), {"planned-lr-zero-before-end"}),
        ("MultiStepLR(opt, milestones=[20, 30], gamma=0.1)", falling(40), set()),
        ("CosineAnnealingLR(opt, T_max=40)", falling(40), set()),
    ],
    ids=range(9),
)
def test_the_plan_at_the_break_and_at_the_end(
    tmp_path: Path, scheduler: str, loss: list[float], expected: set[str]
) -> None:
    (tmp_path / "train.py").write_text(program(scheduler))
    (tmp_path / "config.yaml").write_text("epochs: 40\n")
    log(tmp_path, "epoch", loss)
    assert heard(tmp_path) == expected


def test_a_logged_rate_has_the_last_word(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(program("CosineAnnealingWarmRestarts(opt, T_0=20)"))
    (tmp_path / "config.yaml").write_text("epochs: 40\n")
    log(tmp_path, "epoch", broken(20), real_rates("CosineAnnealingWarmRestarts(opt, T_0=20)"))
    assert heard(tmp_path) == {"schedule-as-planned"}


@pytest.mark.slow
def test_the_diagnosis_names_the_schedule(tmp_path: Path, traindx: Callable[..., Any]) -> None:
    (tmp_path / "train.py").write_text(program("StepLR(opt, step_size=25, gamma=10)"))
    (tmp_path / "config.yaml").write_text("epochs: 40\n")
    log(tmp_path, "epoch", broken(25))
    done = traindx("diagnose", tmp_path, "-m", "loss went up at epoch 25", "--json")
    assert '"lr-schedule-spike"' in done.stdout


@pytest.mark.parametrize(
    ("count", "expected"),
    [
        (lambda step: step, {"schedule-differs", "schedule-stepped-at-wrong-rate"}),
        (lambda step: step // 100, {"schedule-as-planned"}),
    ],
    ids=["per batch", "per epoch"],
)
def test_a_log_in_steps_against_a_plan_in_epochs(
    tmp_path: Path, count: Callable[[int], int], expected: set[str]
) -> None:
    (tmp_path / "train.py").write_text(program("CosineAnnealingLR(opt, T_max=10)"))
    (tmp_path / "config.yaml").write_text("epochs: 10\n")
    rows = [
        f"epoch {step // 100} step {step} loss {value:.4f} lr {LR * (1 + math.cos(math.pi * count(step) / 10)) / 2:.6g}"
        for step, value in zip(range(0, 1000, 7), falling(143), strict=True)
    ]
    (tmp_path / "train.log").write_text("\n".join(rows))
    assert heard(tmp_path) == expected


DECAYED = """
import torch

net = torch.nn.Linear(4, 2)
opt = torch.optim.SGD(net.parameters(), lr=0.1)


def adjust(opt, step):
    for group in opt.param_groups:
        group["lr"] = 0.1 * 0.1**step


stage = 0
for it in range(1000):
    {raise_stage}
    adjust(opt, stage)
    loss = torch.nn.functional.cross_entropy(net(torch.randn(8, 4)), torch.randint(0, 2, (8,)))
    opt.zero_grad()
    loss.backward()
    opt.step()
"""


@pytest.mark.parametrize(
    ("raise_stage", "known"), [("stage += 1", True), ("if it in {400, 800}:\n        stage += 1", False)]
)
def test_a_count_that_milestones_raise_is_no_count_of_steps(tmp_path: Path, raise_stage: str, known: bool) -> None:
    (tmp_path / "train.py").write_text(DECAYED.format(raise_stage=raise_stage))
    run = Run(Scope.of(tmp_path))
    plan = own_plan(program_of(run), settings_of(run))
    assert (plan is not None) is known
