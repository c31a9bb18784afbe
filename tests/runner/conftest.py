"""`traindx run` as a process of its own, in a pipe or in a terminal."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import select
import struct
import subprocess
import sys
import termios
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

Started = Callable[..., subprocess.Popen[bytes]]
PATIENCE = 30.0


def command(*words: str) -> list[str]:
    return [sys.executable, "-m", "traindx", "run", "-q", *words]


def clean() -> dict[str, str]:
    return {key: value for key, value in os.environ.items() if not key.startswith(("ANTHROPIC", "PYTHON"))}


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Started]:
    """Starts `traindx run --folder kept` in pipes; whatever still runs in the end is killed."""
    begun = []

    def started(*words: str, **options: Any) -> subprocess.Popen[bytes]:
        given: dict[str, Any] = {
            "stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "cwd": tmp_path,
            "env": clean(), **options,
        }  # fmt: skip
        process = subprocess.Popen(command("--folder", str(tmp_path / "kept"), *words), **given)
        begun.append(process)
        return process

    yield started
    for process in begun:
        with contextlib.suppress(ProcessLookupError):
            process.kill()
        process.communicate()


@pytest.fixture
def ran(start: Started) -> Callable[..., tuple[int, bytes, bytes]]:
    """`traindx run` to its end: status, what it passed on, what it said on stderr."""

    def run(*words: str, **options: Any) -> tuple[int, bytes, bytes]:
        process = start(*words, **options)
        out, err = process.communicate(timeout=PATIENCE)
        return process.returncode, out, err

    return run


@pytest.fixture
def summary(tmp_path: Path) -> Callable[[], dict[str, Any]]:
    def read() -> dict[str, Any]:
        found: dict[str, Any] = json.loads((tmp_path / "kept" / "run.json").read_text())
        return found

    return read


class Terminal:
    """A terminal in which `traindx run` was started as a shell would start it."""

    def __init__(self, folder: Path, *words: str) -> None:
        self.master, slave = os.openpty()
        self.resize(30, 100)

        def take() -> None:
            fcntl.ioctl(0, termios.TIOCSCTTY, 0)

        self.process = subprocess.Popen(
            command(*words), stdin=slave, stdout=slave, stderr=slave, cwd=folder, env=clean(),
            start_new_session=True, preexec_fn=take,  # noqa: PLW1509 - no thread runs here
        )  # fmt: skip
        os.close(slave)
        self.shown = b""

    def resize(self, rows: int, columns: int) -> None:
        fcntl.ioctl(self.master, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def until(self, text: bytes) -> None:
        """Read what is shown until a text appears in it; what comes after it is left for the next time."""
        while text not in self.shown:
            ready, _, _ = select.select([self.master], [], [], PATIENCE)
            assert ready, f"{text!r} never appeared in {self.shown!r}"
            piece = self._read()
            assert piece, f"{text!r} never appeared in {self.shown!r}, and that was all"
            self.shown += piece
        self.shown = self.shown.partition(text)[2]

    def type(self, keys: bytes) -> None:
        os.write(self.master, keys)

    def end(self) -> int:
        while piece := self._read():
            self.shown += piece
        return self.process.wait(PATIENCE)

    def _read(self) -> bytes:
        try:
            return os.read(self.master, 65536)
        except OSError:
            return b""


@pytest.fixture
def terminal(tmp_path: Path) -> Iterator[Callable[..., Terminal]]:
    begun: list[Terminal] = []

    def opened(*words: str) -> Terminal:
        begun.append(Terminal(tmp_path, "--folder", str(tmp_path / "kept"), *words))
        return begun[-1]

    yield opened
    for one in begun:
        one.process.kill()
        one.process.wait()
        os.close(one.master)
