"""Arrays and tables of samples: shape, range and what is missing, within bounds and without unpickling."""

from __future__ import annotations

import io
import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.property_examples import examples
from traindx.readers.coverage import Allowance, Timer
from traindx.readers.tables.arrays import ArrayInfo, read_npy, read_npz
from traindx.readers.tables.datatables import read_data_table


def _saved(array: Any, **options: Any) -> bytes:
    out = io.BytesIO()
    np.save(out, array, **options)
    return out.getvalue()


def _one(content: bytes) -> tuple[ArrayInfo, list[str]]:
    found, remarks = read_npy(io.BytesIO(content), "x.npy")
    return found[0], remarks


def test_an_array_with_its_range() -> None:
    found, remarks = _one(_saved(np.array([[1.0, 2.0], [3.0, np.nan]], dtype=np.float32)))
    assert (found.shape, found.dtype, found.low, found.high, found.mean) == ((2, 2), "float32", 1.0, 3.0, 2.0)
    assert (found.not_finite, found.whole, found.constant, remarks) == (1, True, False, [])


@pytest.mark.parametrize("kind", ["float16", "float64", "int8", "uint8", "int64", "bool", "complex64", ">f4"])
def test_every_numeric_type(kind: str) -> None:
    found, _ = _one(_saved(np.ones((3, 2), dtype=kind)))
    assert (found.low, found.high, found.constant) == (1.0, 1.0, True)


def test_text_and_structured_arrays_have_a_shape_only() -> None:
    assert _one(_saved(np.array(["a", "bc"])))[0].low is None
    assert _one(_saved(np.zeros(3, dtype=[("x", "f4"), ("y", "i4")])))[0].shape == (3,)


def test_every_number_of_a_large_array_is_looked_at() -> None:
    numbers = np.random.default_rng(3).normal(size=3_000_000)
    numbers[-2:] = (np.nan, 99.0)
    found, _ = _one(_saved(numbers))
    assert (found.sampled, found.whole, found.not_finite, found.high) == (3_000_000, True, 1, 99.0)
    assert found.mean == pytest.approx(np.nanmean(numbers))
    assert found.deviation == pytest.approx(np.nanstd(numbers))
    packed = io.BytesIO()
    np.savez_compressed(packed, x=numbers)
    (inside,), _ = read_npz(packed, "x.npz")
    assert (inside.sampled, inside.not_finite, inside.high) == (3_000_000, 1, 99.0)


def test_without_time_a_large_array_is_sampled_over_its_whole_length() -> None:
    told: list[tuple[int, int]] = []
    allowance = Allowance(Timer(0.0), lambda read, of: told.append((read, of)))
    (found,), _ = read_npy(io.BytesIO(_saved(np.arange(4_000_000, dtype=np.float64))), "x.npy", allowance)
    assert not found.whole
    assert (found.low, found.high) == (0.0, 3_999_999.0)
    assert told == [(found.sampled, 4_000_000)]


class _Runs:
    def __init__(self, command: str) -> None:
        self.command = command

    def __reduce__(self) -> Any:
        return os.system, (self.command,)


def test_pickled_arrays_are_named_and_never_unpickled(tmp_path: Path) -> None:
    trap = np.array([_Runs(f"touch {tmp_path / 'MARKER'}")], dtype=object)
    found, remarks = _one(_saved(trap, allow_pickle=True))
    assert (found.pickled, found.dtype) == (True, "object")
    assert "not loaded" in remarks[0]
    packed = io.BytesIO()
    np.savez(packed, trap=trap, good=np.zeros(3))
    told, _ = read_npz(packed, "x.npz")
    assert {info.member: info.pickled for info in told} == {"trap": True, "good": False}
    assert not (tmp_path / "MARKER").exists()


@pytest.mark.parametrize("writer", [np.savez, np.savez_compressed])
def test_archives_of_arrays(writer: Any) -> None:
    packed = io.BytesIO()
    writer(packed, x=np.zeros((5, 3)), y=np.arange(5))
    found, remarks = read_npz(packed, "d.npz")
    assert [(info.member, info.shape, info.high) for info in found] == [("x", (5, 3), 0.0), ("y", (5,), 4.0)]
    assert remarks == []
    cut = io.BytesIO(packed.getvalue()[:-40])
    assert "cut off" in read_npz(cut, "d.npz")[1][0]


def test_a_cut_array_says_how_much_is_missing() -> None:
    found, remarks = _one(_saved(np.zeros(1_000))[:-4_000])
    assert "8,000 bytes expected, 4,000 present" in remarks[0]
    assert found.sampled == 500


