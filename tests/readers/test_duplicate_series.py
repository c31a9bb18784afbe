"""A run that logs to two places has one loss, not two."""

from pathlib import Path

from traindx.readers import Run, Scope

TABLE = "epoch,train_loss\n" + "".join(f"{n},{1.23456 / n:.8f}\n" for n in range(1, 11))
LOG = "".join(f"epoch {n} train_loss {1.23456 / n:.4f}\n" for n in range(1, 11))


def test_the_same_points_in_another_file_are_marked(tmp_path: Path) -> None:
    (tmp_path / "metrics.csv").write_text(TABLE)
    (tmp_path / "train.log").write_text(LOG)
    marks = {row.source: row.duplicate_of for row in Run(Scope.of(tmp_path)).series if row.name == "train/loss"}
    assert marks == {"metrics.csv": "", "train.log": "metrics.csv"}


def test_other_points_are_not(tmp_path: Path) -> None:
    (tmp_path / "metrics.csv").write_text(TABLE)
    (tmp_path / "train.log").write_text(LOG.replace("0.1372", "0.1572"))
    assert all(not row.duplicate_of for row in Run(Scope.of(tmp_path)).series)
