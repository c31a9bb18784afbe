"""Several attempts in one log are told apart from the parts of a single run."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from tests.tools.signal_case import falling
from traindx import diagnose
from traindx.pipeline.request.attempts import attempt_named
from traindx.readers import Run, Scope
from traindx.readers.excerpts import log_tails


def records(last: int, first: int = 0, form: str = "step {at} loss {loss:.3f}") -> str:
    """Lines of a run that learns."""
    return "".join(form.format(at=at, loss=5 - 0.05 * at) + "\n" for at in range(first, last))


def going_on(part: int) -> str:
    """The steps of an epoch, counted from nought, with a loss that goes on from the epoch before."""
    return "".join(f"step {at} loss {5 - 0.05 * (10 * part + at):.3f}\n" for at in range(10))


HEAD = "Loading data from /data\nNamespace(lr=0.1, epochs=10)\nmodel has 12,000 parameters\n"
DIED = 'Traceback (most recent call last):\n  File "train.py", line 10, in <module>\nRuntimeError: CUDA out of memory\n'
EPOCH = "Epoch {at}/10 loss {loss:.3f}"
LATE = "".join(f"step {at} loss 4\nstep {at + 3} loss 4\n" for at in range(20))
VALIDATED = "validating the net\n" + "".join(f"val batch {batch}/5 val_loss 3.{batch}\n" for batch in range(5))
PROGRAM = "import os\nimport torch\ndef main():\n    x = 1\n    print(f'loss {x:.4f}')\nmain()\n"


@pytest.mark.parametrize(
    ("text", "starts", "points"),
    [
        (HEAD + records(20) + DIED + HEAD + records(30), [1, 27], 30),
        (HEAD + records(20) + HEAD + records(30), [1, 24], 30),
        (HEAD + DIED + HEAD + records(30), [1, 7], 30),
        (HEAD + records(20) + DIED + HEAD + records(5) + DIED + HEAD + records(40), [1, 27, 38], 40),
        (records(4, 1, EPOCH) + records(9, 1, EPOCH), [1, 4], 8),
        ("$ python train.py\n" + records(20) + "^C\n$ python train.py --lr 0.01\n" + records(25), [1, 23], 25),
        ((PROGRAM + "=====\n" + records(12)) * 2, [7, 20], 12),
    ],
    ids=["died", "said again", "died before a record", "three", "cut short", "prompt", "program again"],
)
def test_a_new_start_is_an_attempt_of_its_own(tmp_path: Path, text: str, starts: list[int], points: int) -> None:
    (tmp_path / "train.log").write_text(text)
    run = Run(Scope.of(tmp_path))
    assert [row.first for row in run.attempts["train.log"]] == starts
    (loss,) = [row for row in run.series if row.name == "train/loss"]
    assert (len(loss), loss.restarts) == (points, ())
    assert run.lines("train.log", int(loss.lines[0]), int(loss.lines[0]))[0].endswith(loss.texts[0])
    assert run.errors == []
    assert any("attempts" in remark and "last" in remark for remark in run.remarks)


def test_an_attempt_that_dies_at_once_is_judged_by_its_error(tmp_path: Path) -> None:
    (tmp_path / "train.log").write_text(HEAD + records(20) + HEAD + DIED)
    run = Run(Scope.of(tmp_path))
    assert run.series == []
    (error,) = run.errors
    assert (error.line, error.text) == (29, "RuntimeError: CUDA out of memory")


def test_an_earlier_attempt_can_be_chosen(tmp_path: Path) -> None:
    (tmp_path / "train.log").write_text(HEAD + records(20) + DIED + HEAD + records(30))
    run = Run(replace(Scope.of(tmp_path), attempt=1))
    assert [len(row) for row in run.series] == [20]
    assert [row.line for row in run.errors] == [26]


@pytest.mark.parametrize(
    "text",
    [
        HEAD + records(20) + DIED + HEAD + "Resuming from checkpoint at step 15\n" + records(30, 15),
        HEAD + records(20) + DIED + HEAD + "Resuming from checkpoint ckpt.pt\n" + records(30),
        HEAD + records(20) + DIED + HEAD + records(30, 20),
        "".join(f"=== Stage {stage}: length {128 * stage} ===\nloading shards\n" + records(10) for stage in (1, 2, 3)),
        "".join(f"Training on task {task}\nloading the shards\n" + records(10, 1, EPOCH) for task in "ABC"),
        "Starting the training of net\n" + "".join(f"Epoch {epoch}\n" + records(10) for epoch in (1, 2, 3)),
        "Starting the training of net\n" + "".join("new epoch\n" + going_on(part) for part in range(3)),
        "".join("a new epoch begins\n" + going_on(part) for part in range(3)),
        "loading the shards\n" * 4 + "".join(f"step {at} loss 4.{rank}\n" for at in range(20) for rank in range(4)),
        ("loading shards\n" + records(3)) + "loading shards\n" + LATE,
        HEAD + records(20) + HEAD + "test accuracy 0.91\n",
        HEAD + records(20) + "Loading data from /data\nfine-tuning the head\n" + going_on(2),
        HEAD + records(9) + "ValueError: bad sample skipped\n" + records(20, 9),
        "Starting\n" + "".join(f"step {at} loss 4.{at}\n" + (VALIDATED if at % 5 == 4 else "") for at in range(20)),
    ],
    ids=[
        "resumed", "resumed from nought", "goes on", "stages", "tasks", "steps of an epoch",
        "steps of an unnamed epoch", "epoch alone", "ranks", "late rank", "final evaluation",
        "second stage", "skipped sample", "validation",
    ],
)  # fmt: skip
def test_parts_of_one_run_are_no_attempts(tmp_path: Path, text: str) -> None:
    (tmp_path / "train.log").write_text(text)
    run = Run(Scope.of(tmp_path))
    assert [row.first for row in run.attempts["train.log"]] == [1]


@pytest.mark.parametrize(
    ("text", "starts"),
    [
        ("Building\n" + "".join(f"Fold {fold}/3\nBuilding\n" + records(10, 1) for fold in (1, 2, 3)), [1, 13, 24]),
        ("".join(f"seed {seed}\n" + records(12) for seed in (0, 1)), [1, 14]),
        (records(11, 1, EPOCH) * 3, [1, 11, 21]),
        ("\n".join([records(30), "=" * 20, records(30)]), [1, 31]),
    ],
    ids=["folds", "seeds", "complete three times", "a rule between them"],
)
def test_folds_and_seeds_are_runs_of_their_own(tmp_path: Path, text: str, starts: list[int]) -> None:
    (tmp_path / "train.log").write_text(text)
    run = Run(Scope.of(tmp_path))
    assert [row.first for row in run.attempts["train.log"]] == starts
    assert all(row.repeat for row in run.attempts["train.log"])


def test_the_worst_of_several_seeds_is_the_answer(tmp_path: Path) -> None:
    curve = falling(40)
    well = "".join(f"step {at} loss {loss:.3f}\n" for at, loss in enumerate(curve))
    broken = "".join(f"step {at} loss {'nan' if at > 20 else loss}\n" for at, loss in enumerate(curve))
    (tmp_path / "train.log").write_text(f"seed 0\n{well}seed 1\n{broken}seed 2\n{well}")
    found = diagnose(tmp_path, "is this fine?", brain="local")
    assert found.status == "diagnosis_complete"
    assert found.root_causes[0].id == "non-finite-loss"
    assert any("number 2" in note for note in found.provenance.notes)
    last = diagnose(tmp_path, "how is the last seed?", brain="local")
    assert last.status == "healthy"


@pytest.mark.parametrize(
    ("message", "wanted"),
    [
        ("why did the first attempt die?", 1),
        ("the loss was NaN before I restarted it", 2),
        ("what was wrong with the previous run?", 2),
        ("attempt 2 ran out of memory", 2),
        ("the last attempt is slow", None),
        ("loss went up in the first epoch", None),
        ("attempt 9 failed", None),
        ("", None),
    ],
)
def test_a_message_may_name_an_attempt(message: str, wanted: int | None) -> None:
    assert attempt_named(message, 3) == wanted


STARTED = "Loaded module: python3/3.7.5\nLoaded module: cuda/10.0\n"
FAILED = 'Traceback (most recent call last):\n  File "train.py", line 3, in <module>\n    main()\n{}\n'


@pytest.mark.parametrize(
    ("text", "starts", "judged"),
    [
        (
            (STARTED + FAILED).format("ValueError: one") + (STARTED + FAILED).format("KeyError: 'two'"),
            [1, 7],
            "KeyError",
        ),
        ((STARTED + FAILED).format("ValueError: one") + STARTED, [1], "ValueError"),
        (
            "usage: t.py [-h]\nt.py: error: argument --a: bad\nusage: t.py [-h]\nt.py: error: argument --b: bad\n",
            [1, 3],
            "--b",
        ),
        (FAILED.format("ValueError: one") + FAILED.format("KeyError: 'two'"), [1], "ValueError"),
        ((STARTED + FAILED.format("ValueError: one")) * 2 + "E1 torch.distributed.elastic failed\n", [1], "ValueError"),
    ],
    ids=["banner again", "started, nothing more", "arguments refused", "side by side", "several processes"],
)
def test_attempts_without_values_are_told_by_how_they_ended(
    tmp_path: Path, text: str, starts: list[int], judged: str
) -> None:
    (tmp_path / "train.err").write_text(text)
    run = Run(Scope.of(tmp_path))
    assert [row.first for row in run.attempts["train.err"]] == starts
    assert judged in run.errors[0].text


OPENING = (
    "[2026-01-01 10:00:0{n}][utils][INFO] - Enforcing tags\n[2026-01-01 10:00:0{n}][utils][INFO] - Printing the tree\n"
    "[2026-01-01 10:00:0{n}][main][INFO] - Instantiating the data\n"
    "[2026-01-01 10:00:0{n}][main][INFO] - Instantiating the net\n"
)
LOGGED = (
    "[2026-01-01 10:00:09][utils][ERROR] - \nTraceback (most recent call last):\n"
    '  File "/home/u/utils.py", line 39, in wrap\n    task(cfg)\n'
    "FileNotFoundError: checkpoint of epoch 9 not found\n[2026-01-01 10:00:09][utils][INFO] - Closing loggers\n"
)
ENDED = "".join(f"[2026-01-01 10:01:0{n}][main][INFO] - testing part {n}\n" for n in range(9)) + "Closing loggers\n" * 3


@pytest.mark.parametrize(
    ("text", "starts", "errors"),
    [
        (OPENING.format(n=1) + LOGGED + OPENING.format(n=2) + ENDED, [1, 11], 0),
        (OPENING.format(n=1) + LOGGED + OPENING.format(n=2) + LOGGED, [1, 11], 1),
        (OPENING.format(n=1) + LOGGED + OPENING.format(n=2), [1], 1),
        (OPENING.format(n=1) + OPENING.format(n=2) + ENDED + LOGGED, [1], 1),
        (OPENING.format(n=1) + LOGGED + "[2026-01-01 10:00:09][utils][INFO] - Enforcing tags\n" + ENDED, [1], 1),
    ],
    ids=["ended well", "died again", "only begun", "said twice by two processes", "one line of them"],
)
def test_an_exception_that_was_logged_ended_an_attempt(
    tmp_path: Path, text: str, starts: list[int], errors: int
) -> None:
    (tmp_path / "train.log").write_text(text)
    run = Run(Scope.of(tmp_path))
    assert [row.first for row in run.attempts["train.log"]] == starts
    assert len([row for row in run.errors if "FileNotFoundError" in row.text]) == errors
    assert all(row.first >= starts[-1] for row in log_tails(run, 1 << 16))


def test_a_start_that_broke_off_before_its_first_record_hides_none_that_comes_later(tmp_path: Path) -> None:
    begun = "loading the datasets\ndone\nstarting training for 5 epochs\n"
    first, second, third = (
        begun + "".join(f"epoch {n}/5\naverage loss {2 / n:.3f}\n" for n in range(1, last)) for last in (6, 5, 4)
    )
    (tmp_path / "train.log").write_text(first + begun * 3 + second + begun + third)
    run = Run(Scope.of(tmp_path))
    assert run.attempts["train.log"][-1].first > len((first + begun * 3 + second).splitlines())
    (loss,) = [row for row in run.series if row.name == "train/loss"]
    assert len(loss) == 3
