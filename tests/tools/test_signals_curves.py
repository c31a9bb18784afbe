"""Loss curves: where they break, what they learn, how validation and accuracy go with them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tests.tools.signal_case import (
    Case,
    broken,
    case,
    check,
    falling,
    jumped,
    log,
    losses,
    lost,
    table,
    wobble,
)

CURVE = "analyze_loss_curve"

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

LEARNED = [min(1.0, 0.3 + 0.05 * n) for n in range(30)]


def rated(peak: float, decay: bool) -> dict[str, str]:
    """A loss that falls a little: as much as the rate that was spent, or at once and then no more."""
    rates = np.linspace(peak, peak / 100, 60)
    spent = np.cumsum(rates) / rates.sum()
    fall = 0.2 * spent if decay else 0.2 * (1 - np.exp(-40 * spent))
    return table("step", 10, loss=(2.0 - fall).round(5).tolist(), lr=rates.tolist())


def arrived(points: int = 160) -> list[float]:
    """Hardly moves, drops in its last eighth, and stands still there."""
    level = np.full(points, 1.0)
    level[int(points * 0.88) :] = 0.05
    level += np.linspace(0.4, 0, points) * (level > 0.5) + 0.001 * np.sin(np.arange(points))
    return [round(float(value), 5) for value in level]


def thrown(above: float) -> list[float]:
    """Never gets below its start, and is thrown up once on the way."""
    level = 2.1 + wobble(40, 0.01)
    level[8:12] += [above, 0.6 * above, 0.3 * above, 0.1 * above]
    return [round(float(value), 5) for value in level]


def restless(size: float) -> dict[str, str]:
    val = 1.1 + np.abs(wobble(24, size))
    return table(loss=[4.0, *(1.2 + wobble(23, 0.01))], val_loss=val.round(4).tolist())


def learned_then_lost(end: float) -> dict[str, str]:
    accuracy = np.concatenate([[0.3, 0.42], np.linspace(0.2, end, 18)])
    return table(loss=(2.49 + wobble(20, 0.004)).round(4).tolist(), acc=accuracy.round(4).tolist())


def below_zero(accuracy: list[float] | None) -> dict[str, str]:
    """A loss that goes to -60, with an accuracy beside it or without one."""
    loss = np.linspace(-1.5, -60, 20).round(4).tolist()
    return table(loss=loss, acc=accuracy) if accuracy else table(loss=loss)


def parts(cls_rises: bool) -> dict[str, str]:
    """A detector's two losses, the smaller of which follows, while the larger one overfits or does not."""
    fall = np.array(falling(40, 0.002, 0.0005, start=1.0))
    rise = np.concatenate([np.linspace(1.4, 0.55, 10), np.linspace(0.55, 1.3 if cls_rises else 0.5, 30)])
    columns = {
        "train/box_loss": (0.1 * fall).round(6),
        "train/cls_loss": fall.round(6),
        "val/box_loss": np.linspace(0.06, 0.04, 40).round(5),
        "val/cls_loss": rise.round(5),
    }
    rows = zip(*columns.values(), strict=True)
    lines = [f"{n},{','.join(map(str, row))}" for n, row in enumerate(rows, 1)]
    return {"results.csv": "\n".join([f"epoch,{','.join(columns)}", *lines]) + "\n"}


def memorised(rise: float) -> dict[str, str]:
    """Training loss goes to nothing; validation turns by so much of its best."""
    val = np.concatenate([np.linspace(1.6, 1.0, 8), np.linspace(1.0, 1.0 + rise, 16)])
    return table(train_loss=(1.6 * np.exp(-np.arange(24) / 2.5)).round(6).tolist(), valid_loss=val.round(5).tolist())


def single() -> dict[str, str]:
    """Losses of single samples: their median falls, their mean does not; validation drifts up."""
    draws = np.random.default_rng(5)
    lines = []
    for step in range(1, 2001):
        easy = draws.random() < (0.2 if step < 400 else 0.6)
        value = draws.exponential(0.02 if easy else 1.2 if step < 400 else 2.4)
        lines.append(f"step={step} loss={value:.5f}")
        if step % 200 == 0:
            lines.append(f"eval step={step} val_loss={0.9 + 0.0002 * step:.4f}")
    return {"fit.log": "\n".join(lines) + "\n"}


