"""Hyper-parameters and schedules: what config, code and the logged rate say together."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from tests.tools.signal_case import Case, broken, case, check, falling, table

TOOL, PLAN = "check_hyperparameters", "check_schedule"
COSINE: list[float] = (0.01 * (1 + np.cos(np.linspace(0, np.pi, 30))) / 2).tolist()
LOOP = """\
import torch
from torch import nn

net = nn.Sequential(nn.Linear(4, 4), {layer})
opt = torch.optim.Adam(net.parameters(), lr={rate})
{before}
for x, y in data:
    opt.zero_grad()
    loss = net(x).sum()
    loss.backward()
    {after}
    opt.step()
"""


def program(layer: str = "nn.ReLU()", rate: float = 0.001, before: str = "", after: str = "pass") -> dict[str, str]:
    return {"train.py": LOOP.format(layer=layer, rate=rate, before=before, after=after)}


def configured(text: str, **columns: Sequence[float]) -> dict[str, str]:
    return {**table(**(columns or {"loss": falling()})), "config.yaml": text}


def planned(scheduler: str, loss: Sequence[float], rate: Sequence[float] | None = None) -> dict[str, str]:
    """A script with a scheduler that is stepped per epoch, and a log."""
    script = (
        "import torch\nmodel = torch.nn.Linear(2, 2)\n"
        "opt = torch.optim.SGD(model.parameters(), lr=0.1)\n"
        f"sched = torch.optim.lr_scheduler.{scheduler}\n"
        f"for epoch in range({len(loss)}):\n    for x, y in loader:\n        step(x, y)\n    sched.step()\n"
    )
    rows = [f"epoch {n} loss {value:.5f}" for n, value in enumerate(loss)]
    if rate is not None:
        rows = [f"{row} lr {lr:.6g}" for row, lr in zip(rows, rate, strict=True)]
    return {"train.py": script, "config.yaml": f"epochs: {len(loss)}\n", "train.log": "\n".join(rows) + "\n"}


def stairs(every: int, count: int = 90) -> list[float]:
    return [0.1 * 0.1 ** (epoch // every) for epoch in range(count)]


ATTENTION = "nn.MultiheadAttention(4, 2)"
CASES = [
    case(TOOL, "low loss at a low rate", configured("lr: 2.0e-5\n", loss=[0.31, 0.3, 0.29] * 10), "fine-tuning-rate"),
    case(TOOL, "a high loss at a low rate", configured("lr: 2.0e-5\n"), silent="fine-tuning-rate"),
    case(TOOL, "a low loss at a usual rate", configured("lr: 0.001\n", loss=[0.31, 0.3, 0.29] * 10),
         silent="fine-tuning-rate"),
    case(TOOL, "down to its floor", table(loss=falling(), lr=COSINE), "lr-annealed", "lr-zero-before-end"),
    case(TOOL, "down by half", table(loss=falling(), lr=np.linspace(0.01, 0.005, 30).tolist()), silent="lr-annealed"),
    case(TOOL, "attention at full rate", {**table(loss=falling()), **program(ATTENTION, 0.003)},
         "transformer-without-warmup"),
    case(TOOL, "attention with a warm-up", {**configured("warmup_steps: 100\n"), **program(ATTENTION, 0.003)},
         silent="transformer-without-warmup no-warmup"),
    case(TOOL, "attention at a modest rate", {**table(loss=falling()), **program(ATTENTION, 0.0002)},
         silent="transformer-without-warmup"),
    case(TOOL, "no attention at full rate", {**table(loss=falling()), **program(rate=0.003)},
         silent="transformer-without-warmup"),
    case(TOOL, "half weights", {**table(loss=falling()), **program(before="net = net.half()")}, "weights-in-half"),
    case(TOOL, "half under autocast",
         {**configured("lr: 0.001\nfp16: true\n"), **program(before="scaler = torch.amp.GradScaler()")},
         "half-precision", "weights-in-half"),
    case(TOOL, "four units", configured("lr: 0.01\nhidden: 4\n"), "capacity-tiny"),
    case(TOOL, "a latent of two", configured("lr: 0.01\nhidden: 64\nlatent_dim: 2\n"), "capacity-tiny"),
    case(TOOL, "sixty-four units", configured("lr: 0.01\nhidden: 64\nlatent_dim: 16\n"), silent="capacity-tiny"),
    case(TOOL, "clipping in the config", configured("lr: 0.01\nmax_grad_norm: 1.0\n"), "clipping-configured",
         "clipping-absent"),
    case(TOOL, "clipping switched off", configured("lr: 0.01\nmax_grad_norm: 0.0\n"), silent="clipping-configured"),
    case(TOOL, "a loop without clipping", {**table(loss=falling()), **program()}, "clipping-absent",
         "clipping-configured recurrent-unclipped"),
    case(TOOL, "a recurrent loop without clipping", {**table(loss=falling()), **program("nn.GRU(4, 4)")},
         "recurrent-unclipped clipping-absent"),
    case(TOOL, "a recurrent loop with clipping",
         {**configured("max_grad_norm: 1.0\n"), **program("nn.GRU(4, 4)")}, "clipping-configured",
         "recurrent-unclipped clipping-absent"),
    case(PLAN, "as planned", planned("StepLR(opt, step_size=30, gamma=0.1)", falling(90), stairs(30)),
         "schedule-as-planned", "schedule-differs schedule-stepped-at-wrong-rate"),
    case(PLAN, "stepped per batch",
         planned("StepLR(opt, step_size=30, gamma=0.1)", falling(90), [0.1 * 0.1 ** (n * 20 // 30) for n in range(90)]),
         "schedule-differs schedule-stepped-at-wrong-rate", "schedule-as-planned"),
    case(PLAN, "set by hand", planned("StepLR(opt, step_size=30, gamma=0.1)", falling(90), [0.02] * 90),
         "schedule-differs", "schedule-stepped-at-wrong-rate schedule-as-planned"),
    case(PLAN, "restarts where the loss breaks",
         planned("CosineAnnealingWarmRestarts(opt, T_0=20)", broken(40, 20)), "planned-lr-raised-at-onset",
         "planned-lr-zero-before-end"),
    case(PLAN, "restarts elsewhere", planned("CosineAnnealingWarmRestarts(opt, T_0=20)", broken(40, 31)),
         silent="planned-lr-raised-at-onset"),
    case(PLAN, "nothing left for half the run", planned("StepLR(opt, step_size=10, gamma=0.01)", falling(60)),
         "planned-lr-zero-before-end", "planned-lr-raised-at-onset"),
    case(PLAN, "zero at the end alone", planned("CosineAnnealingLR(opt, T_max=60)", falling(60)),
         silent="planned-lr-zero-before-end"),
]  # fmt: skip


@pytest.mark.parametrize("found", CASES, ids=lambda found: found.label)
def test_a_signal_fires_where_it_must_and_only_there(found: Case, tmp_path: Path) -> None:
    check(found, tmp_path)
