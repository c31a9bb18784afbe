"""Metrics compared with each other: adversaries, tasks, penalties, loss scales."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from tests.tools.signal_case import (
    Case,
    case,
    check,
    falling,
    table,
)

METRICS = "compare_metrics"


def game(d: Sequence[float], g: Sequence[float]) -> dict[str, str]:
    return table(d_loss=d, g_loss=g)


def around(level: float, points: int = 30, size: float = 0.05) -> list[float]:
    values: list[float] = (level + np.random.default_rng(1).normal(0, size, points)).round(4).tolist()
    return values


SKIPPING = "".join(f"step {n} loss {1.4:.2f} loss_scale 1 skipped {n}\n" for n in range(10, 300, 10))

SETTLING = "".join(f"step {n} loss {300 / n:.3f} loss_scale 8192 skipped 3\n" for n in range(10, 300, 10))

PENALISED = np.linspace(2.8, 0.1, 30)


def overflows(count: int) -> dict[str, str]:
    lines = []
    for n in range(60):
        if n < count:
            scale = 65536 / 2 ** (n + 1)
            lines.append(f"Gradient overflow.  Skipping step, loss scaler 0 reducing loss scale to {scale}")
        lines.append(f"Epoch: [1][{n}/60]\tLoss 3.4{n % 7}21 (3.4127)\tlr 0.1")
    return {"train.out": "\n".join(lines) + "\n"}


def searched(overflows: int, every: int = 0, last: float = 0.0) -> dict[str, str]:
    """A run of 400 steps whose scaler halves at the first steps, and then every so many; `last` ends it lower."""
    scale, lines = 2.0**31, []
    for n in range(1, 401):
        told = ""
        if n <= overflows or (every and n % every == 0):
            told = f" OVERFLOW! Skipping step. Attempted loss scale: {scale}, reducing to {scale / 2}"
            scale = max(last, scale / 2)
        lines.append(f"{n}/400 [00:03<69:00,  3.5s/it]{told}")
    return {"train.log": "\n".join(lines) + "\n"}


def successes(kept: float) -> str:
    rows = [
        {"epoch": n, "train_loss": 0.01, "success_cups": 1.0 if n < 10 else kept, "success_tools": float(n >= 11)}
        for n in range(24)
    ]
    return "\n".join(map(json.dumps, rows)) + "\n"


CASES = [
    case(METRICS, "in balance", game(around(1.38), around(0.7)), "adversaries-balanced", "discriminator-wins"),
    case(METRICS, "one runs away", game(around(1.38), np.geomspace(0.7, 900, 30).round(3).tolist()),
         silent="adversaries-balanced"),
    case(METRICS, "every step skipped", {"train.log": SKIPPING}, "steps-skipped"),
    case(METRICS, "a scaler that settles", {"train.log": SETTLING}, silent="steps-skipped"),
    case(METRICS, "a penalty that is the loss",
         table(loss=(1.39 + PENALISED).round(4).tolist(), l1=PENALISED.round(4).tolist()), "penalty-dominates"),
    case(METRICS, "a penalty beside a loss that falls",
         table(loss=(np.array(falling()) + PENALISED).round(4).tolist(), l1=PENALISED.round(4).tolist()),
         silent="penalty-dominates"),
    case(METRICS, "two tasks with long names",
         table(loss=falling(), acc_bank_v1=np.linspace(0.95, 0.1, 30).round(3).tolist(),
               acc_home_v2=np.linspace(0.1, 0.95, 30).round(3).tolist()), "older-task-forgotten"),
    case(METRICS, "two sides of a game",
         table(loss=falling(), predator_reward=np.linspace(0.95, 0.1, 30).round(3).tolist(),
               prey_reward=np.linspace(0.1, 0.95, 30).round(3).tolist()), silent="older-task-forgotten"),
    case(METRICS, "a task that swings and comes back",
         table(loss=falling(15), acc_day=[.95, .97, .94, .72, .99, .5, .8, .91, .78, .66, .53, .8, .94, .66, .59],
               acc_rain=np.linspace(0.94, 1.0, 15).round(3).tolist()), silent="older-task-forgotten"),
    case(METRICS, "a scale told in sentences", overflows(24), "loss-scale-at-floor"),
    case(METRICS, "a scale that finds its place", overflows(6), silent="loss-scale-at-floor"),
    case(METRICS, "the last value beside the average", table(
        last_reward=np.linspace(-16, -38, 30).tolist(), average_reward=np.linspace(-28, -20, 30).tolist()),
         silent="older-task-forgotten"),
    case(METRICS, "a scale that came down and held", searched(18), "loss-scale-settled", "loss-scale-at-floor"),
    case(METRICS, "the same, with one overflow now and then", searched(18, 190), "loss-scale-settled"),
    case(METRICS, "a scale that goes on falling", searched(4, 12), silent="loss-scale-settled"),
    case(METRICS, "a scale that fell too low", searched(27), silent="loss-scale-settled"),
    case(METRICS, "a scaled learning rate",
         table("step", lr_scale=[2.0 ** (20 - n // 4) for n in range(60)], loss=falling(60)),
         silent="loss-scale-settled"),
    case(METRICS, "the cups are forgotten", {"eval.jsonl": successes(0.0)}, "older-task-forgotten"),
    case(METRICS, "the cups are kept", {"eval.jsonl": successes(0.97)}, silent="older-task-forgotten"),
    case(METRICS, "a box is no penalty", table(total_loss=[2.5] * 10, loss_cls=[1.0] * 10, loss_box_reg=[1.5] * 10),
         silent="penalty-dominates"),
    case(METRICS, "the length of a gradient is no penalty",
         table(loss=[1.8] * 10, **{"grad_l2/out": [1.1] * 10, "weight_norm_l2": [1.2] * 10}),
         silent="penalty-dominates"),
    case(METRICS, "a penalty is one", table(loss=[2.5] * 10, ce=[1.0] * 10, reg=[1.5] * 10), "penalty-dominates"),
]  # fmt: skip


@pytest.mark.parametrize("found", CASES, ids=lambda found: found.label)
def test_a_signal_fires_where_it_must_and_only_there(found: Case, tmp_path: Path) -> None:
    check(found, tmp_path)
