"""Warnings that name a fault, exceptions without a traceback, and the layer behind an error about shapes."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.tools.signal_case import Case, case, check, log, losses

ERRORS = "explain_error"
_FRAMES = 'Traceback (most recent call last):\n  File "/home/u/proj/train.py", line 9, in <module>\n    out = net(x)\n'


def warned(text: str) -> dict[str, str]:
    """A run that goes on after a warning."""
    return log([f"/env/lib/python3.11/site-packages/torch/x.py:12: UserWarning: {text}", *losses(12)])


# family, what is printed, what resembles it
WARNINGS = [
    ("warning-target-size",
     "Using a target size (torch.Size([64])) that is different to the input size (torch.Size([64, 1])). This will"
     " likely lead to incorrect results due to broadcasting.",
     "Using a target device that is different to the input device."),
    ("warning-scheduler-order",
     "Detected call of `lr_scheduler.step()` before `optimizer.step()`. In PyTorch 1.1.0 and later, call them in the"
     " opposite order.",
     "To get the last learning rate computed by the scheduler, please use `get_last_lr()`."),
    ("warning-softmax-dim",
     "Implicit dimension choice for softmax has been deprecated. Change the call to include dim=X as an argument.",
     "nn.functional.sigmoid is deprecated. Use torch.sigmoid instead."),
    ("warning-class-never-predicted",
     "Precision is ill-defined and being set to 0.0 in labels with no predicted samples.",
     "Recall is ill-defined and being set to 0.0 in labels with no true samples."),
    ("warning-sequence-length",
     "Token indices sequence length is longer than the specified maximum sequence length for this model (911 > 512).",
     "Truncation was not explicitly activated but `max_length` is provided a specific value."),
    ("warning-device-build",
     "NVIDIA GeForce RTX 5090 with CUDA capability sm_120 is not compatible with the current PyTorch installation.",
     "CUDA initialization is lazy: the device is set up at its first use."),
    ("warning-input-exhausted",
     "Your input ran out of data; interrupting training. Make sure that your dataset can generate enough batches.",
     "Your input pipeline is slow; training goes on."),
]  # fmt: skip
NET = (
    "import torch\nfrom torch import nn\n\n\nclass Net(nn.Module):\n    def __init__(self):\n"
    "        super().__init__()\n        self.body = nn.Linear(784, 256)\n        self.head = nn.Linear(128, 10)\n"
)
RANKED = (
    "import torch.distributed as dist\n\n\ndef train(rank, model, loss):\n    dist.all_reduce(loss)\n"
    "    if rank == 0:\n        dist.barrier()\n"
)
MISMATCH = (
    'Traceback (most recent call last):\n  File "train.py", line {line}, in train\n    dist.barrier()\n'
    "RuntimeError: Detected mismatch between collectives on ranks. Rank 0 is running collective: BARRIER"
)
ABSENT = _FRAMES + "FileNotFoundError: [Errno 2] No such file or directory: 'shards/tokens_001.bin'"
CASES: list[Case] = [
    *(case(ERRORS, f"{name}: said", warned(text), fires=name) for name, text, _ in WARNINGS),
    *(case(ERRORS, f"{name}: resembled", warned(other), silent=name) for name, _, other in WARNINGS),
    case(
        ERRORS,
        "the layer that an error names",
        {"train.py": NET}
        | log([*losses(3), _FRAMES + "RuntimeError: mat1 and mat2 shapes cannot be multiplied (64x256 and 128x10)"]),
        fires="error-shapes layer-behind-shapes",
    ),
    case(
        ERRORS,
        "no layer has these sizes",
        {"train.py": NET}
        | log([*losses(3), _FRAMES + "RuntimeError: mat1 and mat2 shapes cannot be multiplied (64x256 and 99x3)"]),
        fires="error-shapes",
        silent="layer-behind-shapes",
    ),
    case(
        ERRORS,
        "a collective that one rank alone runs",
        {"train.py": RANKED, **log([*losses(3), MISMATCH.format(line=7)])},
        fires="rank-only-branch",
    ),
    case(
        ERRORS,
        "a collective that all run",
        {"train.py": RANKED, **log([*losses(3), MISMATCH.format(line=5)])},
        silent="rank-only-branch",
    ),
    case(
        ERRORS,
        "the list that names a missing file",
        {"shards/index.txt": "tokens_000.bin\ntokens_001.bin\n", **log([*losses(3), ABSENT])},
        fires="path-named-here error-missing-file",
    ),
    case(
        ERRORS,
        "no file names it",
        {"shards/index.txt": "tokens_000.bin\n", **log([*losses(3), ABSENT])},
        fires="error-missing-file",
        silent="path-named-here",
    ),
    case(
        ERRORS,
        "an exception without its traceback, at the end",
        log([*losses(3), "AssertionError: batch size 30 != 32"]),
        fires="error-unexplained run-ended-by-error",
    ),
    case(
        ERRORS,
        "the same, and the run goes on",
        log([*losses(9)[:4], "AssertionError: batch size 30 != 32", *losses(9)[4:]]),
        silent="error-unexplained run-ended-by-error",
    ),
    case(
        ERRORS,
        "a traceback tells more than a line by itself",
        log(["KeyError: 'labels'", *losses(3), _FRAMES + "RuntimeError: CUDA out of memory."]),
        fires="error-device-memory",
        silent="error-unexplained",
    ),
]


@pytest.mark.parametrize("found", CASES, ids=lambda found: found.label)
def test_warnings_and_layers(found: Case, tmp_path: Path) -> None:
    check(found, tmp_path)
