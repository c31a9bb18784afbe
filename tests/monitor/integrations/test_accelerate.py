"""The monitor beside Accelerate."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.extras import torch
from tests.monitor.trainings import measured, mlp, rows

pytestmark = pytest.mark.slow


def train(folder: Path | None) -> list[float]:
    accelerate = pytest.importorskip("accelerate")
    from traindx.monitor.integrations.accelerate import monitor_of

    one = mlp()
    accelerator = accelerate.Accelerator(cpu=True, gradient_accumulation_steps=2)
    model, optimizer = accelerator.prepare(one.model, one.optimizer)
    monitor: Any = None if folder is None else monitor_of(accelerator, model, optimizer, folder=folder, every=1)
    losses = []
    for number in range(8):
        with accelerator.accumulate(model):
            loss = one.loss_of(number)
            accelerator.backward(loss)
            if accelerator.sync_gradients:
                if monitor:
                    monitor.after_backward()
                accelerator.clip_grad_norm_(model.parameters(), 0.01)
            optimizer.step()
            optimizer.zero_grad()
        losses.append(float(loss.detach()))
        if monitor and accelerator.sync_gradients:
            monitor.step(loss)
    if monitor:
        monitor.close()
    return losses


def test_a_training_is_told_of_and_is_the_same(tmp_path: Path) -> None:
    losses = train(tmp_path)
    assert losses == train(None)
    assert measured(tmp_path, "loss") == pytest.approx(losses[1::2], rel=1e-4)
    assert min(measured(tmp_path, "grad_norm")) > 0.02
    last = [row for row in rows(tmp_path) if "grad_norm" in row][-1]
    assert last["step"] == 4
    assert {"lr", "update_ratio", "dead/1", "saturated/3"} <= set(last)
    assert torch.isfinite(torch.tensor(losses)).all()
