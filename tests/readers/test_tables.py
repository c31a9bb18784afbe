"""Tables: CSV in its ugly forms, JSON lines and JSON histories."""

from __future__ import annotations

import io
import json
from pathlib import Path

import numpy as np
import pytest

from traindx.readers import Run, Scope
from traindx.readers.model import Series
from traindx.readers.tables.table import read_csv, read_json, read_jsonl


def _csv(text: str) -> dict[str, Series]:
    return {series.name: series for series in read_csv(io.BytesIO(text.encode()), "metrics.csv")}


@pytest.mark.parametrize("separator", [",", ";", "\t"])
def test_separators_and_padded_headers(separator: str) -> None:
    rows = [["epoch", " train_loss ", "val_loss"], ["1", " 2.5", "3"], ["2", "nan", "inf"]]
    found = _csv("\n".join(separator.join(row) for row in rows))
    np.testing.assert_array_equal(found["train/loss"].values, [2.5, np.nan])
    np.testing.assert_array_equal(found["val/loss"].values, [3.0, np.inf])
    assert found["train/loss"].lines.tolist() == [2, 3]
    assert found["train/loss"].texts == ("2.5", "nan")


def test_sparse_cells_as_lightning_writes_them() -> None:
    found = _csv("epoch,step,train_loss,val_loss\n0,9,1.5,\n0,9,,1.75\n1,19,1.25,\n1,19,,1.5\n")
    assert found["train/loss"].lines.tolist() == [2, 4]
    assert found["val/loss"].at.tolist() == [9, 19]
    assert found["val/loss"].values.tolist() == [1.75, 1.5]


def test_a_repeated_header_is_no_row() -> None:
    found = _csv("epoch,loss\n1,2.0\nepoch,loss\n1,1.0\n")
    assert found["train/loss"].values.tolist() == [2.0, 1.0]
    assert found["train/loss"].lines.tolist() == [2, 4]


def test_a_repeated_header_may_change_the_columns() -> None:
    found = _csv("epoch,loss\n1,2.0\nepoch,val_loss,loss\n2,9.0,1.0\n")
    assert found["train/loss"].values.tolist() == [2.0, 1.0]


def test_json_lines_keep_the_spelling() -> None:
    text = '{"_step": 0, "train": {"loss": 5.10}}\nnot json\n{"_step": 5, "train": {"loss": NaN}}\n'
    (series,) = read_jsonl(io.BytesIO(text.encode()), "history.jsonl")
    assert (series.name, series.axis, series.texts) == ("train/loss", "step", ("5.10", "NaN"))
    assert series.lines.tolist() == [1, 3]


@pytest.mark.slow
def test_very_many_json_lines_are_thinned_and_said_to_be() -> None:
    remarks: list[str] = []
    lines = b"".join(b'{"step": %d, "loss": 0.5}\n' % n for n in range(1_000_001))
    (series,) = read_jsonl(io.BytesIO(lines), "history.jsonl", remarks.append)
    assert series.thinned == 2
    assert series.lines[[0, -1]].tolist() == [1, 1_000_001]
    (remark,) = remarks
    assert remark.startswith("`history.jsonl` has so many points that of 1 series only one in up to 2 was kept")


def test_hugging_face_history_with_the_line_of_each_value() -> None:
    history = [{"epoch": 0.5, "loss": 1.5, "step": 10}, {"epoch": 1.0, "eval_loss": 1.25, "step": 20}]
    text = json.dumps({"global_step": 20, "log_history": history}, indent=2)
    found, trouble = read_json(io.BytesIO(text.encode()), "trainer_state.json")
    assert trouble == ""
    assert [(series.name, series.axis, series.at.tolist()) for series in found] == [
        ("train/loss", "step", [10]),
        ("val/loss", "step", [20]),
    ]
    for series in found:
        assert series.texts[0] in text.splitlines()[int(series.lines[0]) - 1]


def test_keras_history() -> None:
    found, _ = read_json(io.BytesIO(b'{"loss": [2.0, 1.0], "val_loss": [3.0, 2.5]}'), "history.json")
    assert [(series.name, series.values.tolist()) for series in found] == [
        ("train/loss", [2.0, 1.0]),
        ("val/loss", [3.0, 2.5]),
    ]


