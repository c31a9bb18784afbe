"""Curves in other folders, words and units: tasks, resumptions, times of a step, schedules that nobody logged."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

from tests.tools.calling import call, load
from tests.tools.signal_case import Case, case, check, log, table
from traindx.readers import Run, Scope

METRICS, PACE, SCHEDULE, ENDING, RESUMED = (
    "compare_metrics", "check_throughput", "check_schedule", "check_ending", "check_resumption",
)  # fmt: skip
FELL = np.linspace(0.95, 0.2, 30).round(3)
ROSE = np.linspace(0.2, 0.95, 30).round(3)
KEPT = 0.95 + 0.01 * (np.arange(30) % 3)


def store(old: np.ndarray) -> dict[str, str]:
    """An MLflow run: each metric is a file."""
    rows = {"acc_old": old, "acc_new": ROSE}
    folder = "mlruns/1/0123456789abcdef0123456789abcdef/metrics"
    return {
        f"{folder}/{name}": "".join(f"17140464{n:05d} {value} {n}\n" for n, value in enumerate(values))
        for name, values in rows.items()
    }


def domains(old: np.ndarray) -> dict[str, str]:
    pairs = enumerate(zip(old, 30 * FELL, strict=True))
    return log(
        [f"[{50 * n:>5}] loss={2 - n / 30:.3f} | ppl/general {a:.2f} | ppl/legal {b:.2f}" for n, (a, b) in pairs]
    )


def errors(old: np.ndarray) -> dict[str, str]:
    rows = {"eval/old_err": old.tolist(), "eval/new_err": FELL.tolist()}
    return table("step", 100, **rows)


def resumed(said: str, rate: float) -> dict[str, str]:
    before = [f"it {n} loss {2 * math.exp(-n / 20) + 0.3:.4f} lr {1e-3 * (1 - n / 100):.2e}" for n in range(60)]
    after = [
        f"it {n} loss {2 * math.exp(-n / 20) + 0.3:.4f} lr {rate * (1 - (n - 60) / 100):.2e}" for n in range(60, 90)
    ]
    return log([*before, said, *after])


def timed(form: str, fast: float, slow: float, every: int = 10) -> dict[str, str]:
    times = [fast * (1 + 0.03 * (n % 3)) if n < 60 else slow * (1 + 0.03 * (n % 3)) for n in range(120)]
    return log([f"step {every * n} loss {3 - n / 60:.3f} " + form.format(value) for n, value in enumerate(times)])


def scheduled(size: int, inside: bool, last: int) -> dict[str, str]:
    step = ("        " if inside else "    ") + "scheduler.step()\n"
    program = (
        "import torch\nfrom torch import nn\nfrom data import loader\nmodel = nn.Linear(8, 1)\n"
        "optimizer = torch.optim.SGD(model.parameters(), lr=0.05)\n"
        f"scheduler = torch.optim.lr_scheduler.StepLR(optimizer, step_size={size}, gamma=0.1)\n"
        "for epoch in range(60):\n    for x, y in loader:\n        loss = (model(x) - y).pow(2).mean()\n"
        f"        optimizer.zero_grad()\n        loss.backward()\n        optimizer.step()\n{step}"
        '    print("ep %02d train %.4f" % (epoch, loss.item()))\n'
    )
    lines = [f"ep {n:02d} train {0.9 * math.exp(-min(n, last) / 14) + 0.05:.4f}" for n in range(60)]
    return {"run.py": program, **log(lines)}


RESTORED = "weights recovered from runs/7/last.ckpt (iter 60)"
CASES = [
    case(METRICS, "a task in a file of its own is forgotten", store(FELL), "older-task-forgotten"),
    case(METRICS, "a task in a file of its own is kept", store(KEPT), silent="older-task-forgotten"),
    case(METRICS, "a domain's perplexity rises", domains(30 * ROSE), "older-task-forgotten"),
    case(METRICS, "a domain's perplexity stays", domains(8 * KEPT), silent="older-task-forgotten"),
    case(METRICS, "an old error rises", errors(0.5 * ROSE), "older-task-forgotten"),
    case(METRICS, "an old error stays", errors(0.08 * KEPT), silent="older-task-forgotten"),
    case(METRICS, "losses of two parts of a model",
         table("step", 10, loss_box=FELL.tolist(), loss_mask=ROSE.tolist()), silent="older-task-forgotten"),
    case(RESUMED, "the schedule begins again", resumed(RESTORED, 1e-3), "resumed-with-a-jump", "resumed-smoothly"),
    case(RESUMED, "the schedule goes on", resumed(RESTORED, 4e-4), "resumed-smoothly", "resumed-with-a-jump"),
    case(RESUMED, "another stage begins with these weights",
         log([*(f"it {n} loss {2 * math.exp(-n / 20) + 0.3:.4f}" for n in range(60)),
              "loaded stage1.pt (iter 60)", *(f"it {n} loss {4 * math.exp(-n / 20) + 1:.4f}" for n in range(60))]),
         silent="resumed-with-a-jump"),
    case(RESUMED, "the best weights are loaded for a test", resumed("loaded best.ckpt (iter 60)", 4e-4),
         silent="resumed-with-a-jump resumed-smoothly"),
    case(PACE, "seconds a step", timed("sec/step {:.3f}", 0.9, 3.6), "steps-crawl"),
    case(PACE, "seconds a step, steady", timed("sec/step {:.3f}", 0.9, 0.9), silent="steps-crawl steps-slow-down"),
    case(PACE, "loading beside computing", log([f"step {n} loss 1.{n} load 820ms fwd+bwd 95ms" for n in range(10, 40)]),
         "loader-starves-device"),
    case(PACE, "a short wait and hardly anything else",
         table("step", 10, time=[0.2] * 30, data_time=[0.19] * 30), "loader-starves-device"),
    case(PACE, "a short wait and as much again",
         table("step", 10, time=[0.2] * 30, data_time=[0.12] * 30), "loader-takes-time", "loader-starves-device"),
    case(SCHEDULE, "a schedule that is over after six epochs", scheduled(2, False, 6), "planned-lr-zero-before-end"),
    case(SCHEDULE, "one that is over within the first", scheduled(2, True, 60), silent="planned-lr-zero-before-end"),
    case(SCHEDULE, "a schedule for the whole run", scheduled(30, False, 60), silent="planned-lr-zero-before-end"),
    case(SCHEDULE, "a schedule that ends when all is learned", scheduled(19, False, 60),
         silent="planned-lr-zero-before-end"),
    case(ENDING, "a GAN's curves are named by a letter",
         log([f"[{100 * n}] D: {0.6 + n % 3 / 50:.3f}  G: {0.8 + n % 5 / 50:.3f}" for n in range(40)]),
         silent="log-stops"),
]  # fmt: skip


@pytest.mark.parametrize("found", CASES, ids=lambda found: found.label)
def test_a_signal_fires_where_it_must_and_only_there(found: Case, tmp_path: Path) -> None:
    check(found, tmp_path)


@pytest.mark.parametrize(("every", "least", "most"), [(10, 0.0, 0.5), (2_000, 1.0, 1.0)])
def test_a_slower_pace_counts_by_the_time_it_costs(every: int, least: float, most: float, tmp_path: Path) -> None:
    for name, content in timed("time {:.2f}ms", 13, 28, every).items():
        (tmp_path / name).write_text(str(content))
    found = {row.id: row.strength for row in call(load(PACE), Run(Scope.of(tmp_path))).signals}
    assert least <= found["steps-slow-down"] <= most
