"""One command from its start to its end."""

from __future__ import annotations

import contextlib
import os
import signal
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from traindx.definitions.visible import visible
from traindx.errors import UnwritableOutput
from traindx.runner.channels import STDIN, Channels
from traindx.runner.child import Child, NotStarted, signals_heard
from traindx.runner.kept import Kept, given_folder, new_folder
from traindx.runner.pump import Pump
from traindx.runner.samples import Sampler
from traindx.runner.summary import Summary
from traindx.runner.terminal import RawInput
from traindx.vocabulary.run_folder import ENVIRONMENT, SAMPLES, SUMMARY

RUNS = "traindx-runs"
Say = Callable[[str], None]


@dataclass(frozen=True)
class Options:
    """What `traindx run` was asked."""

    command: tuple[str, ...]
    folder: Path | None = None
    every: float = 10.0
    """seconds between two samples of memory and processor"""


@dataclass(frozen=True)
class Outcome:
    """How a command ended: its exit code, or the negative number of the signal that killed it."""

    status: int
    folder: Path
    started: bool = True


def carry_out(options: Options, say: Say) -> Outcome:
    """Run a command and keep what it says; raises `UsageError` where nothing can be kept, before it is started."""
    name = Path(options.command[0]).name
    script = next((Path(word).stem for word in options.command[1:] if word.endswith(".py")), name)
    folder = given_folder(options.folder) if options.folder else new_folder(script, Path(RUNS))
    with Kept(folder, say) as kept:
        summary = Summary(folder / SUMMARY, options.command, kept.continues)
        summary.write()
        kept.note("$ " + visible(summary.command).replace("\n", "\\n"))
        say(f"keeping the output in `{folder}`")
        try:
            status, held = _Running(options, kept).to_its_end()
        except NotStarted as error:
            say(str(error))
            kept.note(f"traindx run: {error}")
            _finish(summary, kept, say, error.status, [])
            return Outcome(error.status, folder, started=False)
        for stream in held:
            say(f"a process that the command started still holds {stream}; what it writes from now on is not kept")
        _finish(summary, kept, say, status, held)
        return Outcome(status, folder)


def _finish(summary: Summary, kept: Kept, say: Say, status: int, held: list[str]) -> None:
    """Keep how it ended; a disk that is full by now does not change the exit code."""
    kept.note(summary.ended(status, held, kept.lost))
    try:
        summary.write()
    except UnwritableOutput as error:
        say(str(error))


class _Running:
    """The command while it runs."""

    def __init__(self, options: Options, kept: Kept) -> None:
        self._options, self._kept = options, kept
        self._channels = Channels()
        self._child: Child | None = None
        self._early: list[signal.Signals] = []
        """signals that came before there was a command to pass them on to"""
        self._raw = RawInput(STDIN)
        self._pump: Pump | None = None

    def to_its_end(self) -> tuple[int, list[str]]:
        """Start it and wait for its end: its status, and the streams that other processes still hold."""
        with contextlib.ExitStack() as stack:
            ours, wakeup = _wakeup_pipe(stack)
            self._channels = channels = Channels.laid()
            stack.callback(channels.close)
            stack.callback(channels.release)
            stack.enter_context(signals_heard(self._hear, wakeup))
            place = {ENVIRONMENT: str(self._kept.folder.resolve())}
            self._child = child = Child(self._options.command, channels.given, channels.terminal, place)
            channels.release()
            while self._early:
                child.send(self._early.pop(0))
            sampler = Sampler(child.pid, self._kept.folder / SAMPLES, self._options.every)
            sampler.start()
            stack.callback(sampler.stop)
            self._pump = pump = Pump(channels.outlets, self._kept, channels.keyboard, ours)
            stack.callback(pump.close)
            stack.callback(self._raw.leave)
            self._take_keyboard()
            held = pump.run(lambda: child.ended() is not None)
            return child.ended() or 0, held

    def _hear(self, number: signal.Signals) -> None:
        if number == signal.SIGCHLD:
            return  # the loop looks after the command each time it wakes up
        if number == signal.SIGWINCH:
            self._channels.resize()
        elif self._child is None:
            self._early.append(number)
        elif number == signal.SIGTSTP:
            self._suspend()
        else:
            self._child.send(number)
            if number == signal.SIGCONT:
                self._take_keyboard()

    def _take_keyboard(self) -> None:
        """Pass the keys on from now, where the terminal is ours."""
        if self._pump is not None and self._channels.keyboard is not None:
            self._pump.listen(self._raw.enter(), self._suspend)

    def _suspend(self) -> None:
        """Stop the command and then this process, as Ctrl-Z does; both go on together."""
        if self._child is None:
            return
        # The kernel keeps a session without a shell from stopping by SIGTSTP; who handles it shall hear of it first.
        self._child.send(signal.SIGTSTP)
        self._child.send_all(signal.SIGSTOP)
        self._raw.leave()
        handler = signal.signal(signal.SIGTSTP, signal.SIG_DFL)
        os.killpg(os.getpgrp(), signal.SIGTSTP)
        signal.signal(signal.SIGTSTP, handler)
        self._child.send(signal.SIGCONT)
        self._channels.resize()
        self._take_keyboard()


def _wakeup_pipe(stack: contextlib.ExitStack) -> tuple[int, int]:
    pipe = os.pipe()
    for end in pipe:
        os.set_blocking(end, False)
        stack.callback(os.close, end)
    return pipe
