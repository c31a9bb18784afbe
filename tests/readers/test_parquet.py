"""Parquet histories are read where pyarrow is installed."""

from pathlib import Path

import numpy as np

from tests.extras import parquet, pyarrow
from traindx.readers import Run, Scope


def test_a_sparse_history_gives_its_series(tmp_path: Path) -> None:
    steps = list(range(0, 100, 10))
    table = pyarrow.table({"_step": steps, "train/loss": [1.0 / (n + 1) for n in steps], "val_loss": [None, 0.5] * 5})
    parquet.write_table(table, tmp_path / "history.parquet")
    series = {row.name: row for row in Run(Scope.of(tmp_path)).series}
    assert series["train/loss"].at.tolist() == steps
    assert series["val/loss"].at.tolist() == steps[1::2]
    assert series["val/loss"].place == "record"
    assert np.allclose(series["val/loss"].values, 0.5)


def test_samples_are_not_metrics(tmp_path: Path) -> None:
    parquet.write_table(pyarrow.table({"x": [1.0, 2.0], "label": [0, 1]}), tmp_path / "train.parquet")
    assert Run(Scope.of(tmp_path)).series == []


def test_a_damaged_file_is_remarked(tmp_path: Path) -> None:
    parquet.write_table(pyarrow.table({"loss": [1.0, 2.0]}), tmp_path / "history.parquet")
    whole = (tmp_path / "history.parquet").read_bytes()
    (tmp_path / "history.parquet").write_bytes(whole[:40])
    run = Run(Scope.of(tmp_path))
    assert run.series == []
    assert any("history.parquet" in row for row in run.remarks)
