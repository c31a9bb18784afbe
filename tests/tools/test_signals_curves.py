"""Loss curves: where they break, what they learn, how validation and accuracy go with them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tests.tools.signal_case import Case, broken, case, check, falling, lost, table

TOOL = "analyze_loss_curve"
NAN = float("nan")


def noise(points: int, size: float = 0.01) -> list[float]:
    values: list[float] = np.random.default_rng(3).normal(0, size, points).round(5).tolist()
    return values


def around(level: float, points: int = 30, size: float = 0.01) -> list[float]:
    return [level + wobble for wobble in noise(points, size)]


def by_epoch(values: list[float], length: int) -> dict[str, str]:
    """A log that tells step and epoch of each loss."""
    lines = [f"epoch {1 + n // length} step {n} loss {value:.4f}" for n, value in enumerate(values)]
    return {"train.log": "\n".join(lines) + "\n"}


def evaluated(*val: float) -> dict[str, str]:
    """A log of thirty epochs with a few evaluations, the last one at its end."""
    lines = [f"epoch {n} loss {value:.4f}" for n, value in enumerate(falling(30), 1)]
    for n, value in enumerate(val, 1):
        lines[30 * n // len(val) - 1] += f" val_loss {value:.4f}"
    return {"train.log": "\n".join(lines) + "\n"}


def counted(total: int, last: int, every: int = 10) -> dict[str, str]:
    """A log that tells how many steps were planned, up to the last one that was made."""
    steps = range(every, last + 1, every)
    lines = [f"step {step}/{total} loss {value:.4f}" for step, value in zip(steps, falling(len(steps)), strict=True)]
    return {"train.log": "\n".join(lines) + "\n"}


REPEATED = [2.0 - 0.1 * (n // 12) + 0.3 * np.sin(2.1 * (n % 12)) for n in range(72)]
SHUFFLED = [2.0 - 0.1 * (n // 12) + wobble for n, wobble in enumerate(noise(72, 0.2))]
STEPPED = [*falling(18), *around(1.2, 12, 0.005)]

CASES = [
    case(TOOL, "leaves its start upwards", table(loss=[1.0, *around(1.4, 40, 0.1)]), "loss-above-its-start",
         "loss-fell"),
    case(TOOL, "a first dip below what follows", table(loss=[1.0, *falling(40)]), silent="loss-above-its-start"),
    case(TOOL, "one step to a level that holds", table(loss=STEPPED), "loss-stepped-level", "loss-shifted-level"),
    case(TOOL, "a step above its start", table(loss=[*falling(18), *around(4.0, 12)]), silent="loss-stepped-level"),
    case(TOOL, "one nan in the middle", table(loss=[*falling(20), NAN, *falling(20, 0.25, start=0.1)]),
         "loss-non-finite-briefly", "loss-non-finite nan-out-of-the-blue"),
    case(TOOL, "nan to the end", table(loss=lost(20)), "loss-non-finite nan-out-of-the-blue",
         "loss-non-finite-briefly loss-climbed-before-nan loss-non-finite-from-start"),
    case(TOOL, "climbs into nan", table(loss=lost(20, [2.0, 9.0, 80.0])), "loss-non-finite loss-climbed-before-nan",
         "nan-out-of-the-blue"),
    case(TOOL, "nan from the first value", table(loss=[NAN] * 10), "loss-non-finite loss-non-finite-from-start",
         "nan-out-of-the-blue"),
    case(TOOL, "finite throughout", table(loss=falling()), "loss-fell",
         "loss-non-finite loss-non-finite-briefly loss-non-finite-from-start loss-climbed-before-nan"),
    case(TOOL, "zeros beside nan gradients",
         table(loss=[*falling(20), *[0.0] * 6], grad_norm=[*[1.0] * 20, *[NAN] * 6]), "loss-nan-masked"),
    case(TOOL, "zeros beside small gradients",
         table(loss=[*falling(20), *[0.0] * 6], grad_norm=[*[1.0] * 20, *[0.001] * 6]), silent="loss-nan-masked"),
    case(TOOL, "explains nothing", table(loss=around(1.3), val_r2=around(0.0)), "loss-at-variance loss-never-fell"),
    case(TOOL, "explains a part", table(loss=around(1.3), val_r2=around(0.4)), silent="loss-at-variance"),
    case(TOOL, "one number", table(loss=[0.6931] * 20), "loss-constant", "loss-never-fell loss-fell"),
    case(TOOL, "nearly one number", table(loss=around(0.9, 20, 0.0005)), "loss-never-fell", "loss-constant"),
    case(TOOL, "most of it is left", table(loss=falling(60, 2.0, start=0.8)), "loss-fell loss-stays-high"),
    case(TOOL, "little of it is left", table(loss=falling(60)), "loss-fell", "loss-stays-high"),
    case(TOOL, "a hundred steps", table("step", 5, loss=falling(20)), "run-very-short"),
    case(TOOL, "ten thousand steps", table("step", 500, loss=falling(20)), silent="run-very-short"),
    case(TOOL, "twenty epochs are no twenty steps", table(loss=falling(20)), silent="run-very-short"),
    case(TOOL, "no progress after a tenth", table(loss=[3.0, 2.4, 2.1, 2.0, *around(1.9, 56, 0.002)]),
         "loss-settled-early loss-fell", "loss-still-falling"),
    case(TOOL, "progress to the end", table(loss=np.linspace(3, 0.5, 60).round(4).tolist()),
         silent="loss-settled-early"),
    case(TOOL, "one order of samples", by_epoch(REPEATED, 12), "loss-repeats-every-epoch"),
    case(TOOL, "another order every epoch", by_epoch(SHUFFLED, 12), silent="loss-repeats-every-epoch"),
    case(TOOL, "a last evaluation far below", evaluated(2.0, 1.3, 0.9), "val-still-falling"),
    case(TOOL, "a last evaluation a little below", evaluated(2.0, 1.3, 1.25), silent="val-still-falling"),
    case(TOOL, "a last evaluation above the best", evaluated(0.7, 1.3, 0.9), silent="val-still-falling"),
    case(TOOL, "dropout in training alone", table(loss=falling(30, 1.0), val_loss=falling(30, 0.5)),
         "val-better-than-train val-follows-train", "val-equals-train"),
    case(TOOL, "the same level", table(loss=falling(30, 1.0), val_loss=falling(30, 1.02)),
         "val-equals-train val-follows-train", "val-better-than-train"),
    case(TOOL, "a usual gap", table(loss=falling(30, 1.0), val_loss=falling(30, 1.3)), "val-follows-train",
         "val-better-than-train val-equals-train"),
    case(TOOL, "nearly all right", table(loss=falling(), acc=np.linspace(0.3, 0.97, 30).round(3).tolist()),
         "accuracy-high", "accuracy-low-in-training"),
    case(TOOL, "half of them right", table(loss=falling(), train_acc=np.linspace(0.2, 0.55, 30).round(3).tolist()),
         "accuracy-low-in-training", "accuracy-high"),
    case(TOOL, "four fifths right", table(loss=falling(), train_acc=np.linspace(0.2, 0.82, 30).round(3).tolist()),
         silent="accuracy-low-in-training accuracy-high"),
    case(TOOL, "percent", table(loss=falling(), train_acc=np.linspace(20, 96, 30).round(1).tolist()), "accuracy-high"),
    case(TOOL, "a high accuracy before a break", table(loss=broken(), acc=[0.95] * 30), silent="accuracy-high"),
    case(TOOL, "to the last planned step", counted(500, 500), "run-completed"),
    case(TOOL, "all but the last tenth", counted(500, 450), silent="run-completed"),
    case(TOOL, "to the last of thirty steps", counted(30, 30, 1), silent="run-completed"),
]  # fmt: skip


@pytest.mark.parametrize("found", CASES, ids=lambda found: found.label)
def test_a_signal_fires_where_it_must_and_only_there(found: Case, tmp_path: Path) -> None:
    check(found, tmp_path)
