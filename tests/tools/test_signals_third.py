"""Rates beyond every recipe, confusion matrices, layers under a heading, how a run says that it is done."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tests.tools.signal_case import Case, broken, case, check, falling, table

CURVE, HYPER, OUTPUTS, ACTIVE, ERRORS, CHANGES, TOGETHER = (
    "analyze_loss_curve",
    "check_hyperparameters",
    "check_outputs",
    "check_activations",
    "find_errors",
    "find_changes",
    "compare_metrics",
)
FAILED = 'Traceback (most recent call last):\n  File "train.py", line 3, in <module>\n'


def log(lines: list[str]) -> dict[str, str]:
    return {"train.log": "\n".join(lines) + "\n"}


def losses(points: int = 30, after: str = "") -> list[str]:
    return [f"epoch {n} loss {value:.4f}" for n, value in enumerate(falling(points), 1)] + ([after] if after else [])


def matrix(*rows: str) -> dict[str, str]:
    return log([*losses(), "confusion matrix (rows true, columns predicted)", *rows])


def layers(heading: str, *shares: float) -> dict[str, str]:
    told = " ".join(f"h{n}={share}" for n, share in enumerate(shares, 1))
    return log([f"[{n:04d}] loss={value:.4f} {heading} {told}" for n, value in enumerate(falling(), 1)])


def rated(peak: float, decay: bool) -> dict[str, str]:
    """A loss that falls a little: as much as the rate that was spent, or at once and then no more."""
    rates = np.linspace(peak, peak / 100, 60)
    spent = np.cumsum(rates) / rates.sum()
    fall = 0.2 * spent if decay else 0.2 * (1 - np.exp(-40 * spent))
    return table("step", 10, loss=(2.0 - fall).round(5).tolist(), lr=rates.tolist())


def trained(script: str, **columns: list[float]) -> dict[str, str]:
    return {"train.py": "import torch\nimport torch.nn as nn\n" + script, **table(loss=falling(), **columns)}


NET = "class Net(nn.Module):\n    def forward(self, x):\n        x = torch.relu(self.a(x))\n        return {}\n"
PENALISED = np.linspace(2.8, 0.1, 30)


def arrived(points: int = 160) -> list[float]:
    """Hardly moves, drops in its last eighth, and stands still there."""
    level = np.full(points, 1.0)
    level[int(points * 0.88) :] = 0.05
    level += np.linspace(0.4, 0, points) * (level > 0.5) + 0.001 * np.sin(np.arange(points))
    return [round(float(value), 5) for value in level]


CASES = [
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
    case(CURVE, "to a tenth", table(loss=falling(floor=0.1)), "loss-fell-far"),
    case(CURVE, "to a half", table(loss=falling(floor=2.0)), "loss-fell", "loss-fell-far"),
    case(CURVE, "stopped early", log(losses(after="Early stopping at epoch 31")), "run-ended-in-order"),
    case(CURVE, "says that it is done", log(losses(after="INFO done training in 33.0 seconds")), "run-ended-in-order"),
    case(CURVE, "counts towards a stop", log(losses(after="Early stopping counter: 1 of 5")),
         silent="run-ended-in-order"),
    case(CURVE, "falls as fast as the rate lets it", rated(1e-5, decay=True), "loss-fell-slowly"),
    case(CURVE, "fell a little, long ago", rated(1e-5, decay=False), silent="loss-fell-slowly"),
    case(CURVE, "dropped with the rate and stands", table("step", 5, loss=arrived()), silent="loss-still-falling"),
    case(CURVE, "four epochs", table(loss=[2.0, 1.0, 0.6, 0.5]), "loss-fell"),
    case(CURVE, "two epochs", table(loss=[2.0, 1.0]), silent="loss-fell"),
    case(OUTPUTS, "one column has it all", matrix("disc 0 0 95", "ring 0 0 96", "bolt 0 1 107"), "one-class-predicted"),
    case(OUTPUTS, "a matrix in one line", log([*losses(), "epoch 31 confusion [[0, 50], [0, 48]]"]),
         "one-class-predicted"),
    case(OUTPUTS, "a diagonal", matrix("disc 90 3 2", "ring 1 95 0", "bolt 0 1 107"), silent="one-class-predicted"),
    case(OUTPUTS, "only one class there is", matrix("disc 0 0 0", "ring 0 0 0", "bolt 0 0 107"),
         silent="one-class-predicted"),
    case(OUTPUTS, "nothing under the word", log([*losses(), "confusion matrix saved to cm.png"]),
         silent="one-class-predicted"),
    case(ACTIVE, "beyond .99, by the heading", layers("|h|>.99:", 0.91, 0.93), "activations-saturated"),
    case(ACTIVE, "saturated, by the heading", layers("saturated", 0.91, 0.93), "activations-saturated"),
    case(ACTIVE, "layers of something else", layers("mean", 0.91, 0.93), silent="activations-saturated units-dead"),
    case(ACTIVE, "beyond 0.99, by the name", table(loss=falling(), **{"act/l1_frac_abs_gt_0.99": [0.8] * 30}),
         "activations-saturated"),
    case(ACTIVE, "eight units in use", table(loss=falling(), active_units=[8] * 30), silent="units-dead"),
    case(ACTIVE, "a net that ends in a ReLU", trained(NET.format("torch.relu(self.b(x))")), "relu-at-output"),
    case(ACTIVE, "a net with a ReLU inside", trained(NET.format("self.b(x)")), silent="relu-at-output"),
    case(OUTPUTS, "one number whatever goes in", table(loss=falling(), pred_mean=[0.0] * 30), "outputs-constant"),
    case(OUTPUTS, "a mean that moves", table(loss=falling(), pred_mean=np.linspace(0, 0.4, 30).tolist()),
         silent="outputs-constant"),
    case(OUTPUTS, "no pixel of one class", table(loss=falling(), **{"IoU.lesion": [0.0] * 30}), "one-class-predicted"),
    case(OUTPUTS, "samples in a circle", {"completions.jsonl": "".join(
        f'{{"step": {n}, "samples": ["{"the dull doc cast bad " * 20}"]}}\n' for n in range(3))}, "outputs-collapsed"),
    case(OUTPUTS, "samples that vary", {"completions.jsonl": "".join(
        f'{{"step": {n}, "samples": ["{" ".join(f"word{k}" for k in range(60))}"]}}\n' for n in range(3))},
         silent="outputs-collapsed"),
    case(TOGETHER, "a penalty that is the loss",
         table(loss=(1.39 + PENALISED).round(4).tolist(), l1=PENALISED.round(4).tolist()), "penalty-dominates"),
    case(TOGETHER, "a penalty beside a loss that falls",
         table(loss=(np.array(falling()) + PENALISED).round(4).tolist(), l1=PENALISED.round(4).tolist()),
         silent="penalty-dominates"),
    case(HYPER, "a warm-up of zero",
         {"config.yaml": "optimizer: sgd\nlr: 0.2\nwarmup_adim: 0\n", **table(loss=falling())}, "warmup-zero"),
    case(HYPER, "a warm-up of zero at a modest rate",
         {"config.yaml": "optimizer: adamw\nlr: 0.00003\nwarmup_steps: 0\n", **table(loss=falling())},
         silent="warmup-zero"),
    case(CURVE, "worse than its own baseline",
         log(["baseline: linear model, test RMSE 0.0750",
              *(f"epoch {n} train RMSE {v:.4f} test RMSE {v:.4f}" for n, v in enumerate(falling(), 1))]),
         "worse-than-baseline"),
    case(CURVE, "better than its own baseline",
         log(["baseline: linear model, test RMSE 0.7500",
              *(f"epoch {n} train RMSE {v:.4f} test RMSE {v:.4f}" for n, v in enumerate(falling(), 1))]),
         silent="worse-than-baseline"),
    case("check_gradients", "a list of layers",
         log([*losses(), "|grad| per layer: 1.0e-06 4.2e-06 1.9e-04 5.0e-01"]), "gradients-vanish-towards-input"),
    case("check_gradients", "a list of layers alike", log([*losses(), "|grad| per layer: 0.2 0.1 0.3 0.5"]),
         "gradients-even-over-layers", "gradients-vanish-towards-input"),
    case(CHANGES, "a jump that stays up, where the shard changes",
         {"progress.tsv": "step\tshard\tloss\n" + "".join(
             f"{n}\t{'b' if n > 60 else 'a'}\t{0.4 * 0.97 ** (n - 60) + 0.1 if n > 60 else 0.5 * 0.9 ** n + 0.01:.5f}\n"
             for n in range(1, 101))}, "data-changed-at-onset"),
    case(CHANGES, "a spike that is gone, where the shard changes",
         {"progress.tsv": "step\tshard\tloss\n" + "".join(
             f"{n}\t{'b' if n > 60 else 'a'}\t{0.4 * 0.7 ** (n - 61) + 0.01 if n > 60 else 0.5 * 0.9 ** n + 0.01:.5f}\n"
             for n in range(1, 101))}, silent="data-changed-at-onset"),
    case(HYPER, "the first record is the settings",
         {"log.jsonl": '{"batch_size": 2, "lr": 0.06}\n' + "".join(
             f'{{"iter": {n}, "loss": {v}}}\n' for n, v in enumerate(falling(), 1))}, "batch-tiny"),
    case(OUTPUTS, "right on the whole, and as good as guessing",
         table(loss=falling(), acc=[0.98 + 0.0001 * n for n in range(30)], bal_acc=[0.52] * 30), "one-class-predicted"),
    case(OUTPUTS, "right on the whole and in each class",
         table(loss=falling(), acc=[0.98 + 0.0001 * n for n in range(30)], bal_acc=[0.93] * 30),
         silent="one-class-predicted"),
    case(OUTPUTS, "one mode and never more", table(loss=falling(), modes_hit=[1] * 30), silent="outputs-varied"),
    case(ACTIVE, "never fires", table(loss=falling(), fc1_never_fires=[1.0] * 30), "units-dead"),
    case("check_gradients", "hardly an update", table(loss=falling(), upd_ratio=[4.9e-7] * 30), "updates-tiny"),
    case("check_gradients", "an update of a thousandth", table(loss=falling(), upd_ratio=[1e-3] * 30),
         silent="updates-tiny"),
    case("check_initialisation", "zeros in a last layer",
         trained("net = build()\nfor p in net[-1].parameters():\n    nn.init.zeros_(p)\n"), silent="init-constant"),
    case("check_initialisation", "zeros everywhere",
         trained("net = build()\nfor p in net.parameters():\n    nn.init.zeros_(p)\n"), "init-constant"),
    case("check_gradients", "the threshold, step after step",
         {"config.yaml": "max_grad_norm: 0.002\n", **table(loss=falling(), g_after=[0.002] * 30)},
         "updates-clipped-away"),
    case("check_gradients", "the threshold now and then",
         {"config.yaml": "max_grad_norm: 0.5\n", **table(loss=falling(), g_after=[0.5, 0.1, 0.2] * 10)},
         silent="updates-clipped-away"),
    case("check_math", "a logarithm of one plus anything",
         {"train.py": "import torch\ndef f(p, y):\n    return ((torch.log1p(p) - torch.log1p(y)) ** 2).mean()\n"},
         "math-unguarded"),
    case("check_math", "a logarithm of one plus what is not negative",
         {"train.py": "import torch\ndef f(p):\n    return torch.log1p(torch.relu(p)).mean()\n"},
         silent="math-unguarded"),
    case(CHANGES, "each line names its file",
         log([f"gauge_{n // 18}.pq step {n} loss {v:.4f}" for n, v in enumerate(broken())]), "data-changed-at-onset"),
    case(CHANGES, "each line names the same file",
         log([f"gauge_0.pq step {n} loss {v:.4f}" for n, v in enumerate(broken(), 0)]), silent="data-changed-at-onset"),
    case(CURVE, "eight epochs, each better by as much",
         table(loss=[0.32, 0.17, 0.144, 0.129, 0.121, 0.114, 0.108, 0.103]), "loss-still-falling"),
    case("check_gradients", "a setting that is logged",
         {"config.yaml": "clip_range: 0.2\n", **table(loss=falling(), clip_range=[0.2] * 30)},
         silent="updates-clipped-away"),
    case(ERRORS, "the scaler gives up",
         log([*losses(), FAILED + "FloatingPointError: Minimum loss scale reached (0.0001)."]), "error-loss-scale"),
    case(ERRORS, "another floating-point error", log([*losses(), FAILED + "FloatingPointError: overflow in exp"]),
         "error-unexplained", "error-loss-scale"),
    case(CHANGES, "a log whose first line names an optimizer",
         log(["model=mlp optimizer=Adam lr=1e-3", *(f"step={n} loss={v:.4f}" for n, v in enumerate(broken(), 1))]),
         silent="optimizer-changed-at-onset"),
    case(TOGETHER, "two tasks with long names",
         table(loss=falling(), acc_bank_v1=np.linspace(0.95, 0.1, 30).round(3).tolist(),
               acc_home_v2=np.linspace(0.1, 0.95, 30).round(3).tolist()), "older-task-forgotten"),
]  # fmt: skip


@pytest.mark.parametrize("found", CASES, ids=lambda found: found.label)
def test_a_signal_fires_where_it_must_and_only_there(found: Case, tmp_path: Path) -> None:
    check(found, tmp_path)
