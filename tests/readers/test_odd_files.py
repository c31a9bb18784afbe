"""Files as crashes and odd tools leave them: read in bounded time, with a remark, and the rest still there."""

from __future__ import annotations

import gzip
import io
import json

import numpy as np
import pytest

from traindx.readers.logs.errors import read_errors
from traindx.readers.logs.textlog import read_log
from traindx.readers.series.columns import Columns
from traindx.readers.tables.table import read_csv, read_json, read_jsonl
from traindx.vocabulary.metrics import normalise

_LINES = "".join(f"step {n} loss {n / 8}\n" for n in range(5_000)).encode()


@pytest.mark.slow
def test_a_single_line_of_200_megabytes_between_metrics() -> None:
    raw = _LINES + b"0.5, " * 40_000_000 + b"\nstep 9999 loss 7.5\nValueError: after it\n"
    (series,), remarks = read_log(io.BytesIO(raw), "train.log")
    found = read_errors(io.BytesIO(raw), "train.log")
    assert (len(series), series.values[-1], series.lines[-1]) == (5_001, 7.5, 5_002)
    assert remarks == ["1 lines of `train.log` are longer than 20,000 characters and were not read for metrics"]
    assert [log_error.line for log_error in found] == [5_003]


def test_a_line_of_30_thousand_characters_is_remarked() -> None:
    for lines in (b"", _LINES):
        _, remarks = read_log(io.BytesIO(lines + b"step 1 loss 2.0 " + b"x" * 30_000 + b"\n"), "train.log")
        assert "longer than 20,000 characters" in remarks[0]


@pytest.mark.slow
def test_a_table_of_a_million_columns() -> None:
    header = ",".join(["step", "loss", *(f"c{n}" for n in range(1_000_000))])
    raw = f"{header}\n{','.join('1' for _ in range(1_000_002))}\n".encode()
    remarks: list[str] = []
    read_csv(io.BytesIO(raw), "metrics.csv", remarks.append)
    assert remarks


@pytest.mark.slow
def test_a_table_of_ten_thousand_columns_gives_the_first() -> None:
    header = ",".join(["step", "loss", *(f"c{n}" for n in range(10_000))])
    row = ",".join("1" for _ in range(10_002))
    remarks: list[str] = []
    found = read_csv(io.BytesIO(f"{header}\n{row}\n{row}\n".encode()), "metrics.csv", remarks.append)
    assert found[0].name == "train/loss"
    assert "more columns than are kept" in remarks[0]


def test_json_nested_ten_thousand_deep() -> None:
    deep = "[" * 10_000 + "1" + "]" * 10_000
    read_json(io.BytesIO(f'{{"log_history": {deep}}}'.encode()), "state.json")
    found = read_jsonl(io.BytesIO(f'{{"a": {deep}}}\n{{"step": 1, "loss": 2.5}}\n'.encode()), "history.jsonl")
    assert [series.values.tolist() for series in found] == [[2.5]]


def test_a_tail_of_a_million_nuls() -> None:
    (series,), _ = read_log(io.BytesIO(_LINES + b"\0" * 1_000_000), "train.log")
    assert len(series) == 5_000


@pytest.mark.parametrize("cut", [0, 100])
def test_gzip_whole_and_cut_off(cut: int) -> None:
    packed = gzip.compress(_LINES)
    (series,), remarks = read_log(io.BytesIO(packed[: len(packed) - cut]), "train.log.gz")
    if cut:
        assert 1_000 < len(series) < 5_000
        assert remarks == ["`train.log.gz`: the archive is truncated; the part before that was read"]
    else:
        assert (len(series), remarks) == (5_000, [])


def test_gzip_that_is_broken_or_holds_several() -> None:
    packed = gzip.compress(_LINES)
    broken = packed[:2_000] + bytes(200) + packed[2_200:]
    _, remarks = read_log(io.BytesIO(broken), "train.log.gz")
    assert "damaged" in remarks[0]
    (series,), remarks = read_log(io.BytesIO(packed + gzip.compress(b"step 6000 loss 1.0\n")), "train.log.gz")
    assert (len(series), remarks) == (5_001, [])


