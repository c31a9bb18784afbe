"""The closer look at data: fingerprints in bounded memory, samples inside logs, predictions, order of labels."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np

from traindx.readers import Run, Scope
from traindx.readers.logs.printed_samples import printed_samples
from traindx.readers.tables import samples
from traindx.readers.tables.datatables import read_data_table
from traindx.readers.tables.jsontable import read_json_table
from traindx.readers.tables.predictions import read_predictions


def test_fingerprints_stay_few_and_still_find_shared_rows() -> None:
    train, held = samples.Prints(), samples.Prints()
    train.take(2, [hash(("row", number)) for number in range(3 * samples.MOST_PRINTS)])
    held.take(2, [hash(("row", number * 2)) for number in range(samples.MOST_PRINTS)])
    assert len(train.kept) <= samples.MOST_PRINTS
    share = len(held.shared_with(train)) / held.comparable(train)
    assert 0.95 <= share <= 1.0


def test_rows_are_compared_without_the_column_that_numbers_them(tmp_path: Path) -> None:
    rows = [f"{number * 0.37:.4f},{number % 7},{number % 3}" for number in range(80)]
    for name, first in (("train.csv", 0), ("val.csv", 500)):
        body = "\n".join(f"{first + number},{row}" for number, row in enumerate(rows))
        (tmp_path / name).write_text(f"id,a,b,label\n{body}\n")
    found = {row.path: row for row in samples.read_samples(Run(Scope.of(tmp_path)))}
    shared = found["val.csv"].prints.shared_with(found["train.csv"].prints)
    assert len(shared) == 80
    assert shared[0] == (2, 2)


def test_a_sorted_column_changes_as_often_as_it_has_values() -> None:
    body = "a,label\n" + "".join(f"{number},{number // 100}\n" for number in range(400))
    table, _ = read_data_table(io.BytesIO(body.encode()), "train.csv")
    assert table is not None
    assert table.columns[1].changes == 3


def test_records_give_columns_and_broken_lines_are_counted() -> None:
    body = '{"text": "a", "label": 1}\n{"text": "b", "label": null}\nnonsense\n{"text": "c", "label": 7}\n'
    table, remarks = read_json_table(io.BytesIO(body.encode()), "train.jsonl")
    assert table is not None
    label = next(column for column in table.columns if column.name == "label")
    assert (label.numbers, label.missing, label.first_missing, label.high_line) == (2, 1, 2, 4)
    assert remarks == ["`train.jsonl`: 1 lines are no JSON objects"]


def test_samples_under_a_heading_and_beside_their_reference() -> None:
    lines = ["epoch 1 loss 2.0", "--- sample ---", "once upon", "a time", "---------", "target: yes", "pred: no"]
    found = printed_samples(enumerate(lines, 1))
    assert [(row.line, row.text, row.reference) for row in found] == [(3, "once upon\na time", ""), (7, "no", "yes")]


def test_predictions_are_read_beside_their_targets(tmp_path: Path) -> None:
    (tmp_path / "predictions.csv").write_text("id,prediction,label\n1,ok,spam\n2,ok,ok\n")
    found = read_predictions(Run(Scope.of(tmp_path)), "predictions.csv")
    assert found is not None
    assert (found.predicted, found.wanted, found.lines) == (("ok", "ok"), ("spam", "ok"), (2, 3))


def test_an_array_of_labels_is_counted(tmp_path: Path) -> None:
    np.save(tmp_path / "y_train.npy", np.array([0, 0, 1, 1, 2]))
    (array,) = Run(Scope.of(tmp_path)).arrays
    assert (array.values, array.changes) == ({0.0: 2, 1.0: 2, 2.0: 1}, 2)
