"""Logs that write a comma for the point, and those whose commas are something else."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

from traindx.readers import Run, Scope
from traindx.readers.logs.textlog import read_log

GERMAN = [
    f"19.11.2026 03:53:{n:02d} Epoche 1 Schritt {26 * n}: Verlust 0,{4948 - n:04d}, Gradientennorm {n % 3},213,"
    f" Lernrate 0,{n:05d}"
    for n in range(20)
]


def _values(lines: list[str]) -> dict[str, list[float]]:
    found, _ = read_log(io.BytesIO("\n".join(lines).encode()), "lauf.log")
    return {row.original: row.values.tolist() for row in found}


@pytest.mark.parametrize("times", [1, 200], ids=["few lines", "a large block"])
def test_a_comma_is_a_point_where_the_log_writes_it_so(times: int) -> None:
    found = _values(GERMAN * times)
    assert found["Verlust"][:3] == [0.4948, 0.4947, 0.4946]
    assert found["Gradientennorm"][1:3] == [1.213, 2.213]
    assert found["Lernrate"][7] == 0.00007


@pytest.mark.parametrize(
    "line",
    [
        "epoch {n} | perte 0,{d:03d} | précision 8{e},2 %",
        "paso {n}: perdida=1,{d:03d}5 lr=3,0e-4",
        "Epoch {n}/30, loss: 2,{d:03d}1; val_loss: 2,5{e}",
        "{n}\tepoca\tperdita 0,{d:03d}2",
    ],
)
def test_other_ways_to_write_it(line: str) -> None:
    found = _values([line.format(n=n, d=900 - 20 * n, e=n % 10) for n in range(1, 25)])
    losses = next(values for name, values in found.items() if name[:4] in {"pert", "perd", "loss"})
    assert losses[0] > losses[-1]
    assert losses[0] != int(losses[0])


@pytest.mark.parametrize(
    ("line", "name", "value"),
    [
        ("step {n} ppl 12,345 loss 1.25", "ppl", 12345.0),
        ("2024-01-01 12:00:{n:02d},123 epoch {n} loss 0.5", "loss", 0.5),
        ("epoch {n}, loss 3, devices 0,1", "loss", 3.0),
        ("iter {n} tokens 1,048,576 loss 2", "loss", 2.0),
        ("epoch {n} loss 7 shape [3,4] kernel (5,5) loss_scale 65,536", "loss", 7.0),
    ],
)
def test_commas_that_are_no_points(line: str, name: str, value: float) -> None:
    found = _values([line.format(n=n) for n in range(1, 40)])
    assert found[name][5] == value


def test_what_is_cited_is_what_the_file_says(tmp_path: Path) -> None:
    (tmp_path / "lauf.log").write_text("\n".join(GERMAN) + "\n")
    run = Run(Scope.of(tmp_path))
    loss = next(row for row in run.series if row.original == "Verlust")
    assert loss.name == "train/verlust"
    assert {row.name for row in run.series} >= {"grad_norm", "lr"}
