"""In a terminal the command has one too: size, keys, Ctrl-C, Ctrl-Z."""

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.runner.conftest import Terminal

pytestmark = pytest.mark.slow

Opened = Callable[..., Terminal]
PY = sys.executable


def test_the_command_sees_a_terminal_of_the_same_size_and_the_log_what_it_wrote(
    terminal: Opened, tmp_path: Path
) -> None:
    program = (
        "import os, sys\n"
        "print([os.isatty(n) for n in range(3)], os.get_terminal_size(1), os.get_terminal_size(2).columns)\n"
        "print('\\x1b[31mred\\x1b[0m', flush=True)\nos.write(2, b'10%\\r20%\\r\\n')"
    )
    shell = terminal("--", PY, "-c", program)
    assert shell.end() == 0
    wanted = b"[True, True, True] os.terminal_size(columns=100, lines=30) 100"
    for piece in (wanted, b"\x1b[31mred\x1b[0m\r\n", b"10%\r20%\r\r\n"):
        assert piece in shell.shown
    assert (tmp_path / "kept/stdout.log").read_bytes() == wanted + b"\n\x1b[31mred\x1b[0m\n"
    assert (tmp_path / "kept/stderr.log").read_bytes() == b"10%\r20%\r\n"


def test_a_new_size_reaches_the_command(terminal: Opened) -> None:
    program = (
        "import os, signal, time\n"
        "def resized(*_): os.write(1, str(os.get_terminal_size()).encode()); os._exit(0)\n"
        "signal.signal(signal.SIGWINCH, resized)\nprint('ready', flush=True)\ntime.sleep(60)"
    )
    shell = terminal("--", PY, "-c", program)
    shell.until(b"ready")
    shell.resize(44, 123)
    shell.process.send_signal(signal.SIGWINCH)
    shell.until(b"columns=123, lines=44")
    assert shell.end() == 0


def test_keys_reach_the_command_and_are_echoed_once(terminal: Opened) -> None:
    shell = terminal("--", PY, "-c", "print('got', input('name? '))")
    shell.until(b"name? ")
    shell.type(b"ada\r")
    assert shell.end() == 0
    assert shell.shown == b"ada\r\ngot ada\r\n"


def test_ctrl_c_twice_interrupts_the_command_twice_and_ends_with_its_exit_code(terminal: Opened) -> None:
    program = (
        "import time\n"
        "for n in range(2):\n"
        "    try:\n        print('waiting', n, flush=True); time.sleep(60)\n"
        "    except KeyboardInterrupt:\n        print('interrupted', n, flush=True)\n"
        "raise SystemExit(9)"
    )
    shell = terminal("--no-diagnosis", "--", PY, "-c", program)
    for n in (b"0", b"1"):
        shell.until(b"waiting " + n)
        shell.type(b"\x03")
        shell.until(b"interrupted " + n)
    assert shell.end() == 9


def test_ctrl_c_that_kills_the_command_kills_us_by_the_same_signal(terminal: Opened) -> None:
    shell = terminal("--no-diagnosis", "--", "bash", "-c", "echo ready; exec sleep 60")
    shell.until(b"ready")
    shell.type(b"\x03")
    assert shell.end() == -signal.SIGINT


def test_ctrl_z_stops_both_and_the_terminal_is_given_back_meanwhile(tmp_path: Path) -> None:
    shell = Terminal.__new__(Terminal)
    shell.shown = b""
    shell.master, slave = os.openpty()
    inner = (
        f"{PY} -m traindx run -q --folder kept -- {PY} -c \"print('rea' 'dy', flush=True); input(); print('do' 'ne')\""
    )
    shell.process = subprocess.Popen(
        ["setsid", "-c", "bash", "--norc", "--noediting", "-i"],
        stdin=slave,
        stdout=slave,
        stderr=slave,
        cwd=tmp_path,
        env={**os.environ, "PS1": "next> "},
    )
    os.close(slave)
    try:
        shell.type(inner.encode() + b"\r")
        shell.until(b"ready")
        shell.type(b"\x1a")
        shell.until(b"Stopped")
        shell.type(b"echo in be''tween; fg\r")
        shell.until(b"in between")
        shell.until(b"traindx run")
        shell.type(b"\r")
        shell.until(b"done")
        shell.until(b"next> ")
        shell.type(b"echo co''de $?; exit\r")
        shell.until(b"code 0")
    finally:
        shell.process.kill()
        shell.process.wait()
        os.close(shell.master)
