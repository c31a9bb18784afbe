"""Hyper-parameters and schedules: what config, code and the logged rate say together."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from tests.tools.signal_case import (
    Case,
    broken,
    case,
    check,
    falling,
    table,
)

TRAINER = """\
from transformers import BertConfig, BertForSequenceClassification, Trainer, TrainingArguments

from events import data

args = TrainingArguments("out", learning_rate={rate}, per_device_train_batch_size=32, lr_scheduler_type="linear")
Trainer(model={model}, args=args, train_dataset=data).train()
"""
HYPER, SCHEDULE = "check_hyperparameters", "check_schedule"

COSINE: list[float] = (0.01 * (1 + np.cos(np.linspace(0, np.pi, 30))) / 2).tolist()

SIXTEEN = """\
import torch
from torch import nn

net = nn.Linear(4, 4).to({cast})
opt = torch.optim.Adam(net.parameters(), lr=0.001)
for x, y in batches:
    loss = nn.functional.mse_loss(net(x), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
"""
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

OWN_RATE = (
    "import torch\nfrom torch import nn\n\nLR = 0.003\n"
    "net = nn.Sequential(nn.Linear(4, 4), nn.MultiheadAttention(4, 2))\n"
    "opt = torch.optim.Adam(net.parameters(), lr=LR)\nfor step in range(1000):\n"
    "    for group in opt.param_groups:\n        group['lr'] = LR * {factor}\n    x, y = batch()\n    opt.zero_grad()\n"
    "    loss = net(x).sum()\n    loss.backward()\n    opt.step()\n"
)

TYPED = (
    "import torch\nfrom torch import nn\n\nDTYPE = torch.{name}\nnet = nn.Linear(4, 2).to(DTYPE)\n"
    "opt = torch.optim.Adam(net.parameters(), lr=1e-3)\nfor x, y in data:\n    opt.zero_grad()\n"
    "    loss = net(x).sum()\n    loss.backward()\n    opt.step()\n"
)

SUMMARY = "Total params: {count}\n" + "\n".join(f"Epoch {n}/30 - loss: {v:.4f}" for n, v in enumerate(falling(), 1))


CASES = [
    case(HYPER, "low loss at a low rate", configured("lr: 2.0e-5\n", loss=[0.31, 0.3, 0.29] * 10), "fine-tuning-rate"),
    case(HYPER, "a high loss at a low rate", configured("lr: 2.0e-5\n"), silent="fine-tuning-rate"),
    case(HYPER, "a low loss at a usual rate", configured("lr: 0.001\n", loss=[0.31, 0.3, 0.29] * 10),
         silent="fine-tuning-rate"),
    case(HYPER, "down to its floor", table(loss=falling(), lr=COSINE), "lr-annealed", "lr-zero-before-end"),
    case(HYPER, "down by half", table(loss=falling(), lr=np.linspace(0.01, 0.005, 30).tolist()), silent="lr-annealed"),
    case(HYPER, "a straight line to zero, and nothing after it",
         table(loss=falling(), lr=[0.002 * max(0.0, 1 - n / 12) for n in range(30)]), "lr-zero-before-end"),
    case(HYPER, "the warm-up is longer than the run",
         configured("lr: 0.01\nwarmup_steps: 5000\n", loss=[1.39] * 30, lr=np.linspace(1e-6, 1e-3, 30).tolist()),
         "ended-in-warmup"),
    case(HYPER, "the warm-up is over",
         configured("lr: 0.01\nwarmup_steps: 5\n", loss=falling(), lr=[*np.linspace(1e-3, 1e-2, 5), *[1e-2] * 25]),
         silent="ended-in-warmup no-warmup"),
    case(HYPER, "the run ends on its peak",
         configured("lr: 0.01\nwarmup_steps: 30\n", loss=falling(), lr=np.linspace(1e-4, 1e-2, 30).tolist()),
         silent="ended-in-warmup"),
    case(HYPER, "attention at full rate", {**table(loss=falling()), **program(ATTENTION, 0.003)},
         "transformer-without-warmup"),
    case(HYPER, "attention with a warm-up", {**configured("warmup_steps: 100\n"), **program(ATTENTION, 0.003)},
         silent="transformer-without-warmup no-warmup"),
    case(HYPER, "attention with a warm-up of its own",
         {**table(loss=falling()), "train.py": OWN_RATE.format(factor="min(1, (step + 1) / 100)")},
         silent="transformer-without-warmup"),
    case(HYPER, "attention with a decay of its own",
         {**table(loss=falling()), "train.py": OWN_RATE.format(factor="max(0.1, 1 - step / 1000)")},
         "transformer-without-warmup"),
    case(HYPER, "attention at a modest rate", {**table(loss=falling()), **program(ATTENTION, 0.0002)},
         silent="transformer-without-warmup"),
    case(HYPER, "no attention at full rate", {**table(loss=falling()), **program(rate=0.003)},
         silent="transformer-without-warmup"),
    case(HYPER, "half weights", {**table(loss=falling()), **program(before="net = net.half()")}, "weights-in-half"),
    case(HYPER, "weights in bfloat16", {**table(loss=falling()), "train.py": SIXTEEN.format(cast="torch.bfloat16")},
         "weights-in-bfloat16"),
    case(HYPER, "weights moved to a device", {**table(loss=falling()), "train.py": SIXTEEN.format(cast="'cpu'")},
         silent="weights-in-bfloat16 weights-in-half"),
    case(HYPER, "half under autocast",
         {**configured("lr: 0.001\nfp16: true\n"), **program(before="scaler = torch.amp.GradScaler()")},
         "half-precision", "weights-in-half"),
    case(HYPER, "four units", configured("lr: 0.01\nhidden: 4\n"), "capacity-tiny"),
    case(HYPER, "a latent of two", configured("lr: 0.01\nhidden: 64\nlatent_dim: 2\n"), "capacity-tiny"),
    case(HYPER, "sixty-four units", configured("lr: 0.01\nhidden: 64\nlatent_dim: 16\n"), silent="capacity-tiny"),
    case(HYPER, "clipping in the config", configured("lr: 0.01\nmax_grad_norm: 1.0\n"), "clipping-configured",
         "clipping-absent"),
    case(HYPER, "clipping switched off", configured("lr: 0.01\nmax_grad_norm: 0.0\n"), silent="clipping-configured"),
    case(HYPER, "a loop without clipping", {**table(loss=falling()), **program()}, "clipping-absent",
         "clipping-configured recurrent-unclipped"),
    case(HYPER, "a recurrent loop without clipping", {**table(loss=falling()), **program("nn.GRU(4, 4)")},
         "recurrent-unclipped clipping-absent"),
    case(HYPER, "a recurrent loop with clipping",
         {**configured("max_grad_norm: 1.0\n"), **program("nn.GRU(4, 4)")}, "clipping-configured",
         "recurrent-unclipped clipping-absent"),
    case(SCHEDULE, "as planned", planned("StepLR(opt, step_size=30, gamma=0.1)", falling(90), stairs(30)),
         "schedule-as-planned", "schedule-differs schedule-stepped-at-wrong-rate"),
    case(SCHEDULE, "stepped per batch",
         planned("StepLR(opt, step_size=30, gamma=0.1)", falling(90), [0.1 * 0.1 ** (n * 20 // 30) for n in range(90)]),
         "schedule-differs schedule-stepped-at-wrong-rate", "schedule-as-planned"),
    case(SCHEDULE, "set by hand", planned("StepLR(opt, step_size=30, gamma=0.1)", falling(90), [0.02] * 90),
         "schedule-differs", "schedule-stepped-at-wrong-rate schedule-as-planned"),
    case(SCHEDULE, "restarts where the loss breaks",
         planned("CosineAnnealingWarmRestarts(opt, T_0=20)", broken(40, 20)), "planned-lr-raised-at-onset",
         "planned-lr-zero-before-end"),
    case(SCHEDULE, "restarts elsewhere", planned("CosineAnnealingWarmRestarts(opt, T_0=20)", broken(40, 31)),
         silent="planned-lr-raised-at-onset"),
    case(SCHEDULE, "nothing left for half the run", planned("StepLR(opt, step_size=10, gamma=0.01)", falling(60)),
         "planned-lr-zero-before-end", "planned-lr-raised-at-onset"),
    case(SCHEDULE, "zero at the end alone", planned("CosineAnnealingLR(opt, T_max=60)", falling(60)),
         silent="planned-lr-zero-before-end"),
    case(HYPER, "a hundred times beyond", {"config.yaml": "optimizer: adam\nlr: 0.3\n", **table(loss=falling())},
         "lr-absurd lr-far-above-usual"),
    case(HYPER, "five times beyond", {"config.yaml": "optimizer: adam\nlr: 0.015\n", **table(loss=falling())},
         "lr-far-above-usual", "lr-absurd"),
    case(HYPER, "a rate of its own for the embedding",
         {"config.yaml": "optimizer: adam\nlr: 0.001\nembed_lr: 0.6\nhead_lr: 0.3\n", **table(loss=falling())},
         silent="lr-absurd lr-far-above-usual"),
    case(HYPER, "logged, and nowhere configured",
         table("step", 10, loss=falling(), approx_kl=[0.5] * 30, lr=[0.2] * 30), "lr-absurd"),
    case(HYPER, "logged as it should be", table("step", 10, loss=falling(), approx_kl=[0.01] * 30, lr=[3e-4] * 30),
         silent="lr-absurd lr-far-above-usual"),
    case(HYPER, "a warm-up of zero",
         {"config.yaml": "optimizer: sgd\nlr: 0.2\nwarmup_adim: 0\n", **table(loss=falling())}, "warmup-zero"),
    case(HYPER, "a warm-up of zero at a modest rate",
         {"config.yaml": "optimizer: adamw\nlr: 0.00003\nwarmup_steps: 0\n", **table(loss=falling())},
         silent="warmup-zero"),
    case(HYPER, "the first record is the settings",
         {"log.jsonl": '{"batch_size": 2, "lr": 0.06}\n' + "".join(
             f'{{"iter": {n}, "loss": {v}}}\n' for n, v in enumerate(falling(), 1))}, "batch-tiny"),
    case(HYPER, "a type in the code", {"train.py": TYPED.format(name="float16"), **table(loss=falling())},
         "half-precision weights-in-half"),
    case(HYPER, "another type in the code", {"train.py": TYPED.format(name="float32"), **table(loss=falling())},
         silent="half-precision weights-in-half"),
    case(HYPER, "modest", configured("optimizer: adam\nlr: 0.0001\n"), "lr-modest"),
    case(HYPER, "bold", configured("optimizer: adam\nlr: 0.002\n"), silent="lr-modest lr-far-above-usual"),
    case(HYPER, "a pair of betas is Adam's", configured("lr: 0.4\nbeta1: 0.9\nbeta2: 0.99\n"), "lr-absurd"),
    case(HYPER, "a momentum is SGD's", configured("lr: 2.0\nmom: 0.9\n"), "lr-far-above-usual", "lr-absurd"),
    case(HYPER, "an optimizer in the log", {"train.log": "optimizer: Adam(lr=0.5, eps=1e-8)\n" + "\n".join(
        f"epoch {n} loss {value:.4f}" for n, value in enumerate(falling(), 1))}, "lr-absurd"),
    case(HYPER, "a decay of twenty", configured("optimizer: adamw\nlr: 0.001\nweight_decay: 20\n"),
         "regularised-heavily regularised-absurdly"),
    case(HYPER, "a decay of one", configured("optimizer: adamw\nlr: 0.001\nweight_decay: 1.0\n"), "regularised-heavily",
         "regularised-absurdly"),
    case(HYPER, "a decay in Adam's gradient", configured("optimizer: adam\nlr: 0.001\nweight_decay: 0.05\n"),
         "regularised-heavily", "regularised-absurdly"),
    case(HYPER, "a decay beside Adam's gradient", configured("optimizer: adamw\nlr: 0.001\nweight_decay: 0.05\n"),
         silent="regularised-heavily"),
    case(HYPER, "a little decay in Adam's gradient", configured("optimizer: adam\nlr: 0.001\nweight_decay: 0.005\n"),
         silent="regularised-heavily"),
    case(HYPER, "a trainer from scratch at a rate for fine-tuning",
         {"train.py": TRAINER.format(model="BertForSequenceClassification(BertConfig(num_labels=4))", rate="2e-6"),
          **table(loss=[1.386] * 30)}, "lr-far-below-usual"),
    case(HYPER, "a trainer from scratch at a rate for it",
         {"train.py": TRAINER.format(model="BertForSequenceClassification(BertConfig(num_labels=4))", rate="5e-4"),
          **table(loss=falling())}, silent="lr-far-below-usual"),
    case(HYPER, "a trainer that fine-tunes",
         {"train.py": TRAINER.format(model="BertForSequenceClassification.from_pretrained('bert')", rate="2e-6"),
          **table(loss=falling())}, silent="lr-far-below-usual"),
    case(HYPER, "sixteen bits and nothing else", configured("precision: 16-true\nlr: 0.001\n"),
         "half-precision weights-in-half"),
    case(HYPER, "sixteen bits, mixed", configured("precision: 16-mixed\nlr: 0.001\n"), "half-precision",
         "weights-in-half"),
    case(HYPER, "two dozen parameters", {"fit.log": SUMMARY.format(count=25)}, "capacity-tiny"),
    case(HYPER, "a million parameters", {"fit.log": SUMMARY.format(count="1,234,567")}, silent="capacity-tiny"),
    case(HYPER, "twenty-five million", {"fit.log": SUMMARY.format(count="25M")}, silent="capacity-tiny"),
]  # fmt: skip


@pytest.mark.parametrize("found", CASES, ids=lambda found: found.label)
def test_a_signal_fires_where_it_must_and_only_there(found: Case, tmp_path: Path) -> None:
    check(found, tmp_path)
