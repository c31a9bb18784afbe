"""Errors that users of many projects reported are told by their family."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

import pytest

from tests.tools.calling import call, load
from tests.tools.reported_errors import REPORTED as EARLIER
from tests.tools.reported_stacks import REPORTED as STACKS
from tests.tools.signal_case import losses
from traindx.readers import Run, Scope
from traindx.runtime import NoData

REPORTED = [*EARLIER, *STACKS]


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


NO_CAUSE = [
    "INFO 05-02 11:20:33 [core.py:718] Free memory on device (17.1/23.6 GiB), desired 0.6",
    "compiling with /usr/bin/gcc: returned zero exit status",
    "INFO resumed a checkpoint that was saved with 8 ranks on 8 ranks",
    "step 4 loss 0.31 shared memory Required: 49152, Hardware limit: 101376",
    "triton.runtime.autotuner: best config found",
    "registry: mmdet::model registry has 112 entries",
]


@pytest.mark.parametrize("line", NO_CAUSE)
def test_ordinary_lines_with_the_same_words_name_nothing(line: str, tmp_path: Path) -> None:
    (tmp_path / "train.log").write_text("\n".join([*losses(3), line, *losses(6)]) + "\n", encoding="utf-8")
    with suppress(NoData):
        report = call(load("explain_error"), Run(Scope.of(tmp_path))).model_dump()
        assert report["root"] is None


OTHER_MEANINGS = [
    ("obs, info = env.reset()", "ValueError: too many values to unpack (expected 2)"),
    ("for name, value in settings:", "ValueError: not enough values to unpack (expected 2, got 1)"),
    ("picture.load()", "OSError: image file is truncated (17 bytes not processed)"),
]


@pytest.mark.parametrize(("code", "message"), OTHER_MEANINGS)
def test_what_the_line_of_code_speaks_against_is_of_no_family(code: str, message: str, tmp_path: Path) -> None:
    lines = ["Traceback (most recent call last):", '  File "/home/u/train.py", line 31, in <module>', f"    {code}"]
    (tmp_path / "train.log").write_text("\n".join([*losses(3), *lines, message]) + "\n", encoding="utf-8")
    report = call(load("explain_error"), Run(Scope.of(tmp_path))).model_dump()
    assert report["root"] is not None
    assert report["root"]["family"] == ""
