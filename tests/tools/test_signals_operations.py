"""What operations leave behind: errors that were outlived, monitors, ids, adapters, tokens; each with a look-alike."""

from __future__ import annotations

import io
import json
from pathlib import Path

import numpy as np
import pytest

from tests.tools.signal_case import Case, case, check, falling, log, losses, table

ERRORS, ENDING, DATA, OUTPUTS, INIT, RANKS = (
    "explain_error", "check_ending", "inspect_data", "inspect_outputs", "check_initialisation", "compare_ranks",
)  # fmt: skip
_LIBRARY = '  File "/opt/conda/lib/python3.10/site-packages/torch/utils/data/dataloader.py", line 1477, in __del__\n'
_OWN = '  File "/home/u/proj/train.py", line 31, in <module>\n    main()\n'
_TRACEBACK = "Traceback (most recent call last):\n"
_DONE = "training complete, best acc 0.88"


def ended(*after: str) -> dict[str, str]:
    """A run that says that it is over, and what it prints then."""
    return log([*losses(30), _DONE, *after])


OUTLIVED = [
    case(ERRORS, "an exception that Python ignores",
         log([*losses(30), "Exception ignored in: <function Iter.__del__ at 0x7f>", _TRACEBACK + _LIBRARY
              + "AssertionError: can only test a child process"]),
         silent="error-unexplained run-ended-by-error"),
    case(ERRORS, "the same without the heading, in the program",
         log([*losses(30), _TRACEBACK + _OWN + "AssertionError: can only test a child process"]),
         fires="error-unexplained run-ended-by-error"),
    case(ERRORS, "a thread of a library after the end", ended(_TRACEBACK + _LIBRARY + "OSError: handle is closed"),
         silent="error-unexplained run-ended-by-error"),
    case(ERRORS, "the program's own error after training: its evaluation",
         ended(_TRACEBACK + _OWN + "ValueError: y_true is of another kind"), fires="error-unexplained"),
    case(ERRORS, "a tracker that could not be reached after the end",
         ended("mlflow.exceptions.MlflowException: API request failed, metrics buffered locally"),
         silent="error-unexplained"),
    case(ERRORS, "detectron2 sums up after an exception as well",
         log([*losses(3), _TRACEBACK + _OWN + "RuntimeError: CUDA out of memory. Tried to allocate 1.71 GiB",
              "[06/09 11:05:25 d2.engine.hooks]: Overall training speed: 22 iterations in 0:01:02 (2.84 s / it)"]),
         fires="error-device-memory"),
    case(ERRORS, "a plain Exception with its traceback",
         log([*losses(3), _TRACEBACK + _OWN + "Exception: nothing fits"]), fires="error-unexplained"),
]  # fmt: skip

_SHAPES = (
    "flax.errors.ScopeParamShapeError: Initializer expected to generate shape (32, 512) but got shape (32, 768) instead"
    ' for parameter "embedding" in "/embed".'
)
RESTORED = [
    case(ERRORS, "a parameter that does not fit what was restored",
         log(["I0611 checkpoints.py:1062] Restoring orbax checkpoint from gs://lab/enc", _TRACEBACK + _OWN + _SHAPES]),
         fires="restored-weights-misfit"),
    case(ERRORS, "the same with nothing restored", log(["starting", _TRACEBACK + _OWN + _SHAPES]),
         fires="error-shapes", silent="restored-weights-misfit"),
]  # fmt: skip


def stamped(count: int) -> list[str]:
    return [
        f"2024-12-10 20:{minute:02d}:10 epoch 0 step {30 * minute}/9000 loss {value:.4f}"
        for minute, value in enumerate(falling(count))
    ]


def monitor(percent: int, memory: int) -> str:
    rows = [f"2024/12/11 07:{minute:02d}:00.000, 0, {percent} %, {memory} MiB" for minute in range(30)]
    return "\n".join(["timestamp, index, utilization.gpu [%], memory.used [MiB]", *rows]) + "\n"


_PS = (
    "Wed Dec 11 07:30:41 2024\nUSER  PID %CPU STAT START TIME COMMAND\n"
    "kai 71120 0.0 41.2g 8.2g ?  Sl  Dec10 201:14 {what}\n"
)
HANGS = [
    case(ENDING, "a GPU that is held and idle for hours", {**log(stamped(40)), "gpu.csv": monitor(0, 18_211)},
         fires="alive-without-progress"),
    case(ENDING, "a GPU that nobody holds any more", {**log(stamped(40)), "gpu.csv": monitor(0, 3)},
         silent="alive-without-progress"),
    case(ENDING, "a GPU that another job uses", {**log(stamped(40)), "gpu.csv": monitor(55, 18_211)},
         silent="alive-without-progress"),
    case(ENDING, "the process in a list that was taken later",
         {**log(stamped(40)), "ps.txt": _PS.format(what="python train.py")}, fires="alive-without-progress"),
    case(ENDING, "a list without the process", {**log(stamped(40)), "ps.txt": _PS.format(what="sshd: kai")},
         silent="alive-without-progress"),
    case(ENDING, "a monitor that goes on after the end",
         {**log([*stamped(40), _DONE]), "gpu.csv": monitor(0, 18_211)}, silent="alive-without-progress"),
]  # fmt: skip


