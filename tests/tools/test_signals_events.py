"""Outputs that collapse, seams of resumed runs, adversaries, and lines of the log."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from tests.tools.signal_case import Case, broken, case, check, falling, table

OUTPUTS, SEAMS, PAIRS, CHANGES, ERRORS = (
    "check_outputs", "check_resumption", "compare_metrics", "find_changes", "find_errors",
)  # fmt: skip


def game(d: Sequence[float], g: Sequence[float]) -> dict[str, str]:
    return table(d_loss=d, g_loss=g)


def around(level: float, points: int = 30, size: float = 0.05) -> list[float]:
    values: list[float] = (level + np.random.default_rng(1).normal(0, size, points)).round(4).tolist()
    return values


def samples(lines: Sequence[str]) -> dict[str, str]:
    return {**table(loss=falling()), "samples.txt": "\n".join(lines) + "\n"}


def said(curve: Sequence[float], line: str, before: int) -> dict[str, str]:
    lines = [f"epoch {n} loss {value:.4f}" for n, value in enumerate(curve, 1)]
    return {"train.log": "\n".join([*lines[:before], line, *lines[before:]]) + "\n"}


def resumed(
    after: float, rates: tuple[float, float] = (0.1, 0.1), script: str = "", words: str = "resuming from checkpoint"
) -> dict[str, str]:
    """Twenty epochs down to 1.0, a word about a checkpoint, twenty epochs from `after` on."""
    first = [f"epoch {n} loss {3.0 - 0.1 * n:.4f} lr {rates[0]}" for n in range(1, 21)]
    second = [f"epoch {20 + n} loss {after - 0.01 * n:.4f} lr {rates[1]}" for n in range(1, 21)]
    files = {"train.log": "\n".join([*first, words, *second]) + "\n"}
    return {**files, "train.py": script} if script else files


LOADS = "import torch\n\nstate = torch.load('last.pt')\nmodel.load_state_dict(state['model'])\n"
FAILED = 'epoch 1 loss 0.5\nTraceback (most recent call last):\n  File "train.py", line 1, in <module>\n    go()\n'

CASES = [
    case(OUTPUTS, "one sample is left", table(loss=falling(), distinct=[40, 38, 30, *[1] * 27]), "outputs-collapsed",
         "outputs-varied"),
    case(OUTPUTS, "as varied as ever", table(loss=falling(), distinct=[40, 38, *[39] * 28]), "outputs-varied",
         "outputs-collapsed"),
    case(OUTPUTS, "a third is left", table(loss=falling(), distinct=[40, 38, *[14] * 28]),
         silent="outputs-varied outputs-collapsed"),
    case(OUTPUTS, "one sentence over and over", samples(["the cat sat on the mat today"] * 20), "outputs-collapsed"),
    case(OUTPUTS, "twenty sentences", samples([f"sample {n} tells of {n * 7} other things" for n in range(20)]),
         silent="outputs-collapsed"),
    case(OUTPUTS, "no recall at all", table(loss=falling(), recall=[0.1, 0.05, *[0.0] * 28]), "one-class-predicted",
         "accuracy-frozen"),
    case(OUTPUTS, "a little recall", table(loss=falling(), recall=[0.1, 0.05, *[0.02, 0.01] * 14]),
         silent="one-class-predicted"),
    case(OUTPUTS, "one accuracy for ever", table(loss=falling(), val_acc=[0.9125] * 30), "accuracy-frozen",
         "one-class-predicted"),
    case(OUTPUTS, "an accuracy of one for ever", table(loss=falling(), val_acc=[1.0] * 30), silent="accuracy-frozen"),
    case(OUTPUTS, "an accuracy that has arrived", table(loss=falling(), val_acc=[0.5, 0.7, 0.8, *[0.9125] * 27]),
         silent="accuracy-frozen"),
    case(SEAMS, "the loss jumps", resumed(2.6), "resumed-with-a-jump", "resumed-smoothly optimizer-not-restored"),
    case(SEAMS, "the rate jumps", resumed(1.0, (0.001, 0.1)), "resumed-with-a-jump", "resumed-smoothly"),
    case(SEAMS, "goes on where it was", resumed(1.0), "resumed-smoothly", "resumed-with-a-jump"),
    case(SEAMS, "was never resumed", resumed(2.6, words="saved a picture"),
         silent="resumed-with-a-jump resumed-smoothly"),
    case(SEAMS, "weights alone", resumed(2.6, script=LOADS), "optimizer-not-restored resumed-with-a-jump"),
    case(SEAMS, "weights and optimizer",
         resumed(2.6, script=LOADS + "optimizer.load_state_dict(state['optimizer'])\n"),
         "resumed-with-a-jump", "optimizer-not-restored"),
    case(PAIRS, "in balance", game(around(1.38), around(0.7)), "adversaries-balanced", "discriminator-wins"),
    case(PAIRS, "one runs away", game(around(1.38), np.geomspace(0.7, 900, 30).round(3).tolist()),
         silent="adversaries-balanced"),
    case(CHANGES, "resumed long before", said(broken(), "Resuming from checkpoint step 1800", 5),
         silent="resumed-at-onset"),
    case(CHANGES, "the rate set long before", said(broken(), "set learning rate to 0.3", 5),
         silent="lr-announced-at-onset"),
    case(CHANGES, "the rate merely told", said(broken(), "learning rate 0.3", 18), silent="lr-announced-at-onset"),
    case(CHANGES, "a resumption the loss survives", said(falling(), "Resuming from checkpoint step 1800", 18),
         silent="resumed-at-onset"),
    case(ERRORS, "another freed thing", {"train.log": FAILED + "RuntimeError: the buffer has been freed\n"},
         silent="error-state-graph"),
    case(ERRORS, "a missing key is no missing file", {"train.log": FAILED + "KeyError: 'train.bin'\n"},
         "error-unexplained", "error-missing-file"),
]  # fmt: skip


@pytest.mark.parametrize("found", CASES, ids=lambda found: found.label)
def test_a_signal_fires_where_it_must_and_only_there(found: Case, tmp_path: Path) -> None:
    check(found, tmp_path)
