"""The command itself: started in a session of its own, given the signals that we get, waited for."""

from __future__ import annotations

import contextlib
import fcntl
import os
import signal
import subprocess
import termios
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import FrameType

from traindx.errors import TraindxError
from traindx.runner.terminal import Pty

FROM_TERMINAL = ("SIGINT", "SIGQUIT", "SIGTSTP", "SIGHUP", "SIGCONT")
"""what a terminal or its shell sends to every process of the command; the others `kill` sends to one"""
PASSED_ON = (*FROM_TERMINAL, "SIGTERM", "SIGUSR1", "SIGUSR2")
NOT_FOUND, NOT_EXECUTABLE = 127, 126
"""what a shell answers where a command cannot be started"""
Heard = Callable[[signal.Signals], None]


class NotStarted(TraindxError):
    """A command that cannot be started, with the exit code that a shell gives for it."""

    def __init__(self, status: int, why: str) -> None:
        self.status = status
        super().__init__(why)


class Child:
    """A running command and its session."""

    def __init__(
        self, command: Sequence[str], streams: Mapping[str, int], terminal: Pty | None, also: Mapping[str, str]
    ) -> None:
        """`also` goes into its environment."""

        def take_terminal() -> None:
            # After `setsid` a session has no terminal: Ctrl-C typed into this one is to reach the command.
            if terminal is not None:
                with contextlib.suppress(OSError):
                    fcntl.ioctl(terminal.slave, termios.TIOCSCTTY, 0)

        try:
            self._process = subprocess.Popen(
                list(command),
                stdin=streams["stdin"],
                stdout=streams["stdout"],
                stderr=streams["stderr"],
                env={**os.environ, **also},
                start_new_session=True,
                preexec_fn=take_terminal if terminal is not None else None,  # noqa: PLW1509 (no thread runs yet)
            )
        except FileNotFoundError:
            raise NotStarted(NOT_FOUND, f"there is no command `{command[0]}`") from None
        except (OSError, ValueError) as error:
            why = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
            raise NotStarted(NOT_EXECUTABLE, f"`{command[0]}` cannot be started: {why.lower()}") from None
        self.pid = self._process.pid

    def ended(self) -> int | None:
        """Its exit code, or the negative number of the signal that killed it; None while it runs."""
        return self._process.poll()

    def send(self, number: signal.Signals) -> None:
        """Pass a signal on as it would have come without us."""
        with contextlib.suppress(ProcessLookupError, PermissionError):
            if number.name in FROM_TERMINAL:
                os.killpg(self.pid, number)
            else:
                os.kill(self.pid, number)

    def send_all(self, number: signal.Signals) -> None:
        """Send a signal to every process of the command's group."""
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self.pid, number)


@contextlib.contextmanager
def signals_heard(hear: Heard, wakeup: int) -> Iterator[None]:
    """Every signal that can be passed on goes to `hear`; `wakeup` is written to so that a waiting loop goes on.

    A signal that was switched off before (`nohup`) stays off, for the command too.
    """

    def take(number: int, _frame: FrameType | None) -> None:
        hear(signal.Signals(number))

    numbers = [getattr(signal, name) for name in (*PASSED_ON, "SIGCHLD", "SIGWINCH")]
    before = {number: signal.getsignal(number) for number in numbers}
    old = signal.set_wakeup_fd(wakeup, warn_on_full_buffer=False)
    try:
        for number, handler in before.items():
            if handler is not signal.SIG_IGN or number == signal.SIGCHLD:
                signal.signal(number, take)
        yield
    finally:
        signal.set_wakeup_fd(old)
        for number, handler in before.items():
            signal.signal(number, handler if handler is not None else signal.SIG_DFL)


def die_of(number: int) -> int:
    """End as the command did, by the same signal; the exit code that a shell would show where that cannot be."""
    import resource

    with contextlib.suppress(OSError, ValueError):
        # The command has left its core dump already.
        resource.setrlimit(resource.RLIMIT_CORE, (0, resource.getrlimit(resource.RLIMIT_CORE)[1]))
        if number not in {signal.SIGKILL, signal.SIGSTOP}:
            signal.signal(number, signal.SIG_DFL)
            signal.pthread_sigmask(signal.SIG_UNBLOCK, [number])
        os.kill(os.getpid(), number)
    # The first process of a container does not die of its own signals.
    return 128 + number
