"""Gradients as a checkpoint's optimizer state records them."""

from __future__ import annotations

import io
from functools import partial
from pathlib import Path

import pytest

from tests.extras import torch
from tests.tools.signal_case import Case, Files, case, check

pytestmark = pytest.mark.slow

MOMENTS = "check_checkpoint_gradients"


def checkpoint(scales: list[float], rate: float, push: float = 0.5, names: bool = True) -> Files:
    """A checkpoint that is written when the test runs."""
    return {"last.pt": partial(saved, scales, rate, push, names)}


def saved(scales: list[float], rate: float, push: float, names: bool) -> bytes:
    """Weights of size one, and Adam's moments after many steps of gradients of these scales, one layer each."""
    model = torch.nn.Sequential(*(torch.nn.Linear(8, 8, bias=False) for _ in scales))
    optimizer = torch.optim.Adam(model.parameters(), lr=rate)
    for layer, scale in zip(model, scales, strict=True):
        torch.nn.init.ones_(layer.weight)
        moments = {"exp_avg": push * scale, "exp_avg_sq": scale**2}
        state = {name: torch.full((8, 8), value) for name, value in moments.items()}
        optimizer.state[layer.weight] = {"step": torch.tensor(100_000.0), **state}
    held = {"model": model.state_dict(), "optimizer": optimizer.state_dict()}
    if not names:
        del held["model"]
    file = io.BytesIO()
    torch.save(held, file)
    return file.getvalue()


CASES = [
    case(MOMENTS, "moments that vanish", checkpoint([1e-9, 1e-6, 1e-3, 1e-2], 1e-3), "gradients-vanish-towards-input",
         "gradients-even-over-layers"),
    case(MOMENTS, "moments of one order", checkpoint([0.01, 0.02, 0.02, 0.05], 1e-3), "gradients-even-over-layers",
         "gradients-vanish-towards-input updates-tiny updates-large"),
    case(MOMENTS, "two layers say nothing about depth", checkpoint([1e-9, 1e-2], 1e-3),
         silent="gradients-vanish-towards-input gradients-even-over-layers"),
    case(MOMENTS, "a rate that changes nothing", checkpoint([0.01, 0.02, 0.02], 1e-6), "updates-tiny", "updates-large"),
    case(MOMENTS, "gradients that have faded", checkpoint([0.01, 0.02, 0.02], 1e-6, push=0.001), silent="updates-tiny"),
    case(MOMENTS, "a rate that came down on purpose",
         {**checkpoint([0.01, 0.02, 0.02], 1e-6), "config.yaml": "lr: 0.001\n"}, silent="updates-tiny"),
    case(MOMENTS, "a rate as large as the weights", checkpoint([0.01, 0.02, 0.02], 0.5), "updates-large",
         "updates-tiny"),
    case(MOMENTS, "no weights to compare with", checkpoint([0.01, 0.02, 0.02], 0.5, names=False),
         silent="updates-large updates-tiny"),
]  # fmt: skip


@pytest.mark.parametrize("found", CASES, ids=lambda found: found.label)
def test_a_signal_fires_where_it_must_and_only_there(found: Case, tmp_path: Path) -> None:
    check(found, tmp_path)
