"""Files of bare numbers, and what must not be taken for one."""

from pathlib import Path

import numpy as np
import pytest

from traindx.readers import Run, Scope, Series


def series(folder: Path, name: str, text: str) -> dict[str, Series]:
    (folder / name).write_text(text)
    return {row.name: row for row in Run(Scope.of(folder)).series}


def test_a_heading_behind_a_hash_names_the_columns(tmp_path: Path) -> None:
    rows = "".join(f"{10 * n} {2 / (n + 1):.4f} 1e-3\n" for n in range(20))
    found = series(tmp_path, "loss.txt", f"# step loss lr\n{rows}")
    assert found["train/loss"].at.tolist() == [10.0 * n for n in range(20)]
    assert found["train/loss"].lines[0] == 2
    assert found["lr"].values[0] == 1e-3


def test_what_savetxt_writes_is_read(tmp_path: Path) -> None:
    values = np.column_stack([np.arange(30), np.linspace(3, 1, 30)])
    np.savetxt(tmp_path / "train_loss.txt", values, header="epoch val_loss")
    found = {row.name: row for row in Run(Scope.of(tmp_path)).series}
    assert found["val/loss"].axis == "epoch"
    assert np.allclose(found["val/loss"].values, values[:, 1])


def test_a_counter_and_a_value_without_names_are_step_and_loss(tmp_path: Path) -> None:
    found = series(tmp_path, "progress.txt", "".join(f"{n} {1 / n:.5f}\n" for n in range(10, 400, 10)))
    assert found["train/loss"].at[-1] == 390


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("coordinates.txt", "".join(f"{n} {n * 0.5}\n" for n in range(20))),
        ("progress.txt", "".join(f"{n % 3} {n * 0.5}\n" for n in range(20))),
        ("loss.txt", "1 2 3\n4 5\n6 7 8\n9 1 2\n3 4 5\n6 7 8\n"),
        ("loss.txt", "one two three words and no table\n" * 10),
    ],
    ids=["a name that says nothing", "no counter", "ragged", "prose"],
)
def test_other_numbers_are_left_alone(tmp_path: Path, name: str, text: str) -> None:
    assert series(tmp_path, name, text) == {}


def test_long_runs_of_digits_take_no_time(tmp_path: Path) -> None:
    (tmp_path / "loss.txt").write_text("\n".join(["1" * 400 + "x"] * 5 + ["1 2.5"] * 10))
    assert Run(Scope.of(tmp_path)).series == []
