"""What is kept beside the output, and what is made of it when the command fails."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.runner.conftest import PATIENCE, Started, clean

pytestmark = pytest.mark.slow

Ran = Callable[..., tuple[int, bytes, bytes]]
Command = Callable[..., subprocess.CompletedProcess[str]]
PY = sys.executable

FAILING = """
import argparse
from model import width
for step in range(40):
    print(f"step {step} loss {2.0 / (step + 1):.4f}", flush=True)
raise RuntimeError(f"mat1 and mat2 shapes cannot be multiplied (32x128 and {width}x10)")
"""


def test_a_failure_is_diagnosed_on_stderr_from_the_log_and_the_program(ran: Ran, tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(FAILING)
    (tmp_path / "model.py").write_text("width = 64\n")
    status, out, err = ran("--", PY, "train.py", "--lr", "0.1")
    assert status == 1
    assert out == (tmp_path / "kept/stdout.log").read_bytes()
    report = err[err.index(b"DIAGNOSIS") :].decode()
    assert "1. shape-mismatch" in report
    assert "train.py, line 6" in report
    assert "kept/output.log" in report
    assert "stderr.log" not in report, "what the log holds already is not read again"


def test_a_killed_run_is_diagnosed_by_how_it_ended(ran: Ran) -> None:
    _, _, err = ran("--", "bash", "-c", "echo step 1 loss 0.5; kill -9 $$")
    assert b"host-out-of-memory" in err


def test_a_run_that_ends_well_is_not_diagnosed(ran: Ran) -> None:
    assert ran("--", "echo", "done") == (0, b"done\n", b"")


def test_a_diagnosis_that_fails_leaves_the_exit_code_alone(ran: Ran, tmp_path: Path) -> None:
    (tmp_path / ".traindx").mkdir()
    (tmp_path / ".traindx/project.md").write_text("---\nlogs: [[[\n---\n")
    status, _, err = ran("--", "bash", "-c", "exit 6")
    assert status == 6
    assert b"no diagnosis: " in err


def test_the_summary_says_how_it_was_started_and_masks_secrets(
    ran: Ran, tmp_path: Path, summary: Callable[[], dict[str, Any]]
) -> None:
    secrets = {"WANDB_API_KEY": "0123456789abcdef0123456789abcdef01234567", "RANK": "3"}
    key = "sk-ant-api03-" + "a1B2" * 20
    ran("--", "true", "--api-key", key, env={**clean(), **secrets})
    told = summary()
    assert told["environment"]["RANK"] == "3"
    assert (told["exit_code"], told["cwd"]) == (0, str(tmp_path))
    kept = "".join(path.read_text() for path in (tmp_path / "kept").iterdir())
    assert key not in kept
    assert secrets["WANDB_API_KEY"] not in kept


def test_memory_is_sampled_over_all_processes_and_seen_by_the_tools(ran: Ran, traindx: Command, tmp_path: Path) -> None:
    grows = (
        "import time\nheld = []\n"
        "for n in range(60):\n    held.append(bytearray(3_000_000))\n"
        "    print('step', n, 'loss', 1 / (n + 1), flush=True)\n"
        "    time.sleep(0.03)\n"
    )
    (tmp_path / "train.py").write_text(grows)
    ran("--every", "0.04", "--", "bash", "-c", f"{PY} train.py; true")
    rows = [json.loads(line) for line in (tmp_path / "kept/system.jsonl").read_text().splitlines()]
    assert max(row["rss_mb"] for row in rows) > 150
    assert max(row["processes"] for row in rows) == 2
    profile = traindx("tool", "profile_memory", tmp_path / "kept", "--json")
    courses = json.loads(profile.stdout)["output"]["courses"]
    assert {row["series"] for row in courses} >= {"rss_mb"}


MONITORED = """
import sys, torch
from traindx.monitor import Monitor

