"""The parent's hold on one worker process: asking it, watching it, ending it."""

from __future__ import annotations

import contextlib
import math
import os
import select
import signal
import threading
import time
import weakref
from collections.abc import Callable, Mapping
from pathlib import Path
from subprocess import Popen
from typing import Any

from traindx.runtime.launch import launch
from traindx.runtime.protocol import HEADER, LARGEST_FRAME, WorkerConfig, frame, parse_message

# Importing the engine from a cold network file system takes this long on bad days.
START_SECONDS = 60.0
# Loading the file of a tool; torch takes 2 s from a warm disk.
LOAD_SECONDS = 20.0
# A tool may declare a timeout for itself, up to here.
LONGEST_SECONDS = 600.0
_WATCH_SECONDS = 0.05
Progress = Callable[[str], None]
_COMPLAINT_BYTES = 2048


class WorkerLost(Exception):
    """The worker was ended, or ended itself, before it answered; the message says why."""


class WorkerProcess:
    """A running worker. One caller at a time may `ask`; `end` may come from any thread."""

    def __init__(self, config: WorkerConfig) -> None:
        self._config = config
        self._launched = launch()
        self.pid = self._launched.process.pid
        self._complaint = b""
        self._hello: dict[str, Any] | None = None
        self._ending = threading.Lock()
        pipes = (self._launched.requests, self._launched.answers, self._launched.complaints)
        for pipe in pipes:
            os.set_blocking(pipe, False)
        self._finalizer = weakref.finalize(self, _bury, self._launched.process, pipes, os.getpid())
        self._greeting = frame(config.message())

    @property
    def alive(self) -> bool:
        """Whether the process still runs."""
        return self._finalizer.alive and self._launched.process.poll() is None

    def hello(self) -> dict[str, Any]:
        """What the worker said when it was ready: which powers it has given up. Waits for it once."""
        if self._hello is None:
            deadline = time.monotonic() + START_SECONDS
            try:
                self._send(self._greeting, deadline)
                self._hello = self._receive(deadline, START_SECONDS)
            finally:
                if self._hello is None:
                    self.end()
        return self._hello

    def ask(
        self, message: Mapping[str, Any], timeout: float | None = None, progress: Progress | None = None
    ) -> dict[str, Any]:
        """Send a request and wait for its answer; raises `WorkerLost`, after which this worker is gone.

        The worker first loads the tool, then announces how long the tool may take; `timeout` overrides both.
        """
        answered = False
        try:
            self.hello()
            seconds = LOAD_SECONDS if timeout is None else timeout
            deadline = time.monotonic() + seconds
            self._send(frame(message), deadline)
            answer = self._receive(deadline, seconds)
            if answer.get("status") == "running":
                if timeout is None:
                    seconds = _declared_seconds(answer.get("timeout"))
                    deadline = time.monotonic() + seconds
                answer = self._receive(deadline, seconds)
            while answer.get("status") == "progress":
                if progress is not None:
                    progress(str(answer.get("text", "")))
                answer = self._receive(deadline, seconds)
            answered = True
            return answer
        finally:
            # Whatever came in between (Ctrl-C too), an unanswered worker is out of step and cannot be asked again.
            if not answered:
                self.end()

    def end(self) -> None:
        """End the process and everything it started; safe to repeat, and from another thread than `ask`."""
        with self._ending:
            _kill(self._launched.process)

    def bury(self) -> None:
        """End the process and close the pipes to it."""
        self._finalizer()

    def _send(self, data: bytes, deadline: float) -> None:
        rest = memoryview(data)
        poll = select.poll()
        poll.register(self._launched.requests, select.POLLOUT)
        while rest:
            if time.monotonic() > deadline:
                raise WorkerLost("accepted no request")
            if not poll.poll(_WATCH_SECONDS * 1000):
                continue
            try:
                rest = rest[os.write(self._launched.requests, rest) :]
            except BlockingIOError:
                continue
            except BrokenPipeError:
                raise WorkerLost(self._obituary()) from None

    def _receive(self, deadline: float, seconds: float) -> dict[str, Any]:
        data = bytearray()
        poll = select.poll()
        poll.register(self._launched.answers, select.POLLIN)
        poll.register(self._launched.complaints, select.POLLIN)
        while True:
            left = deadline - time.monotonic()
            if left <= 0:
                raise WorkerLost(f"gave no answer within {seconds:g} s")
            ready = {pipe for pipe, _ in poll.poll(min(left, _WATCH_SECONDS) * 1000)}
            if self._launched.complaints in ready and not self._listen():
                poll.unregister(self._launched.complaints)
            if self._launched.answers in ready:
                piece = _read(self._launched.answers, self._missing(data))
                if piece == b"":
                    raise WorkerLost(self._obituary())
                data += piece or b""
                if len(data) >= HEADER.size and not self._missing(data):
                    return self._parse(bytes(data[HEADER.size :]))
            self._check_memory()

    def _missing(self, data: bytearray) -> int:
        """How many bytes of the message under way are still to come."""
        if len(data) < HEADER.size:
            return HEADER.size - len(data)
        length: int = HEADER.unpack_from(data)[0]
        if length > LARGEST_FRAME:
            raise WorkerLost(f"answered with {length / 1e6:.0f} MB, which is too much")
        return HEADER.size + length - len(data)

    def _parse(self, body: bytes) -> dict[str, Any]:
        try:
            return parse_message(body)
        except (ValueError, RecursionError):
            raise WorkerLost("answered with something that is not a JSON object") from None

    def _listen(self) -> bool:
        piece = _read(self._launched.complaints, 65536)
        self._complaint = (self._complaint + (piece or b""))[-_COMPLAINT_BYTES:]
        return piece != b""

    def _check_memory(self) -> None:
        used = memory_mb(self.pid)
        if used > self._config.memory_mb:
            raise WorkerLost(f"ran out of memory (limit {self._config.memory_mb} MB)")

    def _obituary(self) -> str:
        """Why the process is dead, from its exit code and the last line it wrote to stderr."""
        while piece := _read(self._launched.complaints, 65536):
            self._complaint = (self._complaint + piece)[-_COMPLAINT_BYTES:]
        # Its pipes are closed, so it is on its way out, unless a tool has merely closed them.
        deadline = time.monotonic() + 1.0
        while (code := self._launched.process.poll()) is None and time.monotonic() < deadline:
            time.sleep(0.005)
        last = self._complaint.decode("utf-8", "replace").strip().splitlines()[-1:]
        said = f" ({last[0][:300]})" if last else ""
        if code is None:
            return f"the tool's process stopped answering{said}"
        if code < 0:
            return f"the tool's process died: {_signal_name(-code)}{said}"
        return f"the tool's process ended with exit code {code} before it answered{said}"


def _declared_seconds(value: object) -> float:
    """What a tool says it may take; a number that is none (a NaN would never pass) is a broken answer."""
    if isinstance(value, int | float) and 0 < value < math.inf:
        return min(float(value), LONGEST_SECONDS)
    raise WorkerLost("declares a `timeout` that is not a number of seconds")


def memory_mb(pid: int) -> float:
    """The memory a process holds, without the files it has mapped; 0 where the system does not say."""
    try:
        status = Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return 0.0
    lines = (line.split() for line in status.splitlines() if line.startswith(("RssAnon:", "RssShmem:")))
    return sum(int(words[1]) for words in lines) / 1024


def _read(pipe: int, count: int) -> bytes | None:
    """What has arrived: `None` for nothing yet, `b""` for the end."""
    try:
        return os.read(pipe, count)
    except BlockingIOError:
        return None


def _kill(process: Popen[bytes]) -> None:
    if process.returncode is None:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def _bury(process: Popen[bytes], pipes: tuple[int, ...], owner: int) -> None:
    # A fork of the owner holds the same object when it exits, but not the worker.
    if os.getpid() == owner:
        _kill(process)
    for pipe in pipes:
        with contextlib.suppress(OSError):
            os.close(pipe)


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
