"""The monitor in a fit of Lightning."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.extras import torch
from tests.monitor.trainings import measured, rows

pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore:The '.*_dataloader' does not have many workers"),
    pytest.mark.filterwarnings("ignore:.*LeafSpec.*"),
    pytest.mark.filterwarnings("ignore:The number of training batches"),
]


def fit(folder: Path, callbacks: list[Any], rate: float = 0.05, **options: Any) -> list[float]:
    lightning = pytest.importorskip("lightning.pytorch")

    class Net(lightning.LightningModule):  # type: ignore[misc, name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.body = torch.nn.Sequential(torch.nn.Linear(20, 16), torch.nn.ReLU(), torch.nn.Linear(16, 1))
            self.losses: list[float] = []

        def training_step(self, batch: Any) -> Any:
            loss = torch.nn.functional.mse_loss(self.body(batch[0]), batch[1])
            self.losses.append(float(loss.detach()))
            return loss

        def validation_step(self, batch: Any) -> None:
            self.log("val_loss", torch.nn.functional.mse_loss(self.body(batch[0]), batch[1]))

        def configure_optimizers(self) -> Any:
            return torch.optim.SGD(self.parameters(), lr=rate)

    torch.manual_seed(0)
    features = torch.randn(256, 20)
    data = torch.utils.data.TensorDataset(features, features[:, :1])
    loader = torch.utils.data.DataLoader(data, batch_size=32)
    net = Net()
    trainer = lightning.Trainer(
        max_epochs=3, accelerator="cpu", logger=False, enable_checkpointing=False, enable_progress_bar=False,
        enable_model_summary=False, default_root_dir=folder, callbacks=callbacks, gradient_clip_val=0.01, **options,
    )  # fmt: skip
    trainer.fit(net, loader, loader)
    return net.losses


def test_a_fit_is_told_of_and_is_the_same(tmp_path: Path) -> None:
    pytest.importorskip("lightning.pytorch")
    from traindx.monitor.integrations.lightning import MonitorCallback

    callback = MonitorCallback(every=1)
    losses = fit(tmp_path, [callback])
    assert losses == fit(tmp_path, [])
    assert measured(tmp_path, "loss") == pytest.approx(losses, rel=1e-4)
    assert measured(tmp_path, "val_loss") == sorted(measured(tmp_path, "val_loss"), reverse=True)
    assert len(measured(tmp_path, "val_loss")) == 3
    # Measured before the trainer clips to 0.01.
    assert min(measured(tmp_path, "grad_norm")) > 0.02
    last = [row for row in rows(tmp_path) if "grad_norm" in row][-1]
    assert {"epoch", "lr", "dead/body.1", "update_ratio", "step_time", "rss_mb"} <= set(last)
    assert rows(tmp_path)[-1]["event"] == "end"
    assert callback.monitor is None


def test_of_accumulated_batches_one_is_a_step(tmp_path: Path) -> None:
    pytest.importorskip("lightning.pytorch")
    from traindx.monitor.integrations.lightning import MonitorCallback

    fit(tmp_path, [MonitorCallback(every=1)], accumulate_grad_batches=4)
    assert [row["step"] for row in rows(tmp_path) if "grad_norm" in row] == [1, 2, 3, 4, 5, 6]


def test_an_exception_is_the_end_of_the_file(tmp_path: Path) -> None:
    lightning = pytest.importorskip("lightning.pytorch")
    from traindx.monitor.integrations.lightning import MonitorCallback

    class Trap(lightning.Callback):  # type: ignore[misc, name-defined]
        def on_train_batch_start(self, *given: Any) -> None:
            if given[-1] == 5:
                raise KeyError("gone")

    with pytest.raises(KeyError):
        fit(tmp_path, [MonitorCallback(), Trap()])
    assert rows(tmp_path)[-1]["reason"] == "KeyError"
