"""Stacks of running processes, as py-spy and faulthandler print them."""

from __future__ import annotations

import re
from dataclasses import dataclass

from traindx.readers.logs.ranks import prefix_of, rank_in_name

LARGEST = 16 << 20
"""of a file in which stacks are looked for"""
SIGNS = (b"most recent call first", b"(active", b"(idle")
_MOST_STACKS = 4_096
_MOST_FRAMES = 200
_PROCESS = re.compile(r"Process (?P<pid>\d{1,9}): (?P<command>.{0,400})")
_HEADING = re.compile(r"[=\-#*\s]{0,12}(?:rank|local_rank|node rank)[ :=_#]{0,3}(?P<rank>\d{1,6})\b", re.IGNORECASE)
# py-spy: `Thread 0x7F (active): "MainThread"`; faulthandler: `Thread 0x00007f (most recent call first):`.
_PY_SPY = re.compile(r"Thread (?:0x)?[\w]{1,20} \((?P<state>active|idle)[^)]{0,20}\)(?:: \"?(?P<name>[^\"]{0,80}))?")
_FAULT = re.compile(r"(?P<current>Current thread|Thread) 0x[0-9a-fA-F]{1,20}[^()]{0,60}\(most recent call first\):")
_PY_SPY_FRAME = re.compile(r"\s{2,8}(?P<function>[\w<>.]{1,120}) \((?P<file>[^()]{1,300}):(?P<line>\d{1,7})\)")
_FAULT_FRAME = re.compile(
    r"\s{2}File \"(?P<file>[^\"]{1,300})\", line (?P<line>\d{1,7}) in (?P<function>[\w<>.]{1,120})"
)


@dataclass(frozen=True)
class Frame:
    """One call of a stack."""

    function: str
    file: str
    line: int


@dataclass(frozen=True)
class Stack:
    """What the main thread of a process was doing; the innermost call first."""

    source: str
    line: int
    text: str
    """its innermost call as the file prints it"""
    process: str
    """`rank 3`, or `process 4711` where nothing tells the rank"""
    frames: tuple[Frame, ...]


def read_stacks(text: str, source: str) -> list[Stack]:
    """The stack of every process's main thread in a file: the one called so, else the last that faulthandler prints."""
    named = rank_in_name(source)
    reader = _Reader(source, f"rank {named.number}" if named else "")
    for number, line in enumerate(text.split("\n"), 1):
        reader.line(number, line.rstrip("\r"))
    return reader.found()


class _Reader:
    def __init__(self, source: str, process: str) -> None:
        self.source = source
        self.process = process
        self.by_process: dict[str, Stack] = {}
        self._frames: list[Frame] = []
        self._first: tuple[int, str] = (0, "")
        self._keep = False

    def line(self, number: int, line: str) -> None:
        """Take in one line."""
        end, rank, _ = prefix_of(line)
        message = line[end:] if rank >= 0 else line
        frame = _PY_SPY_FRAME.match(message) or _FAULT_FRAME.match(message)
        if frame and self._keep and len(self._frames) < _MOST_FRAMES:
            self._first = self._first if self._frames else (number, line.strip())
            self._frames.append(Frame(frame["function"], frame["file"], int(frame["line"])))
            return
        if frame:
            return
        self._close()
        process, heading = _PROCESS.match(message), _HEADING.match(message)
        if rank >= 0:
            self.process = f"rank {rank}"
        elif heading:
            self.process = f"rank {heading['rank']}"
        elif process and not self.process.startswith("rank "):
            self.process = f"process {process['pid']}"
        spy, fault = _PY_SPY.match(message), _FAULT.match(message)
        if spy:
            self._keep = (spy["name"] or "").strip() in {"", "MainThread"}
        elif fault:
            self._keep = True  # the main thread comes last

    def _close(self) -> None:
        if self._frames and len(self.by_process) < _MOST_STACKS:
            name = self.process or f"stack at line {self._first[0]}"
            self.by_process[name] = Stack(self.source, *self._first, name, tuple(self._frames))
        self._frames, self._keep = [], False

    def found(self) -> list[Stack]:
        self._close()
        return list(self.by_process.values())