@pytest.mark.parametrize("encoding", ["utf-16", "utf-8-sig", "latin-1"])
def test_large_logs_in_other_encodings(encoding: str) -> None:
    text = "".join(f"époque {n}: step {n} loss {n / 8}\n" for n in range(5_000))
    found, _ = read_log(io.BytesIO(text.encode(encoding)), "train.log")
    series = next(series for series in found if series.name == "train/loss")
    assert (len(series), series.texts[9]) == (5_000, "1.125")


@pytest.mark.slow
def test_a_very_long_series_is_thinned_but_its_spike_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("traindx.readers.series.columns.MOST_POINTS", 20_000)
    count = 400_000
    lines = [f"step {n} loss {1 + n % 7 / 10}\n" for n in range(count)]
    lines[123_457] = "step 123457 loss 99.5\n"
    lines[345_679] = "step 345679 loss nan\n"
    lines[-1] = f"step {count - 1} loss 0.125\n"
    (series,), remarks = read_log(io.BytesIO("".join(lines).encode()), "train.log")
    assert len(series) < 60_000
    assert series.thinned > 1
    assert 99.5 in series.values
    assert series.at[series.values == 99.5].tolist() == [123_457]
    assert (series.at[0], series.at[-1], series.values[-1]) == (0, count - 1, 0.125)
    assert series.at[series.values != series.values].tolist() == [345_679]
    assert "one in up to" in remarks[0]


def test_points_are_bounded_whatever_they_are_and_the_end_stays_whole() -> None:
    columns = Columns(most_points=8_000, most_texts=3_000)
    column = columns.column("loss", normalise("loss"), "step")
    assert column is not None
    for first in range(0, 60_000, 3_000):
        steps = np.arange(first, first + 3_000)
        values = np.where(steps % 2 == 0, np.nan, 1.0)  # every other point is a change: none stands out
        column.extend(values, b"1.0\n" * 3_000, steps + 1, None, steps.astype(np.float64))
        columns.bound()
    (series,) = columns.series("train.log")
    assert len(series) <= 8_000
    assert (series.at[0], series.at[-1], series.texts) == (0, 59_999, ())
    assert series.at[-400:].tolist() == list(range(59_600, 60_000))


def test_the_spelling_of_many_columns_is_bounded_together() -> None:
    rows = "".join(f"{n}," + ",".join(f"{n % 7}.{place}" for place in range(20)) + "\n" for n in range(3_000))
    header = "step," + ",".join(f"loss_{place}" for place in range(20))
    found = read_csv(io.BytesIO(f"{header}\n{rows}".encode()), "metrics.csv")
    assert all(series.texts[:1] == (f"0.{place}",) for place, series in enumerate(found))
    columns = Columns(most_texts=10_000)
    for place in range(20):
        column = columns.column(f"loss_{place}", normalise("loss"), "step")
        assert column is not None
        column.extend(np.ones(3_000), b"1\n" * 3_000, np.arange(3_000), None, np.arange(3_000.0))
    columns.bound()
    assert sum(len(series.texts) for series in columns.series("metrics.csv")) <= 10_000


def test_the_first_errors_and_the_last_are_kept_among_very_many() -> None:
    log = "".join(f"ValueError: number {'x' * (n % 50)}{n}\n" for n in range(5_000)) + "RuntimeError: the end\n"
    remarks: list[str] = []
    found = read_errors(io.BytesIO(log.encode()), "train.log", remarks.append)
    assert len(found) == 250
    assert (found[0].line, found[-1].text) == (1, "RuntimeError: the end")
    assert remarks == ["of the errors in `train.log`, 4,751 between the first and the last were left out"]


def test_a_json_history_may_be_deep_in_objects() -> None:
    deep: object = 1
    for _ in range(50):
        deep = {"a": deep}
    read_jsonl(io.BytesIO((json.dumps(deep) + "\n").encode() * 1_000), "history.jsonl")
