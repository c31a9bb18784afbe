"""Errors that users of many projects reported are told by their family."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.tools.calling import call, load
from tests.tools.reported_errors import REPORTED
from tests.tools.signal_case import losses
from traindx.readers import Run, Scope


@pytest.mark.parametrize(
    ("family", "lines"), [row[1:] for row in REPORTED], ids=[f"{at}-{row[0]}" for at, row in enumerate(REPORTED)]
)
def test_a_reported_error_is_named(family: str, lines: str, tmp_path: Path) -> None:
    (tmp_path / "train.log").write_text("\n".join([*losses(3), lines]) + "\n", encoding="utf-8")
    report = call(load("explain_error"), Run(Scope.of(tmp_path))).model_dump()
    assert report["root"] is not None, "no error was found"
    assert report["root"]["family"] == family, report["root"]["text"]


def test_they_come_from_many_projects() -> None:
    assert len(REPORTED) >= 60
    assert len({row[0] for row in REPORTED}) >= 25
