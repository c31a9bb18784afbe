"""What the chat tests share: a chat in a pipe, and a chat in a terminal."""

from __future__ import annotations

import os
import re
import selectors
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

# A child process that owns a terminal; forking this one, which has threads, is what Python warns about.
_IN_A_TERMINAL = "import pty, sys; sys.exit(pty.spawn(sys.argv[1:]) >> 8)"
_ESCAPES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|\x1b[=>]|\r")


def environment(**more: str) -> dict[str, str]:
    """Ours without keys and Python's own switches."""
    kept = {key: value for key, value in os.environ.items() if not key.startswith(("ANTHROPIC", "PYTHON"))}
    return {**kept, "TERM": "xterm", **more}


def command(arguments: Sequence[object]) -> list[str]:
    return [sys.executable, "-m", "traindx", "chat", *map(str, arguments)]


def spoken(
    lines: Sequence[str], *arguments: object, cwd: Path = Path("/"), env: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """A chat with these lines as its standard input."""
    return subprocess.run(
        command(arguments),
        input="".join(f"{line}\n" for line in lines),
        cwd=cwd,
        env=environment(**(env or {})),
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


class Terminal:
    """A chat in a terminal of its own: type, wait for words, press Ctrl-C."""

    def __init__(self, *arguments: object, **more: str) -> None:
        self.seen = ""
        self._read = 0
        self._process = subprocess.Popen(
            [sys.executable, "-c", _IN_A_TERMINAL, *command(arguments)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            cwd="/",
            env=environment(**more),
        )
        self._selector = selectors.DefaultSelector()
        self._selector.register(self._out, selectors.EVENT_READ)

    def __enter__(self) -> Terminal:
        return self

    def __exit__(self, *_: object) -> None:
        self._selector.close()
        if self._process.poll() is None:
            self._process.kill()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                pipe.close()

    @property
    def _out(self) -> int:
        assert self._process.stdout is not None
        return self._process.stdout.fileno()

    def type(self, keys: str) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(keys.encode())
        self._process.stdin.flush()

    def wait_for(self, words: str, seconds: float = 60.0) -> str:
        """What came since the last wait, up to and with these words."""
        until = time.monotonic() + seconds
        while True:
            plain = _ESCAPES.sub("", self.seen)
            at = plain.find(words, self._read)
            if at >= 0:
                fresh = plain[self._read : at + len(words)]
                self._read = at + len(words)
                return fresh
            assert time.monotonic() < until, f"{words!r} did not come; the terminal shows:\n{plain[self._read :]}"
            if self._selector.select(timeout=0.5):
                piece = os.read(self._out, 65536)
                assert piece, f"{words!r} did not come before the end:\n{plain[self._read :]}"
                self.seen += piece.decode("utf-8", "replace")

    def ended(self, seconds: float = 30.0) -> int:
        """The exit code."""
        until = time.monotonic() + seconds
        while self._process.poll() is None and time.monotonic() < until:
            if self._selector.select(timeout=0.2):
                self.seen += os.read(self._out, 65536).decode("utf-8", "replace")
        return self._process.wait(timeout=5)
