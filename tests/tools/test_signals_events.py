"""Lines of the log at the break: changes, errors, seams of resumed runs."""

from __future__ import annotations

import json
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
    jumped,
    log,
    losses,
    table,
    wobble,
)

CHANGES, ERRORS, RESUMPTION = "find_changes", "explain_error", "check_resumption"


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

SAVES = (
    "import torch\n\nmodel = torch.nn.Linear(2, 2)\nopt = torch.optim.Adam(model.parameters())\n"
    "torch.save({'model': model.state_dict(), 'optimizer': opt.state_dict()}, 'last.pt')\n"
)

BOTH = (
    "import torch\n\n\ndef restore(model, a):\n    state = torch.load('last.pt')\n"
    "    for part, name in ((model, 'model'), (a, 'adam')):\n        part.load_state_dict(state[name])\n\n\n"
    "model = torch.nn.Linear(2, 2)\nadam = torch.optim.Adam(model.parameters())\nrestore(model, adam)\n"
)

FAILED = 'epoch 1 loss 0.5\nTraceback (most recent call last):\n  File "train.py", line 1, in <module>\n    go()\n'

RAISED = 'Traceback (most recent call last):\n  File "train.py", line 3, in <module>\n'


def streamed(before: str, after: str) -> dict[str, str]:
    """A history of JSON objects whose shard changes where the loss jumps, if it does."""
    rows = [
        {"step": 5 * n, "shard": before if n < 40 else after, "loss": value} for n, value in enumerate(jumped(12.0))
    ]
    return {"history.jsonl": "\n".join(map(json.dumps, rows)) + "\n"}


def continued(rate: float, level: float) -> dict[str, str]:
    """A falling loss; the log says that the job goes on, with this rate and from this level."""
    first = [f"epoch {n} lr {0.2 * (1 - n / 20):.4f} train {0.9 * 0.8**n:.4f}" for n in range(11)]
    second = [f"epoch {n} lr {rate:.4f} train {level * 0.95 ** (n - 11):.4f}" for n in range(11, 18)]
    return {"job.out": "\n".join([*first, "[resume] loaded ckpt.pt, continuing at epoch 11", *second]) + "\n"}


def resumed_elsewhere(words: str) -> dict[str, str]:
    """A table of metrics in which the rate begins anew at step 1,000, and the words of the console beside it."""
    rates = [1e-3 * (1 - n / 80) for n in range(50)] + [1e-3 * (1 - n / 80) for n in range(30)]
    rows = [f"{20 * (n + 1)},{0.6 + 0.01 * (n % 3):.3f},{rate:.6f}" for n, rate in enumerate(rates)]
    return {"metrics.csv": "step,loss,lr\n" + "\n".join(rows) + "\n", "console.log": words}


def measured(spread: float) -> dict[str, str]:
    """A spike in the loss, and a statistic of the inputs that stands at `spread` from there on."""
    loss = np.array(falling(30, 0.35, 0.004, start=0.3))
    loss[15:18] += [0.6, 0.2, 0.05]
    spreads = np.where(np.arange(30) < 15, 1.0, spread) + wobble(30, 0.004)
    return table(loss=loss.round(4).tolist(), feat_std=spreads.round(4).tolist())


