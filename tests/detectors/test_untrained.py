"""Weights that were better before the first step than ever after, told from ordinary overfitting."""

from pathlib import Path

import pytest

from traindx import diagnose

pytestmark = pytest.mark.slow


def signals(folder: Path, evaluations: list[float], train_end: float, first: int = 0) -> list[str]:
    rows = []
    for step, value in enumerate(evaluations):
        rows.append(f"step {first + step * 20} val_loss {value:.4f}\n")
        for inner in range(1, 20):
            at = step * 20 + inner
            loss = train_end + 2.0 / (1 + at / 10)
            rows.append(f"step {first + at} train_loss {loss:.4f}\n")
    (folder / "train.log").write_text("".join(rows))
    return [cause.id for cause in diagnose(folder).root_causes if cause.confidence >= 0.5]


def test_what_was_lost_is_no_overfitting(tmp_path: Path) -> None:
    assert "overfitting" not in signals(tmp_path, [1.9, 4.0, 3.4, 3.1, 2.9, 2.85, 2.82, 2.8, 2.8, 2.8], 2.6)


def test_a_training_loss_far_below_is(tmp_path: Path) -> None:
    turned = [1.9, 1.2, 1.0, 1.1, 1.3, 1.6, 1.9, 2.1, 2.3, 2.5]
    assert signals(tmp_path, turned, 0.05)[:1] == ["overfitting"]
