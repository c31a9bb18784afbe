"""MLflow: metric, parameter and run files of an `mlruns` folder, and its SQLite store; Trackio's beside it."""

from __future__ import annotations

import contextlib
import io
import math
import sqlite3
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.property_examples import examples
from traindx.readers import trackers
from traindx.readers.trackers import Found

RUN = "mlruns/1/0123456789abcdef0123456789abcdef"


def _read(path: str, raw: bytes) -> Found:
    kind = trackers.recognise(path, raw[: trackers.HEAD])
    assert kind is not None
    with _file(raw) as handle:
        return trackers.read(kind, handle, path)


@contextmanager
def _file(raw: bytes) -> Iterator[BinaryIO]:
    """The bytes as a file: before Python 3.11 a database cannot be opened from memory."""
    with tempfile.NamedTemporaryFile() as file:
        file.write(raw)
        file.flush()
        with Path(file.name).open("rb") as handle:
            yield handle


def _quote(raw: bytes, number: int) -> str:
    with _file(raw) as handle:
        return trackers.quote("sqlite", handle, number)


def test_a_metric_file() -> None:
    raw = b"1700000000000 2.0 0\n1700000001000 nan 10\n1700000002000 1e-05 20\n"
    found = _read(f"{RUN}/metrics/val/loss", raw)
    (series,) = found.series
    assert (series.name, series.original, series.axis, series.place) == ("val/loss", "val/loss", "step", "line")
    np.testing.assert_array_equal(series.values, [2.0, math.nan, 1e-5])
    assert (series.at.tolist(), series.lines.tolist()) == ([0, 10, 20], [1, 2, 3])
    assert series.texts == ("2.0", "nan", "1e-05")
    assert series.walls is not None
    assert series.walls.tolist() == [1.7e9, 1.7e9 + 1, 1.7e9 + 2]


def test_a_metric_file_with_a_broken_line_and_without_steps() -> None:
    found = _read("metrics/loss", b"1700000000000 2.0\n17000\x00\x00\n1700000000002 1.0\n")
    assert found.series[0].values.tolist() == [2.0, 1.0]
    assert found.remarks == ["1 of its lines are not metrics"]


def test_parameters_tags_and_the_end_of_a_run() -> None:
    assert _read(f"{RUN}/params/model/lr", b"3e-4").settings[0].value == 3e-4
    assert _read(f"{RUN}/params/model/lr", b"3e-4").settings[0].key == "model/lr"
    (commit,) = _read(f"{RUN}/tags/mlflow.source.git.commit", b"c0ffee").settings
    assert (commit.key, commit.value) == ("git.commit", "c0ffee")
    assert _read(f"{RUN}/tags/mlflow.user", b"somebody").settings == []
    ended = _read(f"{RUN}/meta.yaml", b"lifecycle_stage: active\nrun_id: 0\nstatus: 4\n")
    assert (ended.settings[0].value, ended.settings[0].line) == ("FAILED", 3)
    assert ended.remarks == ["MLflow lists the run as FAILED"]


def test_other_files_are_not_taken_for_mlflow() -> None:
    assert trackers.recognise("params/base.yaml", b"lr: 3e-4\n") is None
    assert trackers.recognise("src/params/lr", b"3e-4") is None
    assert trackers.recognise("metrics/loss.csv", b"epoch,loss\n1,2\n") is None
    assert trackers.recognise("meta.yaml", b"title: x\n") is None


def _database(path: Path, runs: list[tuple[str, str]], wal: bool = False) -> bytes:
    with contextlib.closing(sqlite3.connect(path)) as store, store:
        if wal:
            store.execute("pragma journal_mode = wal")
        store.executescript(
            "create table runs (run_uuid text, name text, status text, start_time int, lifecycle_stage text);"
            "create table metrics (key text, value float, timestamp int, run_uuid text, step int, is_nan bool);"
            "create table params (key text, value text, run_uuid text);"
        )
        for place, (run, status) in enumerate(runs):
            store.execute("insert into runs values (?, ?, ?, ?, 'active')", (run, run, status, place))
            store.execute("insert into params values ('lr', '0.01', ?)", (run,))
            for step in range(5):
                store.execute("insert into metrics values ('loss', ?, ?, ?, ?, 0)", (place, 1000 * step, run, step))
            store.execute("insert into metrics values ('loss', 0, 5000, ?, 5, 1)", (run,))
            store.execute("insert into metrics values ('loss', 1.7976931348623157e308, 6000, ?, 6, 0)", (run,))
    store.close()
    return path.read_bytes()


@pytest.mark.parametrize("wal", [False, True])
def test_a_database_with_one_run(tmp_path: Path, wal: bool) -> None:
    found = _read("mlflow.db", _database(tmp_path / "mlflow.db", [("a", "FINISHED")], wal))
    (series,) = found.series
    assert (series.name, series.place, series.lines.tolist()) == ("train/loss", "record", [1, 2, 3, 4, 5, 6, 7])
    np.testing.assert_array_equal(series.values, [0, 0, 0, 0, 0, math.nan, math.inf])
    assert [(setting.key, setting.value) for setting in found.settings] == [("mlflow.status", "FINISHED"), ("lr", 0.01)]
    assert found.remarks == []