RULED = (0.69429 - 1e-5 * np.arange(60)).round(5).tolist()


CASES = [
    case(CURVE, "leaves its start upwards", table(loss=[1.0, *around(1.4, 40, 0.1)]), "loss-above-its-start",
         "loss-fell"),
    case(CURVE, "a first dip below what follows", table(loss=[1.0, *falling(40)]), silent="loss-above-its-start"),
    case(CURVE, "one step to a level that holds", table(loss=STEPPED), "loss-stepped-level", "loss-shifted-level"),
    case(CURVE, "a step above its start", table(loss=[*falling(18), *around(4.0, 12)]), silent="loss-stepped-level"),
    case(CURVE, "one nan in the middle", table(loss=[*falling(20), NAN, *falling(20, 0.25, start=0.1)]),
         "loss-non-finite-briefly", "loss-non-finite nan-out-of-the-blue"),
    case(CURVE, "nan to the end", table(loss=lost(20)), "loss-non-finite nan-out-of-the-blue",
         "loss-non-finite-briefly loss-climbed-before-nan loss-non-finite-from-start"),
    case(CURVE, "climbs into nan", table(loss=lost(20, [2.0, 9.0, 80.0])), "loss-non-finite loss-climbed-before-nan",
         "nan-out-of-the-blue"),
    case(CURVE, "nan from the first value", table(loss=[NAN] * 10), "loss-non-finite loss-non-finite-from-start",
         "nan-out-of-the-blue"),
    case(CURVE, "finite throughout", table(loss=falling()), "loss-fell",
         "loss-non-finite loss-non-finite-briefly loss-non-finite-from-start loss-climbed-before-nan"),
    case(CURVE, "zeros beside nan gradients",
         table(loss=[*falling(20), *[0.0] * 6], grad_norm=[*[1.0] * 20, *[NAN] * 6]), "loss-nan-masked"),
    case(CURVE, "zeros beside small gradients",
         table(loss=[*falling(20), *[0.0] * 6], grad_norm=[*[1.0] * 20, *[0.001] * 6]), silent="loss-nan-masked"),
    case(CURVE, "explains nothing", table(loss=around(1.3), val_r2=around(0.0)), "loss-at-variance loss-never-fell"),
    case(CURVE, "explains a part", table(loss=around(1.3), val_r2=around(0.4)), silent="loss-at-variance"),
    case(CURVE, "one number", table(loss=[0.6931] * 20), "loss-constant", "loss-never-fell loss-fell"),
    case(CURVE, "one reward", table(reward=[0.016] * 20), "reward-constant", "loss-constant loss-never-fell"),
    case(CURVE, "nearly one reward", table(reward=around(0.9, 20, 0.0005)), "loss-never-fell", "reward-constant"),
    case(CURVE, "nearly one number", table(loss=around(0.9, 20, 0.0005)), "loss-never-fell", "loss-constant"),
    case(CURVE, "most of it is left", table(loss=falling(60, 2.0, start=0.8)), "loss-fell loss-stays-high"),
    case(CURVE, "little of it is left", table(loss=falling(60)), "loss-fell", "loss-stays-high"),
    case(CURVE, "a hundred steps", table("step", 5, loss=falling(20)), "run-very-short"),
    case(CURVE, "ten thousand steps", table("step", 500, loss=falling(20)), silent="run-very-short"),
    case(CURVE, "twenty epochs are no twenty steps", table(loss=falling(20)), silent="run-very-short"),
    case(CURVE, "no progress after a tenth", table(loss=[3.0, 2.4, 2.1, 2.0, *around(1.9, 56, 0.002)]),
         "loss-settled-early loss-fell", "loss-still-falling"),
    case(CURVE, "progress to the end", table(loss=np.linspace(3, 0.5, 60).round(4).tolist()),
         silent="loss-settled-early"),
    case(CURVE, "one order of samples", by_epoch(REPEATED, 12), "loss-repeats-every-epoch"),
    case(CURVE, "another order every epoch", by_epoch(SHUFFLED, 12), silent="loss-repeats-every-epoch"),
    case(CURVE, "a last evaluation far below", evaluated(2.0, 1.3, 0.9), "val-still-falling"),
    case(CURVE, "a last evaluation a little below", evaluated(2.0, 1.3, 1.25), silent="val-still-falling"),
    case(CURVE, "a last evaluation above the best", evaluated(0.7, 1.3, 0.9), silent="val-still-falling"),
    case(CURVE, "dropout in training alone", table(loss=falling(30, 1.0), val_loss=falling(30, 0.5)),
         "val-better-than-train val-follows-train", "val-equals-train"),
    case(CURVE, "the same level", table(loss=falling(30, 1.0), val_loss=falling(30, 1.02)),
         "val-equals-train val-follows-train", "val-better-than-train"),
    case(CURVE, "a usual gap", table(loss=falling(30, 1.0), val_loss=falling(30, 1.3)), "val-follows-train",
         "val-better-than-train val-equals-train"),
    case(CURVE, "nearly all right", table(loss=falling(), acc=np.linspace(0.3, 0.97, 30).round(3).tolist()),
         "accuracy-high", "accuracy-low-in-training"),
    case(CURVE, "half of them right", table(loss=falling(), train_acc=np.linspace(0.2, 0.55, 30).round(3).tolist()),
         "accuracy-low-in-training", "accuracy-high"),
    case(CURVE, "four fifths right", table(loss=falling(), train_acc=np.linspace(0.2, 0.82, 30).round(3).tolist()),
         silent="accuracy-low-in-training accuracy-high"),
    case(CURVE, "percent", table(loss=falling(), train_acc=np.linspace(20, 96, 30).round(1).tolist()), "accuracy-high"),
    case(CURVE, "a high accuracy before a break", table(loss=broken(), acc=[0.95] * 30), silent="accuracy-high"),
    case(CURVE, "to the last planned step", counted(500, 500), "run-completed"),
    case(CURVE, "all but the last tenth", counted(500, 450), silent="run-completed"),
    case(CURVE, "to the last of thirty steps", counted(30, 30, 1), silent="run-completed"),
    case(CURVE, "known by heart", table(train_loss=falling(), train_acc=LEARNED, val_acc=[0.6] * 30),
         "val-accuracy-lags", "accuracy-high"),
    case(CURVE, "five points behind", table(train_loss=falling(), train_acc=LEARNED, val_acc=[0.95] * 30),
         silent="val-accuracy-lags"),
    case(CURVE, "to a tenth", table(loss=falling(floor=0.1)), "loss-fell-far"),
    case(CURVE, "to a half", table(loss=falling(floor=2.0)), "loss-fell", "loss-fell-far"),
    case(CURVE, "stopped early", log(losses(after="Early stopping at epoch 31")), "run-ended-in-order"),
    case(CURVE, "what an evaluation printed beside the curve",
         {**log([f"iter {150 * n} val_nll {1 + 1.6 / (1 + n):.4f}" for n in range(7)]),
          "eval.txt": "checkpoint last.pt: nll 1.2900\n", "eval.log": "checkpoint last.pt: nll 1.2900\n"}, "loss-fell"),
    case(CURVE, "says how long it took", log(losses(after="Process 0 - Training time: 241.80 seconds")),
         "run-ended-in-order"),
    case(CURVE, "says how long the epoch took", log(losses(after="epoch 31 training time: 12.3 s")),
         silent="run-ended-in-order"),
    case(CURVE, "says that it is done", log(losses(after="INFO done training in 33.0 seconds")), "run-ended-in-order"),
    case(CURVE, "counts towards a stop", log(losses(after="Early stopping counter: 1 of 5")),
         silent="run-ended-in-order"),
    case(CURVE, "falls as fast as the rate lets it", rated(1e-5, decay=True), "loss-fell-slowly"),
    case(CURVE, "fell a little, long ago", rated(1e-5, decay=False), silent="loss-fell-slowly"),
    case(CURVE, "dropped with the rate and stands", table("step", 5, loss=arrived()), silent="loss-still-falling"),
    case(CURVE, "four epochs", table(loss=[2.0, 1.0, 0.6, 0.5]), "loss-fell"),
    case(CURVE, "two epochs", table(loss=[2.0, 1.0]), silent="loss-fell"),
    case(CURVE, "worse than its own baseline",
         log(["baseline: linear model, test RMSE 0.0750",
              *(f"epoch {n} train RMSE {v:.4f} test RMSE {v:.4f}" for n, v in enumerate(falling(), 1))]),
         "worse-than-baseline"),
    case(CURVE, "better than its own baseline",
         log(["baseline: linear model, test RMSE 0.7500",
              *(f"epoch {n} train RMSE {v:.4f} test RMSE {v:.4f}" for n, v in enumerate(falling(), 1))]),
         silent="worse-than-baseline"),
    case(CURVE, "eight epochs, each better by as much",
         table(loss=[0.32, 0.17, 0.144, 0.129, 0.121, 0.114, 0.108, 0.103]), "loss-still-falling"),
    case(CURVE, "a jump that takes a quarter of the run", table("step", 5, loss=jumped(12.0)), "loss-relearned"),
    case(CURVE, "a bad batch", table("step", 5, loss=jumped(0.4)), "loss-spike-recovered", "loss-relearned"),
    case(CURVE, "thrown up, nothing learned", table(loss=thrown(2.0)), "loss-thrown-up", "loss-relearned"),
    case(CURVE, "thrown up, and learned all the same", table("step", 5, loss=jumped(0.4)), silent="loss-thrown-up"),
    case(CURVE, "validation all over the place", restless(0.6), "val-restless"),
    case(CURVE, "validation as calm as training", restless(0.02), silent="val-restless"),
    case(CURVE, "an accuracy that was there", learned_then_lost(0.08), "accuracy-lost"),
    case(CURVE, "an accuracy that went down a little", learned_then_lost(0.36), silent="accuracy-lost"),
    case(CURVE, "below zero, and nothing learned", below_zero(np.linspace(0.12, 0.09, 20).round(4).tolist()),
         "negative-loss-at-chance"),
    case(CURVE, "below zero, and learned", below_zero(np.linspace(0.12, 0.9, 20).round(4).tolist()),
         silent="negative-loss-at-chance"),
    case(CURVE, "a density, which has no accuracy", below_zero(None), silent="negative-loss-at-chance"),
    case(CURVE, "means that wander", table(loss=(1.25 + wobble(30, 0.06)).round(4).tolist()), "loss-wanders"),
    case(CURVE, "means that stay", table(loss=(1.1 + wobble(30, 0.002)).round(4).tolist()), "loss-never-fell",
         "loss-wanders"),
    case(CURVE, "batches that wander", table("step", 10, loss=(1.1 + wobble(30, 0.06)).round(4).tolist()),
         silent="loss-wanders"),
    case(CURVE, "the larger part overfits", parts(True), "val-rises-while-train-falls"),
    case(CURVE, "both parts follow", parts(False), silent="val-rises-while-train-falls"),
    case(CURVE, "known by heart, and turned a little", memorised(0.09), "val-rises-while-train-falls"),
    case(CURVE, "known by heart, and level", memorised(0.0), silent="val-rises-while-train-falls"),
    case(CURVE, "along a ruler, by next to nothing", table(loss=RULED), "loss-fell-slowly"),
    case(CURVE, "a plateau at ln 2", table(loss=(0.6931 + wobble(60, 0.0005)).round(5).tolist()), "loss-at-chance",
         "loss-fell-slowly"),
    case(CURVE, "a counter is no loss", {"m.csv": "eval_at,acc\n" + "\n".join(f"{500 * n},0.9" for n in range(1, 9))},
         silent="loss-diverged loss-never-fell"),
    case(CURVE, "an explosion, and then a plateau", table(loss=[1600.0, *(0.3 + wobble(24, 0.01)).round(4).tolist()]),
         "loss-dropped-at-once"),
    case(CURVE, "a steep start", table(loss=[160.0, *falling(24)]), silent="loss-dropped-at-once"),
    case(CURVE, "single losses, as high as ever on average", single(), silent="val-rises-while-train-falls"),
]  # fmt: skip


@pytest.mark.parametrize("found", CASES, ids=lambda found: found.label)
def test_a_signal_fires_where_it_must_and_only_there(found: Case, tmp_path: Path) -> None:
    check(found, tmp_path)
