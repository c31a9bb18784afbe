"""How much of a run is read: everything where there is time, else samples and the end; and the account of it."""

from __future__ import annotations

import gzip
import io
import json
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from traindx.api import gather_context
from traindx.readers import Run, Scope
from traindx.readers.coverage import Allowance, Coverage, Covered, Limits, Timer, shared_out
from traindx.readers.logs.errors import read_errors
from traindx.readers.logs.lines import RawBlocks
from traindx.readers.logs.textlog import read_log
from traindx.readers.tables.table import read_csv, read_jsonl

_LOG = "".join(f"step {n} loss {1 + 1 / (n + 1):.4f}\n" for n in range(200_000)) + "RuntimeError: the end\n"


def _hurried(told: list[tuple[int, int]]) -> Allowance:
    return Allowance(Timer(0.0), lambda read, of: told.append((read, of)))


def test_a_log_without_time_keeps_its_line_numbers_and_its_end() -> None:
    told: list[tuple[int, int]] = []
    raw = _LOG.encode()
    (series,), remarks = read_log(io.BytesIO(raw), "train.log", _hurried(told))
    assert (series.lines - 1).tolist() == series.at.tolist()
    assert (series.at[0], series.at[-1]) == (0, 199_999)
    assert told[0][1] == len(raw)
    assert told == [(told[0][0], len(raw))]
    found = read_errors(io.BytesIO(raw), "train.log", allowance=_hurried(told))
    assert [(row.text, row.line) for row in found] == [("RuntimeError: the end", 200_001)]
    assert all("spread over the whole" in remark for remark in remarks)


def test_blocks_of_a_hurried_file_are_spread_and_the_last_are_there() -> None:
    told: list[tuple[int, int]] = []
    raw = b"".join(b"%07d\n" % n for n in range(50_000))
    blocks = RawBlocks(io.BytesIO(raw), 1_000, allowance=_hurried(told))
    given = list(blocks)
    assert all(int(data[:7]) == first - 1 for first, data in given)
    assert [first for first, _ in given] == sorted({first for first, _ in given})
    assert given[0][0] == 1
    assert given[-1][1].endswith(b"0049999\n")
    firsts = [first for first, _ in given]
    assert max(later - earlier for earlier, later in pairwise(firsts)) < 50_000 / 10
    assert told == [(sum(len(data) for _, data in given), len(raw))]
    assert told[0][0] < len(raw) / 4
    assert "spread over the whole, and its end" in blocks.troubles[0]


@pytest.mark.parametrize("kind", ["csv", "jsonl"])
def test_a_table_without_time_is_sampled_to_its_end(kind: str, tmp_path: Path) -> None:
    told: list[tuple[int, int]] = []
    path = tmp_path / f"metrics.{kind}"
    if kind == "csv":
        path.write_text("step,loss\n" + "".join(f"{n},{n / 3!r}\n" for n in range(900_000)))
    else:
        path.write_text("".join(f'{{"step": {n}, "loss": {n / 3!r}}}\n' for n in range(200_000)))
    with path.open("rb") as handle:
        read = read_csv if kind == "csv" else read_jsonl
        (series,) = read(handle, path.name, allowance=_hurried(told))
    assert series.at[-1] == series.values[-1] * 3
    assert series.at[-1] in {899_999, 199_999}
    assert told[0][0] < told[0][1] == path.stat().st_size


def test_the_whole_of_an_ordinary_run_is_read_and_said(tmp_path: Path) -> None:
    for n in range(350):
        ending = "ValueError: in the last of many\n" if n == 349 else ""
        (tmp_path / f"train_{n:03d}.log").write_text("".join(f"step {s} loss 0.5\n" for s in range(5)) + ending)
    (tmp_path / "metrics.jsonl").write_text("".join(json.dumps({"step": n, "loss": 1.0}) + "\n" for n in range(9)))
    run = Run(Scope.of(tmp_path))
    assert [row.source for row in run.errors] == ["train_349.log"]
    assert len(run.series) == 351
    assert all(row.whole for row in run.coverage)
    assert Covered("logs", "files", 350, 350) in run.coverage
    sizes = sum(path.stat().st_size for path in tmp_path.glob("*.log"))
    assert Covered("logs", "bytes", sizes, sizes) in run.coverage
    assert not any("were read" in remark for remark in run.remarks)