def test_a_history_cut_off_in_the_middle_gives_what_it_has() -> None:
    found, trouble = read_json(io.BytesIO(b'{"log_history": [{"step": 1, "loss": 2.0}, {"step": 2, "lo'), "state.json")
    assert [series.values.tolist() for series in found] == [[2.0]]
    assert "line 1" in trouble


def test_commas_for_points_where_something_else_separates() -> None:
    raw = b"epoche;verlust;genauigkeit;lernrate\n1;1,5987;0,5384;0.01\n2;0,1846;-0,9;0.01\n"
    found = {row.name: row.values.tolist() for row in read_csv(io.BytesIO(raw), "log.csv")}
    assert found == {"train/verlust": [1.5987, 0.1846], "train/accuracy": [0.5384, -0.9], "lr": [0.01, 0.01]}
    many = raw + b"".join(b"%d;0,%d;0,5;0.01\n" % (n, n) for n in range(3, 3000))
    (loss,) = [row for row in read_csv(io.BytesIO(many), "log.csv") if row.name == "train/verlust"]
    assert loss.values[:3].tolist() == [1.5987, 0.1846, 0.3]
    assert len(loss) == 2999


def test_one_value_a_row_under_the_name_that_the_row_tells(tmp_path: Path) -> None:
    rows = [f"a1,train_loss,{2 / (n + 1):.4f},{10 * n},1700{n}" for n in range(2_000)]
    rows += [f"a1,val_loss,{3 / (n + 1):.4f},{10 * n},1700{n}" for n in range(0, 2_000, 100)]
    (tmp_path / "metrics.csv").write_text("run_id,key,value,step,timestamp\n" + "\n".join(rows) + "\n")
    variants = [
        {"metric": "acc", "variant": phase, "value": 0.5, "iter": n} for n in range(5) for phase in ("train", "val")
    ]
    (tmp_path / "scalars.jsonl").write_text("\n".join(map(json.dumps, variants)) + "\n")
    found = {row.name: row for row in Run(Scope.of(tmp_path)).series}
    assert sorted(found) == ["train/accuracy", "train/loss", "val/accuracy", "val/loss"]
    assert found["train/loss"].values[:3].tolist() == [2.0, 1.0, 0.6667]
    assert found["val/loss"].at[:2].tolist() == [0, 1000]
    assert found["val/loss"].lines[0] == 2_002


def test_a_table_of_samples_with_a_name_and_a_value_is_no_history(tmp_path: Path) -> None:
    (tmp_path / "prices.csv").write_text("name,value\n" + "".join(f"house {n},{100 + n}\n" for n in range(50)))
    assert Run(Scope.of(tmp_path)).series == []


@pytest.mark.parametrize("rows", [3, 4_000])
def test_a_row_for_each_layer_gives_a_series_for_each(rows: int) -> None:
    told = "".join(f"{n},0,{n}.5,1.0\n{n},fc,{n}.25,2.0\n" for n in range(rows))
    found = {
        series.original: series for series in read_csv(io.BytesIO(f"step,layer,norm,loss\n{told}".encode()), "s.csv")
    }
    assert sorted(found) == ["fc/loss", "fc/norm", "layer0/loss", "layer0/norm"]
    assert found["layer0/norm"].values.tolist() == [n + 0.5 for n in range(rows)]
    assert found["fc/norm"].lines.tolist() == [2 * n + 3 for n in range(rows)]


def test_a_layer_without_a_counter_is_a_column_like_others() -> None:
    found = read_csv(io.BytesIO(b"layer,norm\n0,1.5\n1,2.5\n"), "s.csv")
    assert "norm" in {series.original for series in found}


def test_rows_by_layer_in_json_lines() -> None:
    lines = [{"step": n, "layer": name, "norm": n + 0.5} for n in range(3) for name in ("in", "out")]
    found = read_jsonl(io.BytesIO("\n".join(map(json.dumps, lines)).encode()), "s.jsonl")
    assert {series.original: series.values.tolist() for series in found} == {
        "in/norm": [0.5, 1.5, 2.5], "out/norm": [0.5, 1.5, 2.5]
    }  # fmt: skip
