"""What a claim says about a whole curve is computed again before it counts as verified."""

from __future__ import annotations

import numpy as np
import pytest

from traindx.diagnosis.evidence.claims import contradiction
from traindx.diagnosis.evidence.numbers import values_in
from traindx.readers.model import Series

VALUES = [2.0, 1.5, 1.0, 0.5, 0.9, 1.2, 1.4, np.nan]


def curve(name: str = "val/loss", values: list[float] | None = None) -> Series:
    given = np.array(VALUES if values is None else values)
    places = np.arange(1, len(given) + 1)
    return Series(name, name, "m.csv", "epoch", places.astype(float), given, places)


@pytest.mark.parametrize(
    "claim",
    [
        "the best validation loss is 0.5, at epoch 4",
        "the lowest value: 0.50",
        "`val/loss` peaked at 2.0",
        "mean 1.21 over the whole run",
        "it rose from 0.5 to 1.4",
        "the loss fell from 2.0 to 0.5 and then rose to 1.4",
        "1 of 8 values are NaN",
        "the learning rate is 0.5 here",
        "`val/loss` ends far above its best level 0.6",
    ],
)
def test_what_the_curve_bears_out_is_not_contradicted(claim: str) -> None:
    assert contradiction(claim, [curve()]) == ""


@pytest.mark.parametrize(
    ("claim", "why"),
    [
        ("the best validation loss is 0.9, at epoch 5", "0.9 is not the best"),
        ("the lowest value was 1.0", "1.0 is not the lowest"),
        ("it peaked at 1.4", "1.4 is not the highest"),
        ("the mean is 0.95", "0.95 is not the mean"),
        ("it rose from 2.0 to 0.5", "is not up"),
        ("it fell from 1.4 to 1.0", "comes before"),
        ("5 values are NaN", "has not 5"),
        ("1 of 40 values are NaN", "has not 40"),
    ],
)
def test_what_the_curve_contradicts_is_refuted(claim: str, why: str) -> None:
    assert why in contradiction(claim, [curve()])


def test_the_series_that_is_named_is_the_one_that_counts() -> None:
    rows = [curve(), curve("train/loss", [3.0, 2.0, 1.0])]
    assert contradiction("the best `train/loss` is 1.0", rows) == ""
    assert contradiction("the best `train/loss` is 0.5", rows)


def test_without_a_curve_nothing_is_said() -> None:
    assert contradiction("the best is 0.3", []) == ""


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("7,0.25,300,400,0.5", [7.0, 0.25, 300.0, 400.0, 0.5]),
        ("1,234,567 samples", [1234567.0]),
        ("3,000 and 4,5", [3000.0, 4.0, 5.0]),
        ("lr=1e-3, wd=0.1,", [1e-3, 0.1]),
        ("a loss of 0.25, then 0.5.", [0.25, 0.5]),
    ],
)
def test_a_row_of_a_table_is_not_one_number(text: str, values: list[float]) -> None:
    assert values_in(text) == values
