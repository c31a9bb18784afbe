"""Rewards, KL and losses without labels: what curves of fine-tuning and reinforcement learning say together."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tests.tools.signal_case import Case, case, check, falling, log, losses, table, wobble
from traindx.detectors.curves.objective import objective
from traindx.readers import Run, Scope

TOGETHER = "compare_metrics"
POINTS = 40
RISING = (0.1 + 0.9 * (1 - np.exp(-np.arange(POINTS) / 10)) + wobble(POINTS, 0.01)).tolist()
LOST = [*np.linspace(0.1, 1.0, 25), *np.linspace(0.8, -0.5, 15)]
RUNAWAY = (0.02 * np.exp(np.arange(POINTS) / 4.5)).tolist()
SLOW = np.linspace(0.02, 0.3, POINTS).tolist()
FAR = (0.02 * np.exp(np.arange(POINTS) / 6)).tolist()


def policy(**columns: list[float]) -> dict[str, str]:
    return table("step", 1, loss=[0.0] * POINTS, **columns)


SOLVED = (0.97 + np.array([0.02, -0.03, 0.0, 0.03] * (POINTS // 4))).tolist()
NOTICE = "Could not find response key `### Answer:` in the following instance: Question"
CASES = [
    case(TOGETHER, "the same reward for all", policy(reward=[0.1] * POINTS, reward_std=[0.0] * POINTS),
         "rewards-all-equal"),
    case(TOGETHER, "a solved task", policy(
        reward=[*RISING[:20], *[1.0] * 20], reward_std=[*np.linspace(0.4, 0.1, 10), *[0.0] * 30]),
         silent="rewards-all-equal"),
    case(TOGETHER, "nearly every answer is right",
         policy(**{"rewards/accuracy/mean": SOLVED, "reward": [1.5 * value for value in SOLVED]}), "task-solved"),
    case(TOGETHER, "two thirds of the answers are right", policy(**{"rewards/accuracy/mean": [
        0.7 * value for value in SOLVED], "reward": SOLVED}), silent="task-solved"),
    case(TOGETHER, "a grader that says yes to everything",
         policy(**{"rewards/accuracy/mean": [1.0] * POINTS, "reward": SOLVED}), silent="task-solved"),
    case(TOGETHER, "a format that is always right",
         policy(**{"rewards/format/mean": SOLVED, "reward": RISING}), silent="task-solved"),
    case(TOGETHER, "rewards that differ", policy(reward=RISING, reward_std=[0.3] * POINTS), silent="rewards-all-equal"),
    case(TOGETHER, "the policy runs away", policy(reward=LOST, kl=RUNAWAY), "policy-kl-exploded", "policy-kl-grew"),
    case(TOGETHER, "the policy moves and earns", policy(reward=RISING, kl=FAR), "policy-kl-grew", "policy-kl-exploded"),
    case(TOGETHER, "the policy moves slowly", policy(reward=RISING, kl=SLOW),
         silent="policy-kl-exploded policy-kl-grew"),
    case(TOGETHER, "no loss and no gradient", table(loss=[0.0] * 10, grad_norm=[0.0] * 10), "loss-without-labels"),
    case(TOGETHER, "no loss but a gradient", table(loss=[0.0] * 10, grad_norm=[0.2] * 10),
         silent="loss-without-labels"),
    case(TOGETHER, "NaN all over", table(loss=[float("nan")] * 10, grad_norm=[float("nan")] * 10),
         silent="loss-without-labels"),
    case(TOGETHER, "samples without a label", log([*[f"{NOTICE} {n}" for n in range(5)], *losses()]),
         "labels-masked-in-log"),
    case(TOGETHER, "one sample without a label", log([NOTICE, *losses()]), silent="labels-masked-in-log"),
    case(TOGETHER, "a loss that falls to nothing", table(loss=falling(20, 0.0, 0.0), grad_norm=falling(20, 0.0, 0.0)),
         silent="loss-without-labels"),
]  # fmt: skip


@pytest.mark.parametrize("found", CASES, ids=lambda found: found.label)
def test_signal(found: Case, tmp_path: Path) -> None:
    check(found, tmp_path)


@pytest.mark.parametrize(
    ("columns", "judged"),
    [
        ({"non_score_reward": SLOW, "rlhf_reward": RISING}, "rlhf_reward"),
        ({"rewards/format/mean": SLOW, "reward": RISING}, "reward"),
    ],
)
def test_a_run_is_judged_by_all_that_it_earns(columns: dict[str, list[float]], judged: str, tmp_path: Path) -> None:
    for name, text in table("step", 1, **columns).items():
        (tmp_path / name).write_text(text)
    goal = objective(Run(Scope.of(tmp_path)).series)
    assert goal is not None
    assert goal.series.original == judged