torch.manual_seed(0)
model = torch.nn.Linear(8, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=3.0)
with Monitor(model, optimizer, **({"folder": sys.argv[1]} if sys.argv[1:] else {})) as monitor:
    for _ in range(100):
        x = torch.randn(64, 8)
        loss = (model(x) - x.sum(1, keepdim=True)).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        monitor.step(loss)
sys.exit(3)
"""


@pytest.mark.parametrize("own", [(), ("elsewhere",)], ids=["in the kept folder", "in a folder of its own"])
def test_what_a_monitor_in_the_command_wrote_is_diagnosed(own: tuple[str, ...], ran: Ran, tmp_path: Path) -> None:
    pytest.importorskip("torch")
    (tmp_path / "train.py").write_text(MONITORED)
    status, _, err = ran("--", PY, "train.py", *own)
    assert status == 3
    assert (tmp_path / (own[0] if own else "kept") / "traindx-monitor.jsonl").is_file()
    assert b"learning-rate-too-high" in err
    assert b"traindx-monitor.jsonl" in err


def test_the_command_may_be_traindx_itself(ran: Ran, tmp_path: Path) -> None:
    (tmp_path / "train.log").write_text("".join(f"step {n} loss {1 / n:.4f}\n" for n in range(1, 50)))
    status, out, _ = ran("--", PY, "-m", "traindx", "gather", "train.log")
    assert status == 0
    assert b"train.log" in out


def test_gpus_are_sampled_where_nvidia_smi_is_found(ran: Ran, tmp_path: Path) -> None:
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin/nvidia-smi").write_text("#!/bin/sh\necho '0, 1234, 81920, 97, [N/A], 301.55'\n")
    (tmp_path / "bin/nvidia-smi").chmod(0o755)
    paths = {"PATH": f"{tmp_path / 'bin'}:{os.environ['PATH']}"}
    ran("--every", "0.1", "--", "sleep", "0.5", env={**clean(), **paths})
    row = json.loads((tmp_path / "kept/system.jsonl").read_text().splitlines()[0])
    assert (row["gpu0_memory_mb"], row["gpu0_util_percent"], row["gpu0_watts"]) == (1234.0, 97.0, 301.55)
    assert "gpu0_celsius" not in row


def test_a_folder_is_made_for_each_run_and_named_on_stderr(traindx: Command, tmp_path: Path) -> None:
    for _ in range(2):
        done = traindx("run", "--", "echo", "hello", cwd=tmp_path)
        assert done.stdout == "hello\n"
        assert "keeping the output in `traindx-runs/" in done.stderr
    folders = sorted((tmp_path / "traindx-runs").iterdir())
    assert len(folders) == 2
    assert all((folder / "stdout.log").read_text() == "hello\n" for folder in folders)


def test_a_second_run_in_the_same_folder_goes_on_with_its_log(
    ran: Ran, tmp_path: Path, summary: Callable[[], dict[str, Any]]
) -> None:
    ran("--", "echo", "first")
    ran("--", "echo", "second")
    assert (tmp_path / "kept/stdout.log").read_text() == "first\nsecond\n"
    assert summary()["continues"] is True


def test_two_runs_at_once_are_kept_apart(start: Started, ran: Ran) -> None:
    first = start("--", "bash", "-c", "echo ready; read line", stdin=subprocess.PIPE)
    assert first.stdout is not None
    first.stdout.readline()
    status, _, err = ran("--", "echo", "no")
    assert status == 2
    assert b"another `traindx run` is writing to" in err
    first.communicate(b"\n", timeout=PATIENCE)


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        ((), "there is no command to run"),
        (("--every", "0", "--", "true"), "cannot be 0"),
        (("--folder", "/proc/no", "--", "true"), "cannot write `/proc/no`"),
    ],
)
def test_what_cannot_be_done_is_one_sentence(traindx: Command, words: tuple[str, ...], complaint: str) -> None:
    done = traindx("run", *words)
    assert done.returncode == 2
    assert complaint in done.stderr
    assert done.stderr.count("\n") == 1
