"""`traindx verify`: real pairs of runs, and new runs that only seem to be repaired."""

from __future__ import annotations

import json
import random
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.conftest import Command
from traindx import diagnose
from traindx.contract import Verification
from traindx.definitions.content import EXAMPLES
from traindx.diagnosis.catalog import FailureMode, load_catalog, read_folder
from traindx.diagnosis.checks.fill import filled, own_signals
from traindx.diagnosis.wording import fix_for
from traindx.errors import DefinitionError, UsageError
from traindx.pipeline.verification.applying import apply_diff
from traindx.pipeline.verification.verify import verify

BROKEN, HEALTHY = EXAMPLES / "schedule-change", EXAMPLES / "schedule-change-healthy"
LSTM = EXAMPLES / "frequency-lstm"
CRASH = (
    "Traceback (most recent call last):\n"
    '  File "train.py", line 88, in <module>\n    main()\n'
    "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 23.64 GiB of"
    " which 1.06 GiB is free.\n"
)


def changed(folder: Path, change: Callable[[str], str] = str, log: Callable[[str], str] = str) -> Path:
    """The healthy twin with its table and its log changed."""
    shutil.copytree(HEALTHY, folder)
    for name, function in (("metrics.csv", change), ("train.log", log)):
        (folder / name).write_text(function((folder / name).read_text()))
    return folder


def upto(epochs: int, log: Path) -> tuple[Callable[[str], str], Callable[[str], str]]:
    """A run that was ended after so many epochs."""
    rows = log.read_text().splitlines(keepends=True)
    first = next(place for place, row in enumerate(rows) if "epoch" in row and "loss" in row)
    return (
        lambda text: "".join(text.splitlines(keepends=True)[: epochs + 1]),
        lambda text: "".join(text.splitlines(keepends=True)[: first + epochs]),
    )


def outcome(found: Verification, words: str) -> str:
    return next(row.outcome for row in found.checks if words in row.what)


@pytest.mark.slow
def test_the_repaired_twin_confirms_the_fix_with_places_in_both_runs() -> None:
    found = verify(BROKEN, HEALTHY)
    assert found.verdict == "confirmed"
    assert found.cause == "lr-schedule-spike"
    assert {place.run for row in found.checks for place in row.evidence} == {"before", "after"}
    assert "past epoch 7" in found.verify


@pytest.mark.slow
def test_the_same_run_refutes_it() -> None:
    found = verify(BROKEN, BROKEN)
    assert found.verdict == "refuted"
    assert outcome(found, "gone: `lr-raised-at-onset`") == "failed"
    assert outcome(found, "stays below") == "failed"


@pytest.mark.slow
@pytest.mark.parametrize(("epochs", "verdict"), [(5, "inconclusive"), (8, "inconclusive"), (9, "confirmed")])
def test_a_run_has_to_get_past_the_place_to_say_anything(tmp_path: Path, epochs: int, verdict: str) -> None:
    """Two logged points past epoch 7, says the sentence."""
    new = changed(tmp_path / "new", *upto(epochs, HEALTHY / "train.log"))
    found = verify(BROKEN, new)
    assert found.verdict == verdict, found.summary
    assert outcome(found, "the run gets past epoch 7") == ("passed" if verdict == "confirmed" else "unknown")


@pytest.mark.slow
def test_another_metric_says_nothing(tmp_path: Path) -> None:
    new = tmp_path / "new"
    new.mkdir()
    rows = "".join(f"{epoch},{0.5 + epoch / 30:.4f}\n" for epoch in range(1, 13))
    (new / "metrics.csv").write_text("epoch,val_accuracy\n" + rows)
    found = verify(BROKEN, new)
    assert found.verdict == "inconclusive"
    assert "judged by `train/loss`" in found.summary


@pytest.mark.slow
def test_another_failure_leaves_it_open(tmp_path: Path) -> None:
    new = changed(tmp_path / "new", log=lambda text: text + CRASH)
    found = verify(BROKEN, new)
    assert found.verdict == "inconclusive"
    assert found.summary.startswith("The cause `lr-schedule-spike` is gone, but the new run fails")
    assert "out of memory" in found.summary.lower()


