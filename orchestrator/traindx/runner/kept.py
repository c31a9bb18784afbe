"""What is kept of a run: each stream to the byte, and both together, line by line, as the log that is read."""

from __future__ import annotations

import contextlib
import fcntl
import os
import time
from collections.abc import Callable
from pathlib import Path
from types import TracebackType

from traindx.errors import UnwritableOutput, UsageError
from traindx.vocabulary.run_folder import LOG, STREAMS

LONGEST_HELD = 64 << 10
"""bytes without the end of a line after which a piece of a line is logged all the same"""
Say = Callable[[str], None]


class Kept:
    """The files that grow while the command runs. A disk that is full costs the rest of the log, not the run."""

    def __init__(self, folder: Path, say: Say) -> None:
        self.folder = folder
        self.lost = 0
        """bytes that could not be written"""
        self._say = say
        self._held: dict[str, bytes] = {}
        self._fresh = True
        """whether the log stands at the beginning of a line"""
        self._files: dict[str, int] = {}
        with contextlib.ExitStack() as opened:
            for name in (LOG, *STREAMS.values()):
                self._files[name] = _opened(folder / name)
                opened.callback(os.close, self._files[name])
            _lock(self._files[LOG], folder)
            self.continues = os.fstat(self._files[LOG]).st_size > 0
            """whether an earlier run was kept here, which this one goes on from"""
            self._opened = opened.pop_all()

    def __enter__(self) -> Kept:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.settle()
        self._opened.close()

    def add(self, stream: str, data: bytes) -> None:
        """Keep what a stream said; of the log an unfinished line waits for its end, so that no other breaks into it."""
        if stream not in STREAMS:
            return  # the echo of the keys
        self._write(STREAMS[stream], data)
        whole = self._held.pop(stream, b"") + data
        end = max(whole.rfind(b"\n"), whole.rfind(b"\r")) + 1
        if len(whole) - end > LONGEST_HELD:
            end = len(whole)
        if end < len(whole):
            self._held[stream] = whole[end:]
        self._log(whole[:end])

    def settle(self) -> None:
        """Log the lines that have not come to an end: nothing more may come for a while."""
        for stream in list(self._held):
            self._log(self._held.pop(stream))

    def note(self, line: str) -> None:
        """Write a line of our own into the log."""
        self.settle()
        self._log(b"" if self._fresh else b"\n")
        self._log(line.encode("utf-8", "backslashreplace") + b"\n")

    def _log(self, data: bytes) -> None:
        if data:
            self._fresh = data.endswith(b"\n")
            self._write(LOG, data)

    def _write(self, name: str, data: bytes) -> None:
        if self.lost:
            self.lost += len(data) if name != LOG else 0
            return
        rest = memoryview(data)
        try:
            while rest:
                rest = rest[os.write(self._files[name], rest) :]
        except OSError as error:
            self.lost += len(rest)
            why = (error.strerror or "it cannot be written").lower()
            self._say(f"`{self.folder / name}`: {why}; the command goes on, and its output is no longer kept")


def new_folder(name: str, parent: Path) -> Path:
    """A folder for one run, named after the time and the command; raises `UnwritableOutput`."""
    stamp = time.strftime("%Y%m%d-%H%M%S")
    plain = "".join(letter if letter.isalnum() or letter in "-_" else "-" for letter in name)[:40].strip("-") or "run"
    for attempt in range(1000):
        folder = parent / (f"{stamp}-{plain}" if not attempt else f"{stamp}-{plain}-{attempt}")
        try:
            folder.mkdir(parents=True)
        except FileExistsError:
            continue
        except OSError as error:
            raise UnwritableOutput(folder, (error.strerror or "it cannot be made").lower()) from None
        return folder
    raise UnwritableOutput(parent, "there are a thousand runs of this second already")


def given_folder(folder: Path) -> Path:
    """The folder that was asked for, made where it is not there yet; raises `UnwritableOutput`."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UnwritableOutput(folder, (error.strerror or "it cannot be made").lower()) from None
    return folder


def _opened(path: Path) -> int:
    try:
        return os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC | os.O_NOFOLLOW, 0o666)
    except OSError as error:
        raise UnwritableOutput(path, (error.strerror or "it cannot be opened").lower()) from None


def _lock(handle: int, folder: Path) -> None:
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise UsageError(
            f"another `traindx run` is writing to `{folder}`; give each command a folder of its own"
        ) from None
    except OSError:
        return  # some network file systems know no locks
