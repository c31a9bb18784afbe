"""What a model computes beyond the range of fp16, where all of it is fp16."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.tools.signal_case import Case, case, check

LOG = "".join(f"step {n} loss {2.5 - 0.05 * n:.3f} scale 128\n" for n in range(1, 30))
OVERFLOWS = "".join(f"NOTE: gradient overflow detected, setting loss scale to: {64 / 2**n}\n" for n in range(12))
MODEL = """\
import torch
from torch import nn


class Pool(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.out = nn.Linear(dim, 4)

    def forward(self, x, mask):
        {line}
        return self.out(h)
"""
FOUND = [
    "h = x.pow(2).sum(dim=(1, 2))",
    "h = (x * x).sum()",
    "h = torch.sum(x ** 2, dim=[1, 2])",
    "h = x.square().sum().sqrt() * x",
    "h = x.masked_fill(mask, -1e9)",
    "h = torch.where(mask, x, -1e10)",
]
LEFT_ALONE = [
    "h = x.float().pow(2).sum(dim=(1, 2))",
    "h = torch.sum(x ** 2, dim=(1, 2), dtype=torch.float32)",
    "h = x.pow(2).mean(dim=(1, 2))",
    "h = (x / 64).pow(2).sum(dim=(1, 2))",
    "h = x / x.pow(2).sum(-1, keepdim=True).sqrt()",
    "h = x.masked_fill(mask, -1e4)",
    "h = x.masked_fill(mask, torch.finfo(x.dtype).min)",
    "h = (x - mask).pow(2).sum()",
]


def _files(line: str, log: str = LOG + OVERFLOWS, config: str = "fp16: true\n") -> dict[str, str]:
    return {"train.log": log, "config.yaml": config, "model.py": MODEL.format(line=line)}


HALF = "check_hyperparameters"
AUTOCAST = "import torch\nwith torch.autocast('cuda'):\n    loss = net(x)\n"
CASES = [
    *(case(HALF, line, _files(line), "half-range-left") for line in FOUND),
    *(case(HALF, line, _files(line), silent="half-range-left") for line in LEFT_ALONE),
    case(HALF, "no trouble", _files(FOUND[0], LOG), silent="half-range-left"),
    case(HALF, "bf16", _files(FOUND[0], config="bf16: true\n"), silent="half-range-left"),
    case(HALF, "autocast", {**_files(FOUND[0]), "train.py": AUTOCAST}, silent="half-range-left"),
]


@pytest.mark.parametrize("found", CASES, ids=lambda found: found.label)
def test_a_signal_fires_where_it_must_and_only_there(found: Case, tmp_path: Path) -> None:
    check(found, tmp_path)
