"""Reading a table by the thousand rows gives what reading it row by row gives."""

from __future__ import annotations

import io
import random

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.property_examples import examples
from traindx.readers.model import Series
from traindx.readers.tables import csvtable
from traindx.readers.tables.csvtable import read_csv


def _read(raw: bytes, small: int) -> list[Series]:
    before = csvtable._SMALL
    csvtable._SMALL = small
    try:
        return read_csv(io.BytesIO(raw), "metrics.csv")
    finally:
        csvtable._SMALL = before


def _same(raw: bytes) -> None:
    fast, slow = _read(raw, 0), _read(raw, 1 << 30)
    assert [(found.name, found.original, found.axis) for found in fast] == [
        (found.name, found.original, found.axis) for found in slow
    ]
    for a, b in zip(fast, slow, strict=True):
        assert a.lines.tolist() == b.lines.tolist()
        assert a.texts == b.texts
        np.testing.assert_array_equal(a.values, b.values)
        np.testing.assert_array_equal(a.at, b.at)


_ODD = [
    "", "_1.5", "nan", "-inf", "None", "12%", "1e5", "1e-5", "-1.5E+3", "e5", ".5", "5.", "-", "a_b", "1.2.3", "+7",
    "0.0003174296321763842", "5-3", "1e5.3", "--1", ".", "é",
]  # fmt: skip
_CELL = st.one_of(
    st.floats().map(repr),
    st.integers(-(10**20), 10**20).map(str),
    st.floats(-10, 10).map(lambda value: f"{value:.3f}"),
    st.sampled_from([cell.replace("_", " ") for cell in _ODD]),
)
_ROW = st.lists(_CELL, min_size=0, max_size=5)


@settings(max_examples=examples(300), suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(_ROW, max_size=30), st.sampled_from(",;\t"), st.sampled_from(["\n", "\r\n"]), st.booleans())
def test_many_rows_give_what_single_rows_give(rows: list[list[str]], separator: str, end: str, again: bool) -> None:
    header = ["epoch", "step", "loss", "val_loss", "lr"]
    body = [
        separator.join([*row, "1", "2", "3.5", "4", "5"][: 5 if place % 7 else 4]) for place, row in enumerate(rows)
    ]
    if again:
        body.insert(len(body) // 2, separator.join(header[1:]))
    _same((end.join([separator.join(header), *body])).encode())


@pytest.mark.slow
def test_a_long_sparse_table() -> None:
    chance = random.Random(2)
    rows = ["epoch,step,train_loss,val_loss"]
    for n in range(30_000):
        rows.append(
            f"{n // 100},{n},{chance.gauss(0, 1)!r}," if n % 3 else f"{n // 100},{n},,{chance.random() / 1e6!r}"
        )
    _same("\n".join(rows).encode())
