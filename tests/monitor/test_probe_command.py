"""The child that a probe runs a script in: confined, limited, ended; and what the user is told."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import Command
from tests.extras import torch
from traindx.definitions.content import EXAMPLES
from traindx.errors import UsageError
from traindx.monitor.probing.child import confines, run_child
from traindx.monitor.probing.declaration import probe_named
from traindx.monitor.probing.scratch import MOST_ENTRIES, Plan, Scratch
from traindx.monitor.probing.subject import Subject, subject_of
from traindx.monitor.probing.watching import Bounds
from traindx.runtime import ToolResult

TRAINING = """\
import torch
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
x = torch.randn(64, 8)
loader = DataLoader(TensorDataset(x, (x[:, :1] > 0).float()), batch_size=16, shuffle=True)
model = torch.nn.Sequential(torch.nn.Linear(8, 32), torch.nn.ReLU(), torch.nn.Linear(32, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
"""
LOOP = """\
def train():
    for a, b in loader:
        loss = torch.nn.functional.binary_cross_entropy_with_logits(model(a), b)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
"""


def probed(folder: Path, script: str, probe: str, bounds: Bounds | None = None, **more: Any) -> ToolResult:
    assert torch.version.debug is not None
    (folder / "train.py").write_text(script)
    subject = Subject(folder, Path(), Path("train.py"), bounds=bounds or Bounds(), **more)
    return run_child(probe_named(probe), subject, Plan.of(folder))


@pytest.mark.slow
def test_a_script_that_catches_everything_is_stopped_all_the_same(tmp_path: Path) -> None:
    script = TRAINING + LOOP + "while True:\n    try:\n        train()\n    except BaseException:\n        pass\n"
    result = probed(tmp_path, script, "gradient_flow")
    assert result.status == "ok"
    assert result.output["steps"] == 24


@pytest.mark.slow
def test_a_script_that_never_trains_is_ended_and_said_to_have_shown_nothing(tmp_path: Path) -> None:
    result = probed(tmp_path, "while True:\n    pass\n", "gradient_flow", Bounds(seconds=0.5))
    assert result.status == "no_data"
    assert "ended after 0.5 s" in result.reason


@pytest.mark.slow
@pytest.mark.skipif(not confines(), reason="this system cannot confine a process")
def test_nothing_outside_the_copy_can_be_written_and_nothing_sent(tmp_path: Path) -> None:
    work, outside = tmp_path / "work", tmp_path / "outside"
    work.mkdir()
    outside.mkdir()
    (work / "weights.bin").write_bytes(b"\0" * (17 << 20))
    script = f"""\
import socket
for path in ("{outside}/made.txt", "{work}/made.txt", "weights.bin"):
    try:
        open(path, "ab").write(b"x")
    except OSError:
        continue
    raise SystemExit(path)
try:
    socket.create_connection(("127.0.0.1", 9), 1)
except PermissionError:
    pass
else:
    raise SystemExit("sent")
open("made.txt", "w").write("inside the copy")
raise ValueError("as expected")
"""
    result = probed(work, script, "gradient_flow")
    assert result.status == "failed"
    assert "ValueError at train.py:15: as expected" in result.reason
    assert sorted(path.name for path in work.iterdir()) == ["train.py", "weights.bin"]
    assert (work / "weights.bin").stat().st_size == 17 << 20
    assert not list(outside.iterdir())


@pytest.mark.slow
@pytest.mark.parametrize(
    ("script", "said"),
    [
        ("def (", "SyntaxError"),
        ("import ctypes\nctypes.string_at(0)\n", "ended by signal 11"),
        ("import os\nos._exit(7)\n", "exit code 7"),
        ("x = []\nwhile True:\n    x.append(bytearray(50_000_000))\n", "MB of memory"),
    ],
)
def test_a_script_that_dies_is_a_failure_with_its_reason(tmp_path: Path, script: str, said: str) -> None:
    result = probed(tmp_path, script, "gradient_flow", memory_mb=1024)
    assert result.status == "failed"
    assert said in result.reason


@pytest.mark.slow
def test_what_a_script_leaves_running_is_ended_too(tmp_path: Path) -> None:
    script = (
        "import subprocess, sys\nsubprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)'])\n" + TRAINING
    )
    assert probed(tmp_path, script + LOOP + "train()\ntrain()\n", "gradient_flow").status == "ok"


@pytest.mark.slow
def test_objects_of_a_target_are_probed(
    tmp_path: Path, traindx: Command, hashes: Callable[[Path], dict[str, str]]
) -> None:
    assert torch.version.debug is not None
    (tmp_path / "subject.py").write_text(TRAINING + "def make():\n    return model, next(iter(loader))\n")
    before = hashes(tmp_path)
    done = traindx("probe", "input-dependence", "--target", "subject:make", "-y", "--json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert [signal["id"] for signal in json.loads(done.stdout)["output"]["signals"]] == ["probed-input-matters"]
    assert hashes(tmp_path) == before


@pytest.mark.slow
def test_a_script_gets_its_own_arguments_and_two_runs_are_compared(tmp_path: Path, traindx: Command) -> None:
    assert torch.version.debug is not None
    script = "import sys, time\n" + TRAINING.replace(
        "(0)", "(time.time_ns() % 2**40 if sys.argv[1:] == ['--loose'] else 0)"
    )
    (tmp_path / "train.py").write_text(script + LOOP + "for _ in range(9):\n    train()\n")
    words = ("probe", "determinism", "--script", "train.py", "-y", "--steps", "4", "--json", "--")
    done = traindx(*words, "--loose", cwd=tmp_path)
    assert "python train.py --loose, 2 times" in done.stderr
    found = json.loads(done.stdout)["output"]
    assert found["first_difference"].startswith("step 1, input")


@pytest.mark.slow
def test_a_folder_with_too_many_files_is_refused(tmp_path: Path) -> None:
    for number in range(20):
        (tmp_path / f"{number}").mkdir()
        for inner in range(MOST_ENTRIES // 20):
            (tmp_path / f"{number}" / f"{inner}").touch()
    with pytest.raises(UsageError, match="too many to copy"):
        Plan.of(tmp_path)


def test_a_copy_has_its_links_and_leaves_with_everything(tmp_path: Path) -> None:
    work = tmp_path / "work"
    (work / "deep").mkdir(parents=True)
    (work / "deep" / "a.txt").write_text("a")
    (work / "link").symlink_to(tmp_path)
    (work / ".git").mkdir()
    with Scratch(Plan.of(work), links=True) as scratch:
        assert (scratch.copy / "deep" / "a.txt").read_text() == "a"
        assert (scratch.copy / "link").resolve() == tmp_path
        assert not (scratch.copy / ".git").exists()
        kept = scratch.root
    assert not kept.exists()


@pytest.mark.parametrize(
    ("script", "target", "said"),
    [
        (None, None, "one of them"),
        ("train.py", "a:b", "one of them"),
        (None, "module", "MODULE:FUNCTION"),
        (None, "module:", "MODULE:FUNCTION"),
    ],
)
def test_a_subject_is_one_script_or_one_target(script: str | None, target: str | None, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        subject_of(script, target, None, (), Bounds())


@pytest.mark.slow
def test_a_fix_is_tried_out_by_a_probe(
    tmp_path: Path, traindx: Command, hashes: Callable[[Path], dict[str, str]]
) -> None:
    assert torch.version.debug is not None
    run = tmp_path / "run"
    shutil.copytree(EXAMPLES / "frequency-lstm" / "detach-result-discarded", run)
    before = hashes(run)
    done = traindx("verify", ".", "--probe", "state_flow", "--script", "train.py", "-y", cwd=run)
    assert (done.returncode, done.stdout.split()[0]) == (0, "CONFIRMED"), done.stderr
    assert hashes(run) == before


@pytest.mark.slow
def test_a_diff_that_changes_nothing_that_counts_is_refuted(tmp_path: Path, traindx: Command) -> None:
    assert torch.version.debug is not None
    run = tmp_path / "run"
    shutil.copytree(EXAMPLES / "frequency-lstm" / "state-not-detached", run)
    kept = json.loads(traindx("diagnose", run, "--json").stdout)
    line = "            optimizer.zero_grad()"
    kept["root_causes"][0]["fix"]["diff"] = (
        f"--- a/train.py\n+++ b/train.py\n@@ -42,1 +42,2 @@\n {line}\n+            pass\n"
    )
    (tmp_path / "diagnosis.json").write_text(json.dumps(kept))
    words = ("--probe", "state_flow", "--script", "train.py", "-y", "--diagnosis", tmp_path / "diagnosis.json")
    done = traindx("verify", ".", *words, cwd=run)
    assert (done.returncode, done.stdout.split()[0]) == (1, "REFUTED"), done.stderr