CASES = [
    case(RESUMPTION, "the loss jumps", resumed(2.6), "resumed-with-a-jump", "resumed-smoothly optimizer-not-restored"),
    case(RESUMPTION, "the rate jumps", resumed(1.0, (0.001, 0.1)), "resumed-with-a-jump", "resumed-smoothly"),
    case(RESUMPTION, "goes on where it was", resumed(1.0), "resumed-smoothly", "resumed-with-a-jump"),
    case(RESUMPTION, "was never resumed", resumed(2.6, words="saved a picture"),
         silent="resumed-with-a-jump resumed-smoothly"),
    case(RESUMPTION, "weights alone", resumed(2.6, script=LOADS), "optimizer-not-restored resumed-with-a-jump"),
    case(RESUMPTION, "weights and optimizer",
         resumed(2.6, script=LOADS + "optimizer.load_state_dict(state['optimizer'])\n"),
         "resumed-with-a-jump", "optimizer-not-restored"),
    case(RESUMPTION, "a target that is given the weights of the net",
         resumed(2.6, script="import torch\n\ntarget.load_state_dict(net.state_dict())\n"),
         "resumed-with-a-jump", "optimizer-not-restored"),
    case(RESUMPTION, "weights of a checkpoint that holds the optimizer", resumed(2.6, script=SAVES + LOADS),
         "optimizer-not-restored"),
    case(RESUMPTION, "a function that restores both by other names", resumed(2.6, script=BOTH),
         silent="optimizer-not-restored"),
    case(RESUMPTION, "an accelerator that restores everything",
         resumed(2.6, script="import accelerate\nacc = accelerate.Accelerator()\nacc.load_state('last')\n" + LOADS),
         silent="optimizer-not-restored"),
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
    case(CHANGES, "a jump that stays up, where the shard changes",
         {"progress.tsv": "step\tshard\tloss\n" + "".join(
             f"{n}\t{'b' if n > 60 else 'a'}\t{0.4 * 0.97 ** (n - 60) + 0.1 if n > 60 else 0.5 * 0.9 ** n + 0.01:.5f}\n"
             for n in range(1, 101))}, "data-changed-at-onset"),
    case(CHANGES, "a spike that is gone, where the shard changes",
         {"progress.tsv": "step\tshard\tloss\n" + "".join(
             f"{n}\t{'b' if n > 60 else 'a'}\t{0.4 * 0.7 ** (n - 61) + 0.01 if n > 60 else 0.5 * 0.9 ** n + 0.01:.5f}\n"
             for n in range(1, 101))}, silent="data-changed-at-onset"),
    case(CHANGES, "each line names its file",
         log([f"gauge_{n // 18}.pq step {n} loss {v:.4f}" for n, v in enumerate(broken())]), "data-changed-at-onset"),
    case(CHANGES, "each line names the same file",
         log([f"gauge_0.pq step {n} loss {v:.4f}" for n, v in enumerate(broken(), 0)]), silent="data-changed-at-onset"),
    case(ERRORS, "the scaler gives up",
         log([*losses(), RAISED + "FloatingPointError: Minimum loss scale reached (0.0001)."]), "error-loss-scale"),
    case(ERRORS, "another floating-point error", log([*losses(), RAISED + "FloatingPointError: overflow in exp"]),
         "error-unexplained", "error-loss-scale"),
    case(ERRORS, "killed, and nothing after it",
         log([*losses(), "slurmstepd: error: Detected 1 oom-kill event(s) in StepId=7.0"]), "error-host-memory",
         "error-at-the-end"),
    case(ERRORS, "a word of the driver that the run survived",
         log(["NCCL WARN Cuda failure 'peer access is not supported'", *losses()]), silent="error-at-the-end"),
    case(CHANGES, "a log whose first line names an optimizer",
         log(["model=mlp optimizer=Adam lr=1e-3", *(f"step={n} loss={v:.4f}" for n, v in enumerate(broken(), 1))]),
         silent="optimizer-changed-at-onset"),
    case(CHANGES, "a progress bar that writes over itself",
         log([f"\r 10%|# | loss={v + 0.1:.4f}, shard=a\r100%|##| epoch {n} loss {v:.4f} shard={'b' if n > 18 else 'a'}"
              for n, v in enumerate(broken(), 1)]), "data-changed-at-onset"),
    case(CHANGES, "inputs on another level", measured(1.3), "data-changed-at-onset"),
    case(CHANGES, "inputs as before", measured(1.0), silent="data-changed-at-onset"),
    case(CHANGES, "another shard in a history of objects", streamed("day-1", "day-2"), "data-changed-at-onset"),
    case(CHANGES, "the same shard", streamed("day-1", "day-1"), silent="data-changed-at-onset"),
    case(RESUMPTION, "resumed with the first rate again", continued(0.2, 0.4), "resumed-with-a-jump"),
    case(RESUMPTION, "the next seed begins",
         log([f"step {s}/100 loss {10.8 * 0.96 ** s + 3:.4f}" for _ in range(3) for s in range(0, 101, 5)]),
         silent="resumed-with-a-jump resumed-smoothly"),
    case(RESUMPTION, "resumed, and everything is lost",
         log([*(f"step {s} loss {10.8 * 0.96 ** s + 3:.4f}" for s in range(0, 101, 5)),
              "resuming from checkpoint last.pt",
              *(f"step {s} loss {10.8 * 0.96 ** s + 3:.4f}" for s in range(0, 101, 5))]), "resumed-with-a-jump"),
    case(RESUMPTION, "another file says at which step it was resumed",
         resumed_elsewhere("saved at step 1000\nresumed at step 1,000\n"), "resumed-with-a-jump", "resumed-smoothly"),
    case(RESUMPTION, "another file speaks of another step", resumed_elsewhere("resumed at step 200\n"),
         "resumed-smoothly", "resumed-with-a-jump"),
    case(RESUMPTION, "another file speaks of something else", resumed_elsewhere("evaluated at step 1000\n"),
         silent="resumed-with-a-jump resumed-smoothly"),
    case(RESUMPTION, "resumed as it was", continued(0.09, 0.075), "resumed-smoothly", "resumed-with-a-jump"),
]  # fmt: skip


@pytest.mark.parametrize("found", CASES, ids=lambda found: found.label)
def test_a_signal_fires_where_it_must_and_only_there(found: Case, tmp_path: Path) -> None:
    check(found, tmp_path)