@pytest.mark.slow
def test_a_loss_that_still_breaks_refutes_whatever_the_rate_does(tmp_path: Path) -> None:
    def break_again(text: str) -> str:
        head, *rows = text.splitlines()
        place = head.split(",").index("train_loss") if "train_loss" in head else 2
        cells = [row.split(",") for row in rows]
        for number, row in enumerate(cells):
            if number >= 7:
                row[place] = "31.5"
        return "\n".join([head, *(",".join(row) for row in cells)]) + "\n"

    new = changed(tmp_path / "new", break_again, log=lambda _: "")
    (new / "train.log").unlink()
    assert verify(BROKEN, new).verdict == "refuted"


@pytest.mark.slow
def test_an_empty_new_run_says_nothing(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("later\n")
    assert verify(BROKEN, tmp_path).verdict == "inconclusive"


@pytest.mark.slow
@pytest.mark.parametrize("variant", ["state-not-detached", "state-reset-every-step", "retain-graph-workaround"])
def test_a_program_that_is_repaired_confirms(variant: str) -> None:
    assert verify(LSTM / variant, LSTM / "correct").verdict == "confirmed"


@pytest.mark.slow
def test_a_program_with_another_fault_does_not_confirm() -> None:
    assert verify(LSTM / "state-not-detached", LSTM / "cell-state-not-detached").verdict != "confirmed"


@pytest.mark.slow
def test_without_the_code_a_fault_of_the_code_is_not_said_to_be_gone(tmp_path: Path) -> None:
    shutil.copy(LSTM / "correct" / "train.log", tmp_path / "train.log")
    found = verify(LSTM / "state-never-reset", tmp_path)
    assert found.verdict == "inconclusive"
    assert "nothing to look for" in found.summary


@pytest.mark.slow
def test_the_command_s_exit_codes_and_files(tmp_path: Path, traindx: Command) -> None:
    kept = tmp_path / "diagnosis.json"
    assert traindx("diagnose", BROKEN, "--json", "--output", kept).returncode == 0
    done = traindx("verify", BROKEN, "--fixed", HEALTHY, "--diagnosis", kept, "--cause", "lr-schedule-spike", "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["verdict"] == "confirmed"
    again = traindx("verify", BROKEN, "--fixed", BROKEN)
    assert (again.returncode, again.stdout.split()[0]) == (1, "REFUTED")
    empty = tmp_path / "empty"
    empty.mkdir()
    (empty / "notes.txt").touch()
    assert traindx("verify", BROKEN, "--fixed", empty).returncode == 4


@pytest.mark.slow
@pytest.mark.parametrize(
    ("words", "said"),
    [
        ((BROKEN,), "give the run with the fix"),
        ((BROKEN, "--fixed", HEALTHY, "--probe", "state_flow"), "give the run with the fix"),
        ((HEALTHY, "--fixed", HEALTHY), "shows no cause that a fix could be for"),
        ((BROKEN, "--fixed", HEALTHY, "--cause", "lr-schedul-spike"), "Did you mean `lr-schedule-spike`?"),
        ((BROKEN, "--fixed", HEALTHY, "--diagnosis", BROKEN / "metrics.csv"), "it is not what"),
        ((BROKEN, "--fixed", "nowhere"), "nowhere"),
        ((BROKEN, "--probe", "state_flow", "--script", BROKEN / "train.py", "-y"), "says nothing about"),
    ],
)
def test_what_cannot_be_verified_is_refused_in_one_sentence(
    traindx: Command, words: tuple[object, ...], said: str
) -> None:
    done = traindx("verify", *words)
    assert done.returncode == 2
    assert said in done.stderr
    assert "Traceback" not in done.stderr


# The checks in the catalog


def test_every_failure_mode_can_be_checked() -> None:
    for mode in load_catalog().values():
        checks = filled(mode, {})
        assert checks, mode.id
        assert all(check.signals for check in checks if check.kind == "gone" and own_signals(mode))
    assert sum(bool(mode.checks) for mode in load_catalog().values()) >= 25


def test_sentence_and_check_share_their_number() -> None:
    mode = load_catalog()["lr-schedule-spike"]
    fix = fix_for(mode, {"onset": "epoch 7", "loss_before": 0.2})
    limit = next(check for check in fix.checks if check.relation == "below")
    assert limit.value == pytest.approx(0.3)
    assert (limit.axis, limit.at) == ("epoch", 7.0)
    assert f"below {limit.value:.3g}" in fix.verify


MODE = """\
---
id: odd
title: odd
specialist: ml-debugger
severity: high
for:
  loss-diverged: decisive, direct
issue: [It broke]
fix: {{summary: [a], expected: [b], verify: [c], fallback: [d]}}
checks:
  - {check}
asks: [What?]
---
## What it is
## How it shows
## How to tell it from its neighbours
## Fix
## Verify
## If that fails
"""


@pytest.mark.parametrize(
    ("check", "said"),
    [
        ("gon: own", r"odd\.md:\d+: .*checks\.0\.gon"),
        ("gone: [loss-divergd]", r"odd\.md:10: .*Did you mean `loss-diverged`"),
        ("{gone: own, past: end}", "a check looks at one of"),
        ("series: loss", "a series takes one of"),
        ("{series: loss, below: '1', above: '0'}", "a series takes one of"),
        ("{past: end, better: true}", "a series takes one of"),
        ("error: some", r"odd\.md:\d+: "),
    ],
)
def test_a_wrong_check_is_named_with_its_line(tmp_path: Path, check: str, said: str) -> None:
    (tmp_path / "odd.md").write_text(MODE.format(check=check))
    with pytest.raises(DefinitionError, match=said):
        read_folder(tmp_path)


def test_a_check_whose_facts_are_unknown_falls_away(tmp_path: Path) -> None:
    (tmp_path / "odd.md").write_text(MODE.format(check="{series: loss, below: some_limit}"))
    mode: FailureMode = read_folder(tmp_path)["odd"]
    assert [check.kind for check in filled(mode, {})] == ["gone", "past", "error"]
    assert [check.value for check in filled(mode, {"some_limit": 2.5})] == [2.5]


# A diff in a copy


@pytest.mark.slow
def test_a_diagnosed_diff_is_applied(tmp_path: Path) -> None:
    diff = diagnose(LSTM / "state-not-detached", brain="local").root_causes[0].fix.diff
    assert diff
    shutil.copy(LSTM / "state-not-detached" / "train.py", tmp_path)
    (tmp_path / "train.py").write_text("# moved by two lines\n\n" + (tmp_path / "train.py").read_text())
    assert apply_diff(diff, tmp_path) == ["train.py"]
    assert "detach()" in (tmp_path / "train.py").read_text()


@pytest.mark.parametrize("name", ["../train.py", "/etc/passwd", "a/../../train.py", "link.py", "nowhere.py", ""])
def test_a_diff_never_leaves_the_folder(tmp_path: Path, name: str) -> None:
    (tmp_path / "train.py").write_text("old\n")
    work = tmp_path / "work"
    work.mkdir()
    (work / "link.py").symlink_to(tmp_path / "train.py")
    with pytest.raises(UsageError):
        apply_diff(f"--- a/x\n+++ b/{name}\n@@ -1 +1 @@\n-old\n+new\n", work)
    assert (tmp_path / "train.py").read_text() == "old\n"


def test_a_diff_that_does_not_fit_changes_nothing(tmp_path: Path) -> None:
    for name in ("a.py", "b.py"):
        (tmp_path / name).write_text("one\ntwo\n")
    diff = "--- a/a.py\n+++ b/a.py\n@@ -1 +1 @@\n-one\n+1\n--- a/b.py\n+++ b/b.py\n@@ -1 +1 @@\n-three\n+3\n"
    with pytest.raises(UsageError, match=r"does not fit `b\.py` near line 1"):
        apply_diff(diff, tmp_path)
    assert (tmp_path / "a.py").read_text() == "one\ntwo\n"


@pytest.mark.slow
def test_a_consequence_that_is_less_grave_refutes_no_fix(tmp_path: Path) -> None:
    drawn = random.Random(0)
    noise = [abs(drawn.gauss(0.9, 0.25)) for _ in range(320)]
    for name, rate, losses in (("before", 5.0, [10.0 ** min(n, 30) for n in range(320)]), ("after", 0.05, noise)):
        (tmp_path / name).mkdir()
        rows = [f"{n},{rate},{loss:.6g}\n" for n, loss in enumerate(losses)]
        (tmp_path / name / "metrics.csv").write_text("step,lr,loss\n" + "".join(rows))
        (tmp_path / name / "config.yaml").write_text(f"optimizer: sgd\nlr: {rate}\n")
    found = verify(tmp_path / "before", tmp_path / "after")
    assert found.cause == "learning-rate-too-high"
    assert (found.verdict, outcome(found, "fails in no other way")) == ("inconclusive", "unknown")
    assert "`noisy-gradients`" in found.summary