@pytest.mark.parametrize(
    "header",
    [
        b"{'descr': '<f8', 'fortran_order': False, 'shape': (99999999999999999,)}",
        b"{'descr': '<f8', 'shape': (-1,)}",
        b"{'descr': 'S99999999', 'shape': (3,)}",
        b"{'descr': [('a', '|O')], 'shape': (1,)}",
        b"__import__('os').system('id')",
        b"(" * 5_000,
    ],
)
def test_headers_that_lie(header: bytes) -> None:
    found, _ = _one(b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header + b"\0" * 64)
    assert found.problem


_REAL = _saved(np.arange(20.0))


@settings(max_examples=examples(100))
@given(content=st.binary(max_size=300), at=st.integers(0, 140), keep=st.booleans())
def test_no_bytes_make_reading_arrays_fail(content: bytes, at: int, keep: bool) -> None:
    mutated = _REAL[:at] + content + (_REAL[at:] if keep else b"")
    read_npy(io.BytesIO(mutated), "x.npy")
    read_npz(io.BytesIO(b"PK\x03\x04" + content), "x.npz")
    read_data_table(io.BytesIO(content), "x.csv")


_CELLS = st.sampled_from(["1", "2.5", "-3e4", "", "nan", "NA", "dog", "a b", " 7 ", "inf", "1_0", "0x1", "é", "-"])


@settings(max_examples=examples(60))
@given(st.lists(st.lists(_CELLS, min_size=1, max_size=4), min_size=1, max_size=12), st.sampled_from(",;\t"))
def test_tables_by_the_block_are_tables_by_the_row(rows: list[list[str]], separator: str) -> None:
    lines = [separator.join(row) for row in rows] * 400
    raw = "\n".join([separator.join("xyz"), *lines, ""]).encode()
    large, remarks = read_data_table(io.BytesIO(raw), "x.csv")
    small, same = read_data_table(io.BytesIO(raw), "x.csv", block=2_000)
    assert remarks == same
    assert (large is None) == (small is None)
    if large is None or small is None:
        return
    assert (large.rows, large.ragged, large.whole) == (small.rows, small.ragged, small.whole)
    for one, other in zip(large.columns, small.columns, strict=True):
        assert one.mean == pytest.approx(other.mean)
        assert one.deviation == pytest.approx(other.deviation, abs=1e-6)
        assert replace(one, mean=None, deviation=None) == replace(other, mean=None, deviation=None)


def test_a_label_out_of_range_near_the_end_of_a_long_table() -> None:
    lines = [f"{n},{n / 8},{n % 10}" for n in range(120_000)]
    lines[114_000] = "114000,1.5,1000"
    found, remarks = read_data_table(io.BytesIO("\n".join(["id,x,label", *lines]).encode()), "train.csv")
    assert found is not None
    label = found.columns[2]
    assert (found.rows, found.whole, remarks) == (120_000, True, [])
    assert (label.high, label.high_line, label.values["1000"]) == (1000.0, 114_002, 1)


def test_without_time_a_table_is_sampled_to_its_end() -> None:
    lines = [f"{n},{n % 10}" for n in range(60_000)]
    lines[-3] = "59997,1000"
    told: list[tuple[int, int]] = []
    allowance = Allowance(Timer(0.0), lambda read, of: told.append((read, of)))
    raw = "\n".join(["id,label", *lines, ""]).encode()
    found, remarks = read_data_table(io.BytesIO(raw), "train.csv", allowance, block=4_096)
    assert found is not None
    assert not found.whole
    assert (found.columns[1].high, found.columns[1].high_line) == (1000.0, 59_999)
    assert "spread over the whole" in remarks[0]
    ((read, of),) = told
    assert read == found.rows < 30_000
    assert 55_000 < of < 65_000


def test_a_table_of_samples() -> None:
    rows = "".join(f"{n},{('dog', 'cat')[n % 2]},{'' if n == 7 else n / 10}\n" for n in range(40))
    found, remarks = read_data_table(io.BytesIO(f"id,label,x\n{rows}".encode()), "train.csv")
    assert found is not None
    assert (found.rows, found.whole, remarks) == (40, True, [])
    label, x = found.columns[1:]
    assert label.values == {"dog": 20, "cat": 20}
    assert (x.numbers, x.missing, x.first_missing, x.low, x.high) == (39, 1, 9, 0.0, 3.9)


def test_nan_and_ragged_rows_have_their_lines() -> None:
    found, remarks = read_data_table(io.BytesIO(b"a;b\n1;2\n3;nan\n4\n"), "x.csv")
    assert found is not None
    assert [(column.missing, column.first_missing) for column in found.columns] == [(0, None), (1, 3)]
    assert "1 rows have more or fewer cells" in remarks[0]
