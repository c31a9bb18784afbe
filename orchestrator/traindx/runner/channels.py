"""The ends of the command's three streams: a pipe where ours is one, a terminal of its own where ours is one."""

from __future__ import annotations

import os
from dataclasses import dataclass, field

from traindx.runner.pump import Outlet
from traindx.runner.terminal import Pty

STDIN, STDOUT, STDERR = 0, 1, 2
ECHO = "terminal"
"""what a terminal shows of the keys, where it shows nothing else of the command"""


@dataclass
class Channels:
    """What the command is given, and where we read what it writes."""

    outlets: list[Outlet] = field(default_factory=list)
    given: dict[str, int] = field(default_factory=lambda: {"stdin": STDIN})
    ptys: dict[int, Pty] = field(default_factory=dict)
    """by the descriptor of the real terminal that they stand for"""
    keyboard: tuple[int, Pty] | None = None
    """where keys are typed, and the terminal they are meant for"""
    terminal: Pty | None = None
    """the one that sends the command its signals: Ctrl-C typed there reaches all of its processes"""

    @classmethod
    def laid(cls) -> Channels:
        """Channels that look to the command as our own streams look to us."""
        made = cls()
        shown = {number: os.isatty(number) for number in (STDIN, STDOUT, STDERR)}
        real = next((number for number in (STDOUT, STDERR, STDIN) if shown[number]), None)
        if real is not None:
            made.terminal = made._pty({STDOUT: "stdout", STDERR: "stderr", STDIN: ECHO}[real], real)
            if shown[STDIN]:
                made.given["stdin"] = made.terminal.slave
                made.keyboard = (STDIN, made.terminal)
        for number, name in ((STDOUT, "stdout"), (STDERR, "stderr")):
            if not shown[number]:
                made._pipe(name, number)
            elif number not in made.ptys:
                # A second terminal, so that the two streams can be told apart.
                made._pty(name, number)
        return made

    def resize(self) -> None:
        """Every terminal takes over the size of the real one."""
        for real, pty in self.ptys.items():
            pty.resize(real)

    def release(self) -> None:
        """Close the command's ends in this process: otherwise they would never be seen to end."""
        for number in {*self.given.values()} - {STDIN}:
            os.close(number)
        self.given = {"stdin": STDIN}

    def close(self) -> None:
        """Close everything that is open."""
        for outlet in self.outlets:
            outlet.close()

    def _pty(self, name: str, real: int) -> Pty:
        made = self.ptys[real] = Pty.like(real)
        self.outlets.append(Outlet(name, made.master, real, made))
        self.given[name] = made.slave
        return made

    def _pipe(self, name: str, sink: int) -> None:
        source, end = os.pipe()
        _widen(source)
        self.outlets.append(Outlet(name, source, sink))
        self.given[name] = end


def _widen(pipe: int) -> None:
    """Let a pipe hold a megabyte, where the system can: a command that writes fast waits less often."""
    import contextlib
    import fcntl

    widen = getattr(fcntl, "F_SETPIPE_SZ", None)
    if widen is not None:
        with contextlib.suppress(OSError):
            fcntl.fcntl(pipe, widen, 1 << 20)