def test_a_row_is_quoted_in_words(tmp_path: Path) -> None:
    raw = _database(tmp_path / "mlflow.db", [("a", "FINISHED")])
    assert _quote(raw, 3) == "step 2: loss 0.0"
    assert _quote(raw, 99) == ""
    assert _quote(b"SQLite format 3\0" + bytes(500), 1) == ""


@pytest.mark.parametrize(
    ("runs", "chosen"),
    [
        ([("a", "FINISHED"), ("b", "FAILED"), ("c", "FINISHED")], 1),
        ([("a", "FAILED"), ("b", "FAILED"), ("c", "FINISHED")], 2),
    ],
)
def test_of_many_runs_the_one_that_failed_or_else_the_last(
    tmp_path: Path, runs: list[tuple[str, str]], chosen: int
) -> None:
    found = _read("mlflow.db", _database(tmp_path / "mlflow.db", runs))
    assert found.series[0].values[0] == chosen
    name, status = runs[chosen]
    assert found.remarks[-1] == f"it holds 3 runs; `{name}` ({status}) was read"


def test_a_database_in_a_file_is_left_as_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = _database(tmp_path / "mlflow.db", [("a", "FINISHED")])
    monkeypatch.setattr("traindx.readers.trackers.database._LARGEST_IN_MEMORY", 10)
    with (tmp_path / "mlflow.db").open("rb") as handle:
        assert len(trackers.read("sqlite", handle, "mlflow.db").series) == 1
    assert [path.name for path in tmp_path.iterdir()] == ["mlflow.db"]
    assert (tmp_path / "mlflow.db").read_bytes() == before


def test_a_query_without_end_is_stopped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("traindx.readers.trackers.database._SECONDS", 0.2)
    path = tmp_path / "x.db"
    with contextlib.closing(sqlite3.connect(path)) as store, store:
        store.execute("create table metrics (key text, value float, timestamp int, run_uuid text, step int)")
        store.execute(
            "create view runs as select x as run_uuid, 'FAILED' as status, x as start_time from"
            " (with recursive n(x) as (select 1 union all select x + 1 from n) select x from n)"
        )
    store.close()
    found = _read("x.db", path.read_bytes())
    assert (found.series, found.remarks) == ([], ["the database cannot be read: interrupted"])


def test_trackio(tmp_path: Path) -> None:
    path = tmp_path / "demo.db"
    with contextlib.closing(sqlite3.connect(path)) as store, store:
        store.execute("create table metrics (id integer primary key, run_name text, step int, metrics text)")
        store.execute("create table configs (id integer primary key, run_name text, config text)")
        rows = [("old", 0, '{"loss": 9}'), ("new", 0, '{"loss": 1}'), ("new", 3, '{"loss": "NaN"}'), ("new", 4, "{")]
        store.executemany("insert into metrics (run_name, step, metrics) values (?, ?, ?)", rows)
        store.execute("insert into configs (run_name, config) values ('new', ?)", ('{"lr": 0.1, "_Group": null}',))
    store.close()
    found = _read("demo.db", path.read_bytes())
    np.testing.assert_array_equal(found.series[0].values, [1, math.nan])
    assert (found.series[0].at.tolist(), found.series[0].lines.tolist()) == ([0, 3], [2, 3])
    assert [(setting.key, setting.value) for setting in found.settings] == [("lr", 0.1)]
    assert _quote(path.read_bytes(), 3) == "step 3: loss NaN"
    assert found.remarks == ["1 of its rows are not metrics", "it holds 2 runs; `new`, the last one, was read"]


@settings(max_examples=examples(100))
@given(st.lists(st.tuples(st.integers(0, 1 << 16), st.binary(min_size=1, max_size=8)), max_size=20))
def test_no_damage_to_a_database_raises(damage: list[tuple[int, bytes]]) -> None:
    raw = bytearray(_SAMPLE)
    for place, data in damage:
        at = 16 + place % (len(raw) - 32)
        raw[at : at + len(data)] = data
    with _file(bytes(raw)) as handle:
        trackers.read("sqlite", handle, "mlflow.db")


def test_a_database_inside_an_archive() -> None:
    found = trackers.read("sqlite", io.BytesIO(_SAMPLE), "run.zip/mlflow.db")
    if sys.version_info >= (3, 11):
        assert len(found.series) == 1
    else:
        (remark,) = found.remarks
        assert remark.endswith("needs Python 3.11; unpack the archive")


def _sample() -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        return _database(Path(folder) / "mlflow.db", [("a", "FAILED")])


_SAMPLE = _sample()


@settings(max_examples=examples(100))
@given(st.binary(max_size=300), st.sampled_from(["metrics/loss", f"{RUN}/params/lr", "meta.yaml", "metrics.json"]))
def test_any_text_is_read(raw: bytes, path: str) -> None:
    for kind in ("mlflow-metric", "mlflow-parameter", "mlflow-tag", "mlflow-run", "sacred-metrics", "sacred-run"):
        trackers.read(kind, io.BytesIO(raw), path)
