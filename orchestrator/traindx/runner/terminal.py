"""A terminal of its own for the command, so that colours, progress bars and line editing work as without us."""

from __future__ import annotations

import contextlib
import fcntl
import os
import struct
import termios
import tty
from dataclasses import dataclass
from typing import Any

Attributes = list[Any]


@dataclass
class Pty:
    """A pseudo terminal: the command has the slave, we have the master."""

    master: int
    slave: int

    @classmethod
    def like(cls, real: int) -> Pty:
        """One with the modes and the size of a real terminal."""
        master, slave = os.openpty()
        os.set_inheritable(slave, True)
        with contextlib.suppress(termios.error):
            termios.tcsetattr(slave, termios.TCSANOW, termios.tcgetattr(real))
        made = cls(master, slave)
        made.resize(real)
        return made

    def resize(self, real: int) -> None:
        """Take over the size of the real terminal; the kernel tells the command of it."""
        with contextlib.suppress(OSError):
            size = fcntl.ioctl(real, termios.TIOCGWINSZ, struct.pack("HHHH", 0, 0, 0, 0))
            fcntl.ioctl(self.master, termios.TIOCSWINSZ, size)

    def suspends(self, typed: bytes) -> bool:
        """Whether the keys that were typed ask for a stop: to a program in raw mode Ctrl-Z is any key."""
        try:
            modes = termios.tcgetattr(self.master)
        except termios.error:
            return False
        return bool(modes[3] & termios.ISIG) and modes[6][termios.VSUSP] in typed

    def adds_returns(self) -> bool:
        """Whether the terminal makes `\\r\\n` of every `\\n` that the command writes."""
        try:
            modes = termios.tcgetattr(self.master)
        except termios.error:
            return True
        return bool(modes[1] & termios.OPOST and modes[1] & termios.ONLCR)


class RawInput:
    """The real terminal passes every key on while the command runs; its modes come back afterwards."""

    def __init__(self, real: int) -> None:
        self._real = real
        self._modes: Attributes | None = None

    @property
    def in_foreground(self) -> bool:
        """Whether this process may read from the terminal and set its modes without being stopped."""
        try:
            return os.tcgetpgrp(self._real) == os.getpgrp()
        except OSError:
            return False

    def enter(self) -> bool:
        """Pass keys on from now; False in the background, where the terminal belongs to somebody else."""
        if self._modes is None and self.in_foreground:
            with contextlib.suppress(termios.error):
                self._modes = termios.tcgetattr(self._real)
                tty.setraw(self._real, termios.TCSADRAIN)
        return self._modes is not None

    def leave(self) -> None:
        """Give the terminal back as it was."""
        modes, self._modes = self._modes, None
        if modes is not None and self.in_foreground:
            with contextlib.suppress(termios.error):
                termios.tcsetattr(self._real, termios.TCSADRAIN, modes)


class Returns:
    """Takes out the returns that a terminal puts before newlines: what is kept is what the command wrote."""

    def __init__(self) -> None:
        self._waiting = b""

    def undone(self, data: bytes) -> bytes:
        """The bytes as they were written; a return at the end waits for what follows it."""
        data = self._waiting + data
        self._waiting = b"\r" if data.endswith(b"\r") else b""
        if self._waiting:
            data = data[:-1]
        return data.replace(b"\r\n", b"\n") if b"\r\n" in data else data

    def rest(self) -> bytes:
        """A return that nothing follows any more."""
        rest, self._waiting = self._waiting, b""
        return rest
