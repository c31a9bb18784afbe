"""A host that writes to the server byte by byte, right or wrong."""

from __future__ import annotations

import json
import os
import select
import subprocess
import sys
from pathlib import Path
from subprocess import PIPE
from typing import Any

COMMAND = (sys.executable, "-m", "traindx", "mcp")
HANDSHAKE = {
    "protocolVersion": "2025-06-18",
    "capabilities": {},
    "clientInfo": {"name": "a host", "version": "1"},
}


class Peer:
    """A host that writes lines and reads lines, and can write whatever it wants."""

    def __init__(self, folder: Path, *arguments: str) -> None:
        clean = {name: value for name, value in os.environ.items() if not name.startswith(("ANTHROPIC", "CLAUDE"))}
        self.process = subprocess.Popen(
            [*COMMAND, *arguments], cwd=folder, env=clean, stdin=PIPE, stdout=PIPE, stderr=PIPE
        )  # fmt: skip
        self._count = 0
        self._read = b""

    def send(self, message: object) -> None:
        line = message if isinstance(message, bytes) else json.dumps(message).encode()
        assert self.process.stdin is not None
        self.process.stdin.write(line + b"\n")
        self.process.stdin.flush()

    def next(self, seconds: float = 30.0) -> dict[str, Any]:
        """The next message; a server that says nothing for so long has failed the test."""
        assert self.process.stdout is not None
        while b"\n" not in self._read:
            ready, _, _ = select.select([self.process.stdout], [], [], seconds)
            assert ready, "the server does not answer"
            piece = os.read(self.process.stdout.fileno(), 1024 * 1024)
            assert piece, "the server is gone"
            self._read += piece
        line, _, self._read = self._read.partition(b"\n")
        found: dict[str, Any] = json.loads(line)
        return found

    def ask(self, method: str, params: object = None) -> dict[str, Any]:
        """The answer to a request; what comes in between is passed over."""
        self._count += 1
        number = self._count
        self.send({"jsonrpc": "2.0", "id": number, "method": method, **({} if params is None else {"params": params})})
        return self.answer(number)

    def answer(self, number: object) -> dict[str, Any]:
        while (message := self.next()).get("id") != number or "method" in message:
            pass
        return message

    def greet(self, **capabilities: object) -> dict[str, Any]:
        said = self.ask("initialize", {**HANDSHAKE, "capabilities": capabilities})
        self.send({"jsonrpc": "2.0", "method": "notifications/initialized"})
        return said

    def call(self, tool: str, **arguments: object) -> dict[str, Any]:
        """The result of a tool."""
        result: dict[str, Any] = self.ask("tools/call", {"name": tool, "arguments": arguments})["result"]
        return result

    def close(self) -> int:
        """Hang up, and the exit code."""
        if self.process.stdin is not None and not self.process.stdin.closed:
            self.process.stdin.close()
        code = self.process.wait(20)
        for pipe in (self.process.stdout, self.process.stderr):
            if pipe is not None:
                pipe.close()
        return code


def text_of(result: dict[str, Any]) -> str:
    """What a result says."""
    return str(result["content"][0]["text"])
