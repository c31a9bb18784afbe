"""Signals that end the command: nothing is left behind, and the exit code says which signal it was."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow


def started(tmp_path: Path, *, ignoring: str = "") -> subprocess.Popen[bytes]:
    """A command that is reading standard input, and has its spool already."""
    spool = tmp_path / "spool"
    spool.mkdir()
    words = [sys.executable, "-m", "traindx", "diagnose", "-"]
    command = ["bash", "-c", f'trap "" {ignoring}; exec "$@"', "-", *words] if ignoring else words
    process = subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ, "TMPDIR": str(spool)},
        cwd="/",
    )
    assert process.stdin is not None
    process.stdin.write(b"epoch 1 loss 0.5\n" * 200_000)
    process.stdin.flush()
    while not any(spool.rglob("stdin.log")):
        assert process.poll() is None
        time.sleep(0.01)
    return process


@pytest.mark.parametrize(
    ("number", "status"), [(signal.SIGTERM, 143), (signal.SIGHUP, 129), (signal.SIGINT, 130)], ids=str
)
def test_a_signal_removes_the_spool_and_is_the_exit_code(tmp_path: Path, number: signal.Signals, status: int) -> None:
    process = started(tmp_path)
    process.send_signal(number)
    out, err = process.communicate(timeout=30)
    assert (process.returncode, out) == (status, b"")
    assert b"Traceback" not in err
    assert list((tmp_path / "spool").iterdir()) == []


def test_under_nohup_a_hangup_is_ignored(tmp_path: Path) -> None:
    process = started(tmp_path, ignoring="HUP")
    process.send_signal(signal.SIGHUP)
    time.sleep(0.2)
    assert process.poll() is None
    out, _ = process.communicate(timeout=60)
    assert process.returncode == 0
    assert out