def test_fewer_files_than_there_are_is_said(tmp_path: Path) -> None:
    for n in range(7):
        (tmp_path / f"train_{n}.log").write_text("".join(f"step {s} loss 0.5\n" for s in range(5)))
    run = Run(
        Scope.of(tmp_path), limits=Limits(files={"log": 3, "metrics": 1, "config": 1, "checkpoint": 1, "data": 1})
    )
    assert len({row.source for row in run.series}) == 3
    (row,) = [row for row in run.coverage if row.unit == "files"]
    assert (row.read, row.of, row.whole) == (3, 7, False)
    assert "3 of 7 log files were read, those closest to the top" in run.remarks


@pytest.mark.slow
def test_the_context_package_carries_the_account(tmp_path: Path) -> None:
    (tmp_path / "train.log").write_text("".join(f"step {s} loss 0.5\n" for s in range(50)))
    (tmp_path / "train.py").write_text("import torch\n")
    package = gather_context(tmp_path)
    rows = {(row.what, row.unit): row for row in package.coverage}
    size = (tmp_path / "train.log").stat().st_size
    assert (rows["logs", "bytes"].read, rows["logs", "bytes"].of, rows["logs", "bytes"].whole) == (size, size, True)
    assert rows["logs", "files"].of == rows["code files", "files"].of == 1
    assert "coverage" in package.model_dump()


def test_an_archive_that_unpacks_to_the_same_for_ever_is_given_up() -> None:
    told: list[tuple[int, int]] = []
    bomb = gzip.compress(b"step 1 loss 0.5\n" * 400_000, 9)
    blocks = RawBlocks(
        io.BytesIO(bomb),
        100_000,
        allowance=Allowance(None, lambda read, of: told.append((read, of))),
        harmless=1_000_000,
    )
    read = sum(len(data) for _, data in blocks)
    assert read < 2_000_000
    assert "times its size" in blocks.troubles[0]
    ((given, of),) = told
    assert given < of


def test_an_ordinary_archive_is_read_to_its_end() -> None:
    chance = np.random.default_rng(1)
    text = "".join(f"step {n} loss {value:.6f}\n" for n, value in enumerate(chance.random(60_000).tolist())).encode()
    blocks = RawBlocks(io.BytesIO(gzip.compress(text)), 100_000, harmless=100_000)
    assert b"".join(data for _, data in blocks) == text
    assert blocks.troubles == []


@pytest.mark.slow
def test_a_bomb_of_two_megabytes_costs_a_moment(tmp_path: Path) -> None:
    with gzip.open(tmp_path / "train.log.gz", "wb", compresslevel=9) as file:
        for _ in range(600):
            file.write(b"\0" * (1 << 20))
    package = gather_context(tmp_path)
    assert any("times its size" in remark for remark in package.missing)


def test_a_file_counts_once_by_the_reader_that_read_least() -> None:
    account = Coverage()
    account.note("logs", "bytes", "a.log", 100, 100)
    account.note("logs", "bytes", "a.log", 60, 100)
    account.note("logs", "bytes", "b.log", 10, 10)
    assert account.rows() == [Covered("logs", "bytes", 70, 110)]
    assert not account.rows()[0].whole


def test_the_modest_get_what_they_need_and_the_others_share() -> None:
    assert shared_out({"a": 5, "b": 1_000, "c": 1_000}, 105) == {"a": 5, "b": 50, "c": 50}
    assert shared_out({"a": 5, "b": 6}, 100) == {"a": 5, "b": 6}
