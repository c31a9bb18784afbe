"""Jumps that are learned again, runs thrown off their start, accuracies lost, parts that overfit, lists of layers."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from tests.tools.signal_case import Case, case, check, falling, table

CURVE, HYPER, OUTPUTS, ACTIVE, CHANGES, TOGETHER, GRADIENTS, SEAMS = (
    "analyze_loss_curve",
    "check_hyperparameters",
    "check_outputs",
    "check_activations",
    "find_changes",
    "compare_metrics",
    "check_gradients",
    "check_resumption",
)


def wobble(points: int, size: float = 0.01) -> np.ndarray:
    return np.random.default_rng(7).normal(0, size, points)


def jumped(back: float) -> list[float]:
    """Learns, jumps at the fortieth of eighty points, and comes back within about `back` points."""
    level = np.array(falling(80, 0.2, 0.005))
    level[40:] += 1.5 * np.exp(-np.arange(40) / back)
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


def streamed(before: str, after: str) -> dict[str, str]:
    """A history of JSON objects whose shard changes where the loss jumps, if it does."""
    rows = [
        {"step": 5 * n, "shard": before if n < 40 else after, "loss": value} for n, value in enumerate(jumped(12.0))
    ]
    return {"history.jsonl": "\n".join(map(json.dumps, rows)) + "\n"}


def listed(*sizes: float) -> dict[str, str]:
    """A log that lists the gradients of its layers below each other."""
    lines = []
    for epoch, value in enumerate(2.08 + wobble(12, 0.004)):
        lines.append(f"epoch {epoch} loss {value:.4f}")
        if epoch % 5 == 0:
            lines += [f"    blocks.{n}.weight    |w| 4.0{n}  |grad| {size:.2e}" for n, size in enumerate(sizes)]
    return {"train.log": "\n".join(lines) + "\n"}


def resumed(rate: float, level: float) -> dict[str, str]:
    """A falling loss; the log says that the job goes on, with this rate and from this level."""
    first = [f"epoch {n} lr {0.2 * (1 - n / 20):.4f} train {0.9 * 0.8**n:.4f}" for n in range(11)]
    second = [f"epoch {n} lr {rate:.4f} train {level * 0.95 ** (n - 11):.4f}" for n in range(11, 18)]
    return {"job.out": "\n".join([*first, "[resume] loaded ckpt.pt, continuing at epoch 11", *second]) + "\n"}


def faded(end: float, loss_end: float) -> dict[str, str]:
    norms = np.geomspace(0.4, end, 60)
    loss = np.concatenate([np.linspace(3.0, 2.2, 15), np.linspace(2.2, loss_end, 45)])
    return table("step", 10, loss=loss.round(4).tolist(), grad_norm=norms.round(6).tolist())


def judged(recall: float, precision: float) -> dict[str, str]:
    columns = {"loss": falling(8), "eval_accuracy": [0.1867] * 8}
    return table(**columns, eval_precision=[precision] * 8, eval_recall=[recall] * 8)


def configured(text: str) -> dict[str, str]:
    return {"config.yaml": text, **table(loss=falling())}


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


def measured(spread: float) -> dict[str, str]:
    """A spike in the loss, and a statistic of the inputs that stands at `spread` from there on."""
    loss = np.array(falling(30, 0.35, 0.004, start=0.3))
    loss[15:18] += [0.6, 0.2, 0.05]
    spreads = np.where(np.arange(30) < 15, 1.0, spread) + wobble(30, 0.004)
    return table(loss=loss.round(4).tolist(), feat_std=spreads.round(4).tolist())


def overflows(count: int) -> dict[str, str]:
    lines = []
    for n in range(60):
        if n < count:
            scale = 65536 / 2 ** (n + 1)
            lines.append(f"Gradient overflow.  Skipping step, loss scaler 0 reducing loss scale to {scale}")
        lines.append(f"Epoch: [1][{n}/60]\tLoss 3.4{n % 7}21 (3.4127)\tlr 0.1")
    return {"train.out": "\n".join(lines) + "\n"}


def successes(kept: float) -> str:
    rows = [
        {"epoch": n, "train_loss": 0.01, "success_cups": 1.0 if n < 10 else kept, "success_tools": float(n >= 11)}
        for n in range(24)
    ]
    return "\n".join(map(json.dumps, rows)) + "\n"


TYPED = (
    "import torch\nfrom torch import nn\n\nDTYPE = torch.{name}\nnet = nn.Linear(4, 2).to(DTYPE)\n"
    "opt = torch.optim.Adam(net.parameters(), lr=1e-3)\nfor x, y in data:\n    opt.zero_grad()\n"
    "    loss = net(x).sum()\n    loss.backward()\n    opt.step()\n"
)
DEEP = (
    "import torch.nn as nn\n\n\nclass Deep(nn.Module):\n    def __init__(self, d_in, depth={depth}):\n"
    "        super().__init__()\n        self.blocks = nn.ModuleList([nn.Linear(d_in, d_in) for _ in range(depth)])\n"
    "        self.act = nn.Sigmoid()\n\n    def forward(self, x):\n        for block in self.blocks:\n"
    "            x = self.act(block(x))\n        return x\n"
)
STACKED = (
    "import torch\nfrom torch import nn\n\nDEPTH = {depth}\nlayers = []\nfor _ in range(DEPTH):\n"
    "    layers += [nn.Linear(8, 8), nn.Sigmoid()]\nnet = nn.Sequential(*layers, nn.Linear(8, 2))\n"
)
SUMMARY = "Total params: {count}\n" + "\n".join(f"Epoch {n}/30 - loss: {v:.4f}" for n, v in enumerate(falling(), 1))
RULED = (0.69429 - 1e-5 * np.arange(60)).round(5).tolist()

CASES = [
    case(CURVE, "a jump that takes a quarter of the run", table("step", 5, loss=jumped(12.0)), "loss-relearned"),
    case(CURVE, "a bad batch", table("step", 5, loss=jumped(0.4)), "loss-spike-recovered", "loss-relearned"),
    case(CURVE, "thrown up, nothing learned", table(loss=thrown(2.0)), "loss-thrown-up", "loss-relearned"),
    case(CURVE, "thrown up, and learned all the same", table("step", 5, loss=jumped(0.4)), silent="loss-thrown-up"),
    case(CURVE, "validation all over the place", restless(0.6), "val-restless"),
    case(CURVE, "validation as calm as training", restless(0.02), silent="val-restless"),
    case(CURVE, "an accuracy that was there", learned_then_lost(0.08), "accuracy-lost"),
    case(CURVE, "an accuracy that went down a little", learned_then_lost(0.36), silent="accuracy-lost"),
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
    case(HYPER, "a type in the code", {"train.py": TYPED.format(name="float16"), **table(loss=falling())},
         "half-precision weights-in-half"),
    case(HYPER, "another type in the code", {"train.py": TYPED.format(name="float32"), **table(loss=falling())},
         silent="half-precision weights-in-half"),
    case(CHANGES, "inputs on another level", measured(1.3), "data-changed-at-onset"),
    case(CHANGES, "inputs as before", measured(1.0), silent="data-changed-at-onset"),
    case(TOGETHER, "a scale told in sentences", overflows(24), "loss-scale-at-floor"),
    case(TOGETHER, "a scale that finds its place", overflows(6), silent="loss-scale-at-floor"),
    case(TOGETHER, "the cups are forgotten", {"eval.jsonl": successes(0.0)}, "older-task-forgotten"),
    case(TOGETHER, "the cups are kept", {"eval.jsonl": successes(0.97)}, silent="older-task-forgotten"),
    case(ACTIVE, "of which layer", {"fit.log": "\n".join(
        f"step {n} mse {v:.4f} grad fc1 0 inactive(fc2) 1.00" for n, v in enumerate(falling()))}, "units-dead"),
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
    case(HYPER, "sixteen bits and nothing else", configured("precision: 16-true\nlr: 0.001\n"),
         "half-precision weights-in-half"),
    case(HYPER, "sixteen bits, mixed", configured("precision: 16-mixed\nlr: 0.001\n"), "half-precision",
         "weights-in-half"),
    case(HYPER, "two dozen parameters", {"fit.log": SUMMARY.format(count=25)}, "capacity-tiny"),
    case(HYPER, "a million parameters", {"fit.log": SUMMARY.format(count="1,234,567")}, silent="capacity-tiny"),
    case(HYPER, "twenty-five million", {"fit.log": SUMMARY.format(count="25M")}, silent="capacity-tiny"),
    case(CHANGES, "another shard in a history of objects", streamed("day-1", "day-2"), "data-changed-at-onset"),
    case(CHANGES, "the same shard", streamed("day-1", "day-1"), silent="data-changed-at-onset"),
    case(GRADIENTS, "a list of vanishing layers", listed(1e-8, 1e-6, 1e-4, 0.4), "gradients-vanish-towards-input",
         "gradients-even-over-layers"),
    case(GRADIENTS, "a list of even layers", listed(0.2, 0.3, 0.2, 0.4), "gradients-even-over-layers",
         "gradients-vanish-towards-input"),
    case(GRADIENTS, "layers by name in a line", {"train.log": "\n".join(
        f"[{n:02d}/20] train 0.69{n:02d} acc 0.5\n  |grad| per layer: L0=2e-11 L1=1e-6 L2=0.1" for n in range(1, 13))},
         "gradients-vanish-towards-input"),
    case(GRADIENTS, "measured before clipping", {"config.yaml": "grad_clip_norm: 0.0015\n", "train.log": "\n".join(
        f"iter {10 * n} | loss: {v:.4f} | grad_norm(before clip): 0.35{n:02d}" for n, v in enumerate(falling(), 1))},
         "updates-clipped-away"),
    case(GRADIENTS, "fades, and nothing is solved", faded(1e-4, 3.2), "grad-norm-faded"),
    case(GRADIENTS, "fades because all is solved", faded(1e-4, 0.1), silent="grad-norm-faded"),
    case(SEAMS, "resumed with the first rate again", resumed(0.2, 0.4), "resumed-with-a-jump"),
    case(SEAMS, "resumed as it was", resumed(0.09, 0.075), "resumed-smoothly", "resumed-with-a-jump"),
    case(OUTPUTS, "all are called positive", judged(1.0, 0.1867), "one-class-predicted"),
    case(OUTPUTS, "nearly all", judged(0.98, 0.2), silent="one-class-predicted"),
    case(ACTIVE, "layers listed by a heading", {"fit.log": "\n".join(
        f"epoch {n} | mse {v:.4f} | inactive units l1 100% l2 100% | grad l3 6e-01" for n, v in enumerate(falling()))},
         "units-dead", "activations-alive"),
    case(ACTIVE, "layers that fire", {"fit.log": "\n".join(
        f"epoch {n} | mse {v:.4f} | inactive units l1 4% l2 2% | grad l3 6e-01" for n, v in enumerate(falling()))},
         "activations-alive", "units-dead"),
    case(ACTIVE, "one activation for ten layers", {"net.py": DEEP.format(depth=10)}, "deep-saturating-stack"),
    case(ACTIVE, "a stack in a script", {"net.py": STACKED.format(depth=12)}, "deep-saturating-stack"),
    case(ACTIVE, "a small stack in a script", {"net.py": STACKED.format(depth=3)}, silent="deep-saturating-stack"),
    case(ACTIVE, "one activation for two layers", {"net.py": DEEP.format(depth=2)}, silent="deep-saturating-stack"),
    case(TOGETHER, "a box is no penalty", table(total_loss=[2.5] * 10, loss_cls=[1.0] * 10, loss_box_reg=[1.5] * 10),
         silent="penalty-dominates"),
    case(TOGETHER, "a penalty is one", table(loss=[2.5] * 10, ce=[1.0] * 10, reg=[1.5] * 10), "penalty-dominates"),
]  # fmt: skip


@pytest.mark.parametrize("found", CASES, ids=lambda found: found.label)
def test_signal(found: Case, tmp_path: Path) -> None:
    check(found, tmp_path)
