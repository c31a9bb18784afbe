"""An exception that nothing explains: the user's line among its neighbours, what the class means, a chain's root."""

from __future__ import annotations

import builtins
from pathlib import Path

import pytest

from tests.tools.calling import call, load
from traindx.contract import Signal
from traindx.diagnosis.catalog import load_catalog
from traindx.diagnosis.wording import fix_for, issue_for
from traindx.readers import Run, Scope
from traindx.vocabulary.exceptions import known_exceptions

CODE = """import torch


def step(batch):
    x = batch["image"]
    y = batch["label"]
    return model(x, y)


for batch in loader:
    step(batch)
"""
TRACEBACK = """epoch 1 loss 0.5
Traceback (most recent call last):
  File "/home/me/train.py", line 11, in <module>
    step(batch)
  File "/home/me/train.py", line 5, in step
    x = batch["image"]
{error}
"""
CAUSED = """
The above exception was the direct cause of the following exception:

Traceback (most recent call last):
  File "/home/me/train.py", line 11, in <module>
    raise RuntimeError("bad batch") from error
RuntimeError: bad batch
"""


def _signal(folder: Path, log: str, code: str = CODE) -> Signal:
    (folder / "train.log").write_text(log)
    if code:
        (folder / "train.py").write_text(code)
    found: list[Signal] = call(load("explain_error"), Run(Scope.of(folder))).signals
    return next(row for row in found if row.id == "error-unexplained")


def test_the_code_around_the_users_own_line_is_cited(tmp_path: Path) -> None:
    signal = _signal(tmp_path, TRACEBACK.format(error="KeyError: 'image'"))
    (around,) = [place for place in signal.citations if place.claim == "the code around it"]
    assert (around.source, around.locator) == ("train.py", "lines 4-7")
    assert around.quote == "\n".join(CODE.splitlines()[3:7])
    assert signal.facts["frame"] == "train.py:5"


def test_without_the_program_the_end_of_the_traceback_is_cited(tmp_path: Path) -> None:
    signal = _signal(tmp_path, TRACEBACK.format(error="KeyError: 'image'"), code="")
    (end,) = [place for place in signal.citations if place.claim == "the end of its traceback"]
    assert end.quote.endswith('line 5, in step\n    x = batch["image"]')


def test_the_root_of_a_chain_leads(tmp_path: Path) -> None:
    signal = _signal(tmp_path, TRACEBACK.format(error="KeyError: 'image'") + CAUSED)
    assert signal.facts["error"] == "KeyError: 'image'"
    assert signal.facts["led_to"] == "RuntimeError: bad batch"
    assert signal.citations[0].quote == "KeyError: 'image'"
    said = issue_for(load_catalog()["unhandled-exception"], signal.facts)
    assert "KeyError: 'image'; it led to `RuntimeError: bad batch`" in said


def test_two_exceptions_one_after_the_other_are_no_chain(tmp_path: Path) -> None:
    log = TRACEBACK.format(error="KeyError: 'image'") + CAUSED.split("exception:\n", 1)[1]
    assert "led_to" not in _signal(tmp_path, log).facts


@pytest.mark.parametrize("name", sorted(known_exceptions()))
def test_the_fix_says_what_the_class_means_and_what_to_print(tmp_path: Path, name: str) -> None:
    known = known_exceptions()[name]
    facts = {"error": name, "frame": "train.py:5"}
    facts |= {"exception": name, "exception_means": known.means, "exception_look": known.look}
    fix = fix_for(load_catalog()["unhandled-exception"], facts)
    assert known.means in fix.summary
    assert known.look in fix.summary
    assert "issue tracker" not in fix.summary
    assert known.means.endswith(".")
    assert known.look.endswith(".")


@pytest.mark.parametrize(
    "name",
    ["KeyError", "AttributeError", "TypeError", "IndexError", "ValueError",
     "AssertionError", "ZeroDivisionError", "StopIteration", "RecursionError", "UnicodeDecodeError", "OSError",
     "NotImplementedError", "RuntimeError", "EOFError", "NameError"],
)  # fmt: skip
def test_what_is_known_of_an_exception_reaches_the_signal(tmp_path: Path, name: str) -> None:
    # `ImportError` and its kind, `PermissionError` and `KeyboardInterrupt` have failure modes of their own.
    assert hasattr(builtins, name)
    signal = _signal(tmp_path, TRACEBACK.format(error=f"{name}: something of the project"))
    assert signal.facts["exception"] == name
    assert signal.facts["exception_means"] == known_exceptions()[name].means


def test_of_a_class_of_the_project_nothing_is_claimed(tmp_path: Path) -> None:
    signal = _signal(tmp_path, TRACEBACK.format(error="my.pkg.ShardError: shard 7"))
    assert "exception_means" not in signal.facts
    fix = fix_for(load_catalog()["unhandled-exception"], signal.facts)
    assert "train.py:5" in fix.summary
