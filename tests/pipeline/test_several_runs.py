"""Several runs side by side in one folder are several runs, and the parts of one run are one."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from traindx import diagnose
from traindx.api import gather_context
from traindx.contract import RunSummary
from traindx.pipeline.several import picked

LINES = 40
CRASH = (
    'loading data\nTraceback (most recent call last):\n  File "train.py", line 3, in <module>\n    main()\n'
    "FileNotFoundError: [Errno 2] No such file or directory: 'data/train.bin'\n"
)


def falling(epoch: int, seed: int = 0) -> float:
    return 2.3 * math.exp(-epoch / 12) + 0.2 + 0.01 * math.sin(7 * epoch + seed)


def log(seed: int = 0, form: str = "epoch {e} loss {v:.4f} val_loss {w:.4f}") -> str:
    return "".join(form.format(e=e, v=falling(e, seed), w=falling(e, seed) + 0.05) + "\n" for e in range(1, LINES))


def broken(since: int = 9) -> str:
    values = [falling(epoch) if epoch < since else math.nan for epoch in range(1, LINES)]
    return "".join(f"epoch {e} loss {v:.4f} val_loss {v:.4f}\n" for e, v in enumerate(values, 1))


def table(seed: int) -> str:
    return "epoch,loss,val_loss\n" + "".join(
        f"{e},{falling(e, seed):.4f},{falling(e, seed) + 0.1:.4f}\n" for e in range(30)
    )


def steps(first: int, last: int, before: str = "") -> str:
    return before + "".join(f"step {s} loss {3 * math.exp(-s / 500) + 0.5:.4f}\n" for s in range(first, last, 10))


def folder(place: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        path = place / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return place


SEVERAL: dict[str, dict[str, str]] = {
    "words": {"baseline.log": log(), "bigger.log": broken()},
    "jobs": {"slurm-81231.out": log(), "slurm-81240.out": CRASH},
    "folds": {"fold_0.csv": table(0), "fold_1.csv": table(3)},
    "seeds beside a config": {"seed1.log": log(1), "seed2.log": log(2), "config.yaml": "lr: 0.1\n"},
    "a sweep": {f"lr-{n}/train.log": log(n) for n in range(3)},
}
ONE: dict[str, dict[str, str]] = {
    "a chain of jobs": {"slurm-81231.out": steps(0, 500), "slurm-81240.out": steps(490, 1000, "resumed at step 490\n")},
    "two streams of one job": {"run.out": log(), "run.err": CRASH},
    "two streams named by words": {"stdout.log": log(), "stderr.log": "UserWarning: old\n"},
    "ranks": {"log_rank0.txt": log(0), "log_rank1.txt": log(1)},
    "phases": {"train.log": log(form="epoch {e} loss {v:.4f}"), "val.log": log(form="epoch {e} loss {w:.4f}")},
    "two networks": {
        "gen.csv": "epoch,loss\n" + "".join(f"{e},{1 + 0.1 * math.sin(e):.4f}\n" for e in range(30)),
        "disc.csv": "epoch,loss\n" + "".join(f"{e},{0.6 + 0.1 * math.cos(e):.4f}\n" for e in range(30)),
    },
    "a log and the same as a table": {"train.log": log(), "metrics.csv": table(0)},
    "stages": {"stage1.log": log(0), "stage2.log": log(1)},
    "checkpoints with their states": {f"checkpoint-{n}/train.log": log(n) for n in (500, 1000)},
}


@pytest.mark.parametrize("case", SEVERAL)
def test_runs_side_by_side_are_told_apart(case: str, tmp_path: Path) -> None:
    own = [name for name in SEVERAL[case] if not name.endswith(".yaml")]
    assert len(gather_context(folder(tmp_path, SEVERAL[case])).runs) == len(own)


@pytest.mark.parametrize("case", ONE)
def test_the_files_of_one_run_are_one_run(case: str, tmp_path: Path) -> None:
    assert gather_context(folder(tmp_path, ONE[case])).runs == []


@pytest.mark.parametrize("names", [("words", "bigger.log"), ("jobs", "slurm-81240.out")])
def test_a_failed_run_is_not_hidden_by_a_healthy_one_beside_it(names: tuple[str, str], tmp_path: Path) -> None:
    case, failed = names
    diagnosis = diagnose(folder(tmp_path, SEVERAL[case]), brain="local")
    assert diagnosis.status == "diagnosis_complete"
    assert {piece.source for piece in diagnosis.root_causes[0].evidence} == {failed}
    assert [row.path for row in diagnosis.runs if row.failed] == [failed]


def test_the_message_names_the_failed_job_or_the_good_one(tmp_path: Path) -> None:
    place = folder(tmp_path, SEVERAL["jobs"])
    assert diagnose(place, "why did 81240 die?", brain="local").root_causes[0].id == "missing-file"
    assert diagnose(place, "was job 81231 ok?", brain="local").status == "healthy"


def runs(*paths: str) -> list[RunSummary]:
    return [RunSummary(path=path, failed=False) for path in paths]


@pytest.mark.parametrize(
    ("message", "wanted"),
    [
        ("run-2 exploded", "run-2"),
        ("look at run 2 please", "run-2"),
        ("the second run is broken", "run-2"),
        ("something with the last run", "run-10"),
        ("exploded at epoch 2", None),
        ("the loss is 10.5", None),
        ("", None),
    ],
)
def test_how_a_message_picks_a_run(message: str, wanted: str | None) -> None:
    found = picked(runs("run-1", "run-2", "run-10"), message)
    assert (found.path if found else None) == wanted


def test_a_sweep_is_counted_in_full(tmp_path: Path) -> None:
    place = folder(tmp_path, {f"trial_{n:03}/train.log": log(n) for n in range(120)})
    assert len(gather_context(place).runs) == 120


def test_runs_at_different_depths_are_all_found_and_none_sees_the_others(tmp_path: Path) -> None:
    files = {
        "old/a/run/train.log": log(1),
        "old/b/run/train.log": broken(),
        "new/first.log": log(2),
        "new/second.log": log(3),
    }
    place = folder(tmp_path, {**files, "train.py": "import torch\n"})
    assert [row.path for row in gather_context(place).runs] == ["new/first.log", "new/second.log", "old/a", "old/b"]
    diagnosis = diagnose(place, brain="local")
    assert {piece.source for piece in diagnosis.root_causes[0].evidence} == {"old/b/run/train.log"}
    assert [row.path for row in diagnosis.runs if row.healthy] == ["new/first.log", "new/second.log", "old/a"]