def texts(first: int, count: int, key: str) -> str:
    rows = [{"id": f"{key}{at}", "text": f"question number {at} about the account", "intent": at % 7}
            for at in range(first, first + count)]  # fmt: skip
    return "".join(json.dumps(row) + "\n" for row in rows)


def arrays(**given: np.ndarray[tuple[int, ...], np.dtype[np.generic]]) -> bytes:
    held = io.BytesIO()
    np.savez(held, **given)  # type: ignore[arg-type]
    return held.getvalue()


_IDS = [f"rec{at:05d}" for at in range(200)]
_LABELS = "id,gesture\n" + "".join(f"{name},{at % 6}\n" for at, name in enumerate(_IDS))
_PAIRED = (
    "import csv\nimport numpy as np\nimport torch\n\nz = np.load('features.npz')\nx = torch.tensor(z['x'])\n"
    "y = torch.tensor([int(r['gesture']) for r in csv.DictReader(open('labels.csv'))])\n"
)


def features(names: list[str]) -> bytes:
    rng = np.random.default_rng(0)
    return arrays(ids=np.array(names), x=rng.normal(size=(len(names), 8)).astype(np.float32))


SPLITS = [
    case(DATA, "inputs of validation in training under other ids",
         {"data/train.jsonl": texts(0, 300, "q"), "data/valid.jsonl": texts(120, 80, "v")}, fires="splits-share-rows"),
    case(DATA, "inputs of their own", {"data/train.jsonl": texts(0, 300, "q"), "data/valid.jsonl": texts(400, 80, "v")},
         silent="splits-share-rows"),
    case(DATA, "ids in another order than the labels", {"features.npz": features(_IDS[::-1]), "labels.csv": _LABELS,
         "train.py": _PAIRED}, fires="labels-misaligned"),
    case(DATA, "ids in the order of the labels", {"features.npz": features(_IDS), "labels.csv": _LABELS,
         "train.py": _PAIRED}, silent="labels-misaligned"),
    case(DATA, "ids in another order, joined by them", {"features.npz": features(_IDS[::-1]), "labels.csv": _LABELS,
         "train.py": _PAIRED + "order = {r: at for at, r in enumerate(z['ids'])}\n"}, silent="labels-misaligned"),
]  # fmt: skip

_LOADED = (
    "from transformers import AutoModelForCausalLM, AutoTokenizer\nimport torch\nfrom peft import get_peft_model\n\n"
    "tok = AutoTokenizer.from_pretrained('b')\nmodel = AutoModelForCausalLM.from_pretrained('b')\n"
)
_OPTIMIZER = "opt = torch.optim.AdamW(model.parameters(), lr=1e-4)\n"
_ADAPTER = "model = get_peft_model(model, config)\n"
_ADDED = "tok.add_special_tokens({'additional_special_tokens': ['[A]']})\n"
PROGRAMS = [
    case(OUTPUTS, "tokens without rows", {"train.py": _LOADED + _ADDED}, fires="tokens-without-rows"),
    case(OUTPUTS, "tokens with rows", {"train.py": _LOADED + _ADDED + "model.resize_token_embeddings(len(tok))\n"},
         silent="tokens-without-rows"),
    case(OUTPUTS, "an optimizer before the adapter", {"train.py": _LOADED + _OPTIMIZER + _ADAPTER},
         fires="optimizer-before-adapter"),
    case(OUTPUTS, "an optimizer after the adapter", {"train.py": _LOADED + _ADAPTER + _OPTIMIZER},
         silent="optimizer-before-adapter"),
]  # fmt: skip

_NET = "import torch\nfrom torch import nn\n\nnet = nn.Sequential(nn.Linear(6, 48), nn.{act}(), nn.Linear(48, 1))\n"
_BIAS = "for m in net:\n    if isinstance(m, nn.Linear):\n        nn.init.constant_(m.bias, {value})\n"
BIASES = [
    case(INIT, "biases that keep every unit off", {"train.py": _NET.format(act="ReLU") + _BIAS.format(value=-1.5)},
         fires="init-bias-silences"),
    case(INIT, "biases of zero", {"train.py": _NET.format(act="ReLU") + _BIAS.format(value=0.0)},
         silent="init-bias-silences"),
    case(INIT, "low biases without a ReLU", {"train.py": _NET.format(act="Tanh") + _BIAS.format(value=-1.5)},
         silent="init-bias-silences"),
]  # fmt: skip


def by_rank(slow: float) -> dict[str, str]:
    rows = [{"step": step, "rank": rank, "compute_s": slow if rank == 2 and step > 20 else 1.1 + 0.01 * rank}
            for step in range(60) for rank in range(4)]  # fmt: skip
    return {"times.jsonl": "".join(json.dumps(row) + "\n" for row in rows), **table("step", loss=falling(60))}


SLOW = [
    case(RANKS, "one slow rank in a column", by_rank(2.4), fires="rank-slower"),
    case(RANKS, "ranks that keep up", by_rank(1.12), silent="rank-slower"),
]

CASES: list[Case] = [*OUTLIVED, *RESTORED, *HANGS, *SPLITS, *PROGRAMS, *BIASES, *SLOW]


@pytest.mark.parametrize("found", CASES, ids=[one.label for one in CASES])
def test_an_operation_is_told(found: Case, tmp_path: Path) -> None:
    check(found, tmp_path)
