"""Signals reach the command, and how it ends is how we end."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psutil
import pytest

from tests.runner.conftest import PATIENCE, Started

pytestmark = pytest.mark.slow

Ran = Callable[..., tuple[int, bytes, bytes]]
PY = sys.executable
LISTENER = """
import os, signal, sys, time
def heard(number, frame):
    os.write(1, b"heard %d\\n" % number)
    if number == signal.SIGTERM:
        sys.exit(7)
for name in ("SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT", "SIGUSR1", "SIGUSR2"):
    signal.signal(getattr(signal, name), heard)
os.write(1, b"ready\\n")
while True:
    time.sleep(0.05)
"""


@pytest.mark.parametrize("code", [0, 1, 3, 137, 255])
def test_the_exit_code_is_the_command_s_own(ran: Ran, summary: Callable[[], dict[str, Any]], code: int) -> None:
    assert ran("--no-diagnosis", "--", "bash", "-c", f"exit {code}")[0] == code
    assert (summary()["exit_code"], summary()["signal"]) == (code, None)


@pytest.mark.parametrize("name", ["SIGKILL", "SIGSEGV", "SIGTERM", "SIGABRT", "SIGUSR1", "SIGPIPE"])
def test_a_signal_that_kills_the_command_kills_us(
    ran: Ran, tmp_path: Path, summary: Callable[[], dict[str, Any]], name: str
) -> None:
    number = getattr(signal, name)
    assert ran("--no-diagnosis", "--", "bash", "-c", f"kill -{number} $$")[0] == -number
    assert (summary()["exit_code"], summary()["signal"]) == (128 + number, name)
    assert (
        f"exited with code {128 + number} (killed by signal {number}, {name})"
        in (tmp_path / "kept/output.log").read_text()
    )


@pytest.mark.parametrize(("word", "code"), [("no-such-command", 127), ("/etc/passwd", 126)])
def test_a_command_that_cannot_be_started_leaves_its_log_and_a_shell_s_exit_code(
    ran: Ran, tmp_path: Path, word: str, code: int
) -> None:
    assert ran("--", word)[0] == code
    assert f"`{word}`" in (tmp_path / "kept/output.log").read_text()
    assert json.loads((tmp_path / "kept/run.json").read_text())["exit_code"] == code


def test_every_signal_is_passed_on_once_and_the_last_ends_it(start: Started) -> None:
    process = start("--no-diagnosis", "--", PY, "-c", LISTENER)
    assert process.stdout is not None
    assert process.stdout.readline() == b"ready\n"
    for name in ("SIGUSR1", "SIGUSR2", "SIGHUP", "SIGQUIT", "SIGINT", "SIGINT", "SIGTERM"):
        number = getattr(signal, name)
        process.send_signal(number)
        assert process.stdout.readline() == b"heard %d\n" % number
    assert process.wait(PATIENCE) == 7
    assert process.stdout.read() == b""


def test_a_command_that_takes_no_notice_of_sigterm_goes_on(start: Started) -> None:
    stubborn = "import signal\nsignal.signal(15, signal.SIG_IGN)\nprint('ready', flush=True)\ninput()\nprint('done')"
    process = start("--", PY, "-c", stubborn, stdin=subprocess.PIPE)
    assert process.stdout is not None
    assert process.stdout.readline() == b"ready\n"
    process.send_signal(signal.SIGTERM)
    process.send_signal(signal.SIGTERM)
    out, _ = process.communicate(b"\n", timeout=PATIENCE)
    assert (process.returncode, out) == (0, b"done\n")


def test_a_signal_that_was_switched_off_stays_off(tmp_path: Path, start: Started) -> None:
    process = start("--", PY, "-c", "import signal; print(signal.getsignal(signal.SIGHUP))", preexec_fn=_no_hangup)
    out, _ = process.communicate(timeout=PATIENCE)
    assert out == b"1\n"


def _no_hangup() -> None:
    signal.signal(signal.SIGHUP, signal.SIG_IGN)


def test_a_stop_stops_the_command_too_and_both_go_on(start: Started) -> None:
    process = start("--", PY, "-c", "print('ready', flush=True)\ninput()", stdin=subprocess.PIPE, preexec_fn=os.setpgrp)
    assert process.stdout is not None
    process.stdout.readline()
    ours = psutil.Process(process.pid)
    (inner,) = ours.children()
    process.send_signal(signal.SIGTSTP)
    os.waitid(os.P_PID, process.pid, os.WSTOPPED | os.WNOWAIT)
    while inner.status() != psutil.STATUS_STOPPED:
        time.sleep(0.01)  # the signal is on its way
    assert ours.status() == psutil.STATUS_STOPPED
    process.send_signal(signal.SIGCONT)
    process.communicate(b"\n", timeout=PATIENCE)
    assert process.returncode == 0
