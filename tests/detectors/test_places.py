"""Places are named as a person would, and the best one is where the file has it."""

from __future__ import annotations

import numpy as np
import pytest

from traindx.detectors.checkpoints.saved_at import saved_at
from traindx.detectors.citing import where
from traindx.detectors.curves import validation
from traindx.detectors.curves.objective import objective
from traindx.readers.model import Axis, Series


def series(name: str, values: list[float], at: list[float] | None = None, axis: Axis = "epoch") -> Series:
    places = np.array(at or range(1, len(values) + 1), float)
    return Series(name, name, "m.csv", axis, places, np.array(values), np.arange(2, len(values) + 2))


def test_epochs_in_fractions_are_rounded_as_far_as_they_stay_apart() -> None:
    row = series("loss", [1.0] * 4, [1.52173913, 3.0, 3.00001, 3.00002])
    assert [where(row, place) for place in range(4)] == ["epoch 1.522", "epoch 3", "epoch 3.00001", "epoch 3.00002"]


@pytest.mark.parametrize("best", [8, 9, 10, 11])
def test_the_best_validation_is_where_the_file_has_it(best: int) -> None:
    held_out = [2.0 - 0.1 * n if n <= best else 2.0 - 0.1 * best + 0.06 * (n - best) for n in range(1, 41)]
    train = [2.0 * 0.9**n for n in range(1, 41)]
    rows = [series("train/loss", train), series("val/loss", held_out)]
    goal = objective(rows)
    assert goal is not None
    saved = [f"ckpt/epoch_{best - 1}.pt", f"ckpt/epoch_{best:02}.pt", "ckpt/last.pt"]
    found = next(row for row in validation.detect(goal, rows, saved) if row.id == "val-rises-while-train-falls")
    assert found.facts["best_at"] == f"epoch {best}"
    assert found.facts["val_best"] == pytest.approx(min(held_out))
    assert found.facts["best_checkpoint"] == f"ckpt/epoch_{best:02}.pt"
    unsaved = next(row for row in validation.detect(goal, rows) if row.id == "val-rises-while-train-falls")
    assert "best_checkpoint" not in unsaved.facts


@pytest.mark.parametrize(
    ("paths", "axis", "wanted"),
    [
        (["checkpoint-500/model.safetensors", "checkpoint-1000/model.safetensors"], "step", 1),
        (["model_best.pth", "last.pth"], "step", 0),
        (["epoch=3-step=1000.ckpt"], "step", 0),
        (["run1000.pt", "ckpt-10000.pt"], "step", None),
        ([], "step", None),
    ],
)
def test_a_checkpoint_is_found_by_its_number(paths: list[str], axis: str, wanted: int | None) -> None:
    assert saved_at(paths, axis, 1000.0) == (None if wanted is None else paths[wanted])
