"""A fault of one file costs that file, and is told apart from a file in which nothing was found."""

from __future__ import annotations

import io
from pathlib import Path
from typing import BinaryIO

import pytest

from traindx.contract import Diagnosis, RequestSummary, UnreadFile
from traindx.readers import Run, Scope
from traindx.readers.code.codebase import read_code
from traindx.readers.faults import Remarks
from traindx.readers.logs.textlog import read_log
from traindx.readers.model import RunFile
from traindx.report import render


@pytest.mark.parametrize("digits", [8, 9, 16, 17, 40])
def test_long_constant_digits_are_read(digits: int) -> None:
    text = "".join(f"id{'1' * digits} step {at} loss {5 - at / 1000:.4f}\n" for at in range(2000))
    series, _ = read_log(io.BytesIO(text.encode()), "train.log")
    assert [(row.name, len(row)) for row in series] == [("train/loss", 2000)]


def test_whatever_a_reader_raises_is_noted_with_the_file() -> None:
    remark = Remarks()
    with remark.guarding("train.log"):
        raise ZeroDivisionError("a surprise")
    (unread,) = remark.unread
    assert unread.path == "train.log"
    assert "ZeroDivisionError" in unread.reason
    assert "`train.log`" in remark.texts[0]


def test_a_file_with_nothing_in_it_is_not_unread(tmp_path: Path) -> None:
    (tmp_path / "train.log").write_text("hello\n")
    run = Run(Scope.of(tmp_path))
    assert (run.series, run.errors, run.unread) == ([], [], [])


def test_a_file_that_goes_away_costs_itself_alone(tmp_path: Path) -> None:
    for name in ("a.log", "b.log"):
        (tmp_path / name).write_text("".join(f"step {at} loss {5 - at / 10:.3f}\n" for at in range(40)))
    run = Run(Scope.of(tmp_path))
    assert len(run.files) == 2
    (tmp_path / "a.log").unlink()
    assert {row.source for row in run.series} == {"b.log"}
    assert [row.path for row in run.unread] == ["a.log"]


@pytest.mark.parametrize("form", ["terminal", "markdown"])
def test_the_report_shows_what_could_not_be_read(form: str) -> None:
    unread = [UnreadFile(path="odd.log", reason="the reader failed: KeyError: 3")]
    found = Diagnosis(status="healthy", request=RequestSummary(kind="check-up"), unread=unread)
    assert "`odd.log`: the reader failed: KeyError: 3" in render(found, form)


class OddScope(Scope):
    """A scope in which one file does what nobody expects."""

    def open(self, name: str) -> BinaryIO:
        if name == "odd.py":
            raise KeyError("a surprise")
        return super().open(name)


def test_a_fault_in_one_program_costs_that_program_alone(tmp_path: Path) -> None:
    for name in ("good.py", "odd.py"):
        (tmp_path / name).write_text("import torch\n")
    remark = Remarks()
    files = [RunFile(name, "code", 13) for name in ("good.py", "odd.py")]
    units, _ = read_code(OddScope(tmp_path), files, guard=remark.guarding)
    assert [unit.path for unit in units] == ["good.py"]
    assert [row.path for row in remark.unread] == ["odd.py"]
