"""Moves bytes: what the command writes is kept and passed through, what is typed goes to it."""

from __future__ import annotations

import contextlib
import errno
import os
import select
import selectors
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from traindx.runner.kept import Kept
from traindx.runner.terminal import Pty, Returns

PIECE = 1 << 20
TICK = 0.5
"""seconds between two looks at a command that says nothing"""
QUIET, LONGEST = 1.0, 10.0
"""after the end of the command: seconds of silence, and seconds in all, until a stream that others hold is left"""


@dataclass
class Outlet:
    """One stream of the command: where it is read, and where it is passed on to."""

    name: str
    source: int
    sink: int
    pty: Pty | None = None
    open: bool = True
    passed_on: bool = True
    """whether somebody still takes what is passed on"""
    returns: Returns = field(default_factory=Returns)

    def close(self) -> None:
        """Read no more from it."""
        if self.open:
            self.open = False
            os.close(self.source)


class Pump:
    """Both outlets, the keyboard where there is one, and the wakeup pipe, in one loop."""

    def __init__(self, outlets: list[Outlet], kept: Kept, keyboard: tuple[int, Pty] | None, wakeup: int) -> None:
        self._outlets, self._kept, self._keyboard, self._wakeup = outlets, kept, keyboard, wakeup
        self._typing = False
        self._selector = selectors.DefaultSelector()
        self._selector.register(wakeup, selectors.EVENT_READ, None)
        for outlet in outlets:
            os.set_blocking(outlet.source, False)
            self._selector.register(outlet.source, selectors.EVENT_READ, outlet)
        self._suspend: Callable[[], None] = lambda: None

    def listen(self, typing: bool, suspend: Callable[[], None]) -> None:
        """Read the keyboard from now on, or leave it to somebody else; `suspend` is called for Ctrl-Z."""
        self._suspend = suspend
        if self._keyboard is None or typing == self._typing:
            return
        self._typing = typing
        if typing:
            self._selector.register(self._keyboard[0], selectors.EVENT_READ, self._keyboard)
        else:
            self._selector.unregister(self._keyboard[0])

    def run(self, ended: Callable[[], bool]) -> list[str]:
        """Move everything until the command has ended and its streams are empty; the streams that others still hold."""
        over = quiet_since = 0.0
        while True:
            moved = self._step()
            now = time.monotonic()
            if not over and ended():
                over = quiet_since = now
                self.listen(False, self._suspend)
            if moved:
                quiet_since = now
            elif not over:
                self._kept.settle()
            left = [outlet for outlet in self._outlets if outlet.open]
            if over and (not left or now - quiet_since >= QUIET or now - over >= LONGEST):
                self._kept.settle()
                return [outlet.name for outlet in left]

    def close(self) -> None:
        """Wait for nothing any more."""
        self._selector.close()

    def _step(self) -> bool:
        """Wait for a moment, and move what there is; whether the command said something."""
        moved = False
        # Most often a message on stderr follows what was printed before it: stdout first.
        ready = [key for key, _ in self._selector.select(TICK)]
        for key in sorted(ready, key=lambda key: isinstance(key.data, Outlet) and key.data.name == "stderr"):
            if key.data is None:
                _emptied(self._wakeup)
            elif isinstance(key.data, Outlet):
                moved |= self._move(key.data)
            else:
                self._type(*key.data)
        return moved

    def _move(self, outlet: Outlet) -> bool:
        try:
            data = os.read(outlet.source, PIECE)
        except BlockingIOError:
            return False
        except OSError as error:
            # Linux says so where the last process has closed its end of a terminal.
            if error.errno != errno.EIO:
                raise
            data = b""
        if not data:
            self._end(outlet)
            return False
        plain = outlet.returns.undone(data) if outlet.pty and outlet.pty.adds_returns() else data
        if plain:
            self._kept.add(outlet.name, plain)
        if outlet.passed_on:
            self._pass_on(outlet, data)
        return True

    def _pass_on(self, outlet: Outlet, data: bytes) -> None:
        try:
            write_all(outlet.sink, data)
        except BrokenPipeError:
            # Without us the command would have been told so itself: `traindx run -- yes | head` ends.
            outlet.passed_on = False
            if outlet.pty is None:
                self._end(outlet)
        except OSError:
            outlet.passed_on = False  # a terminal that was closed, a full disk: the log goes on

    def _end(self, outlet: Outlet) -> None:
        if not outlet.open:
            return
        rest = outlet.returns.rest()
        if rest:
            self._kept.add(outlet.name, rest)
        self._selector.unregister(outlet.source)
        outlet.close()

    def _type(self, keyboard: int, pty: Pty) -> None:
        try:
            typed = os.read(keyboard, 4096)
        except OSError:
            typed = b""
        if not typed:
            self.listen(False, self._suspend)
            return
        if pty.suspends(typed):
            self._suspend()
            return
        with contextlib.suppress(OSError):  # the command has closed its end
            write_all(pty.master, typed)


def write_all(sink: int, data: bytes) -> None:
    """Write everything, also to a descriptor that somebody else has set to non-blocking."""
    rest = memoryview(data)
    while rest:
        try:
            rest = rest[os.write(sink, rest) :]
        except BlockingIOError:
            select.select([], [sink], [], TICK)


def _emptied(pipe: int) -> None:
    try:
        while os.read(pipe, 512):
            pass
    except BlockingIOError:
        pass
