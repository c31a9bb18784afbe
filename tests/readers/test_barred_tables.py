"""Tables between bars, and options of launch scripts."""

from pathlib import Path

import pytest

from traindx.readers import Run, Scope
from traindx.readers.configs.pairs import launch_options

RICH = """\
┏━━━━━━━┳━━━━━━━━┳━━━━━━━━━━┳━━━━━━━━━━━┓
┃ epoch ┃ loss   ┃ val loss ┃ |g| conv1 ┃
┡━━━━━━━╇━━━━━━━━╇━━━━━━━━━━╇━━━━━━━━━━━┩
"""


def test_what_rich_draws_is_read(tmp_path: Path) -> None:
    rows = "".join(f"│ {n}     │ {2 / n:.4f} │ {2.1 / n:.4f}   │ 1.3e-12   │\n" for n in range(1, 12))
    (tmp_path / "console.txt").write_text(RICH + rows + "└───────┴────────┴──────────┴───────────┘\n")
    found = {row.name: row for row in Run(Scope.of(tmp_path)).series}
    assert found["train/loss"].at.tolist() == [float(n) for n in range(1, 12)]
    assert found["val/loss"].values[0] == pytest.approx(2.1)
    assert found["train/loss"].lines[0] == 4


def test_a_markdown_table_is_read(tmp_path: Path) -> None:
    rows = "".join(f"| {n} | {3 / n:.3f} | {0.5 + n / 40:.3f} |\n" for n in range(1, 12))
    (tmp_path / "train.log").write_text(f"| epoch | train loss | val acc |\n|---|---|---|\n{rows}")
    found = {row.name: row for row in Run(Scope.of(tmp_path)).series}
    assert found["train/loss"].values[1] == 1.5
    assert found["val/accuracy"].axis == "epoch"


def test_a_table_without_a_metric_is_left_alone(tmp_path: Path) -> None:
    rows = "".join(f"| {n} | {n * n} |\n" for n in range(1, 12))
    (tmp_path / "train.log").write_text(f"starting\n| item | price |\n|---|---|\n{rows}")
    assert Run(Scope.of(tmp_path)).series == []


def test_a_launch_script_gives_its_options(tmp_path: Path) -> None:
    command = "srun python t.py --lr 0.2 \\\n  --clip-norm=0.0008 --amp --api-key sk-x\n"
    script = f"#!/bin/bash\n#SBATCH --time=02:00:00\n{command}"
    (tmp_path / "job.sh").write_text(script)
    found = {row.key: (row.value, row.line) for row in Run(Scope.of(tmp_path)).settings}
    assert found["lr"] == (0.2, 3)
    assert found["clip_norm"] == (0.0008, 4)
    assert "api_key" not in found
    assert "time" not in found


def test_a_script_that_launches_nothing_has_no_options() -> None:
    assert list(launch_options("ls --color auto\nrm --force x\n")) == []
