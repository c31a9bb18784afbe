"""The monitor in the Hugging Face trainer."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.extras import torch
from tests.monitor.trainings import measured, rows

pytestmark = pytest.mark.slow


def train(folder: Path, callbacks: list[Any]) -> list[float]:
    transformers = pytest.importorskip("transformers")
    torch.manual_seed(0)
    config = transformers.BertConfig(
        vocab_size=30, hidden_size=16, num_hidden_layers=1, num_attention_heads=2, intermediate_size=16, num_labels=2
    )
    model = transformers.BertForSequenceClassification(config)
    data = [
        {"input_ids": torch.randint(0, 30, (8,)), "attention_mask": torch.ones(8).long(), "labels": number % 2}
        for number in range(32)
    ]
    options = transformers.TrainingArguments(
        output_dir=str(folder), num_train_epochs=2, per_device_train_batch_size=4, gradient_accumulation_steps=2,
        report_to=[], save_strategy="no", logging_steps=1, eval_strategy="epoch", use_cpu=True, disable_tqdm=True,
        dataloader_pin_memory=False, seed=1,
    )  # fmt: skip
    trainer = transformers.Trainer(model, options, train_dataset=data, eval_dataset=data, callbacks=callbacks)
    trainer.train()
    return [row["loss"] for row in trainer.state.log_history if "loss" in row]


def test_a_training_is_told_of_and_is_the_same(tmp_path: Path) -> None:
    pytest.importorskip("transformers")
    from traindx.monitor.integrations.transformers import MonitorCallback

    losses = train(tmp_path / "watched", [MonitorCallback(every=1)])
    assert losses == train(tmp_path / "alone", [])
    folder = tmp_path / "watched"
    told = [row for row in rows(folder) if "grad_norm" in row]
    assert [row["step"] for row in told] == list(range(1, 9))
    assert all({"loss", "epoch", "lr", "update_ratio", "saturated/bert.pooler.activation"} <= set(row) for row in told)
    assert len(measured(folder, "eval_loss")) == 2
    assert rows(folder)[-1]["event"] == "end"
