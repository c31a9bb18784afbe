"""A traceback that is being read, and the frames that IPython and rich show in their own ways."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

# How IPython shows a frame, in its several versions; where the line is not in the heading, an arrow points to it.
_CELL_FRAME = re.compile(
    r"(?:Cell |Input )In ?\[(\d{1,9})\](?:, line (\d{1,7})|, in )|<ipython-input-(\d{1,9})-\w{1,40}> in "
)
_FILE_FRAME = re.compile(
    r"File (\S{1,400}?):(\d{1,7}), in (\w{0,80})|(?:File )?([~/\w][^\s:]{0,400}\.py) in (?=\S)(\w{0,80})"
)
_ARROW = re.compile(r"-{1,8}> ?(\d{1,7})(?:\s|$)")
# rich draws a box: `│ /home/me/train.py:212 in main   │`, and an arrow before the line that raised.
_BOX = ("│", "╭", "╰")
_BOXED_FRAME = re.compile(r"│ {1,4}(\S[^│]{0,400}?):(\d{1,7})(?: in (\S{1,80})|\s)")
_BOXED_LINE = re.compile(r"│ {0,4}❱ {0,8}\d{1,7} (.{1,400})")


@dataclass
class Traceback:
    """A traceback that is being read, of one process."""

    frames: list[tuple[str, int]] = field(default_factory=list)
    lines: int = 0
    follows: int = 0
    pointed: str = ""
    """what IPython's next arrow points into"""
    called: str = ""
    """the function of that frame"""
    last: int = 0
    """the last line of the file that belongs to it"""
    ignored: bool = False
    """whether its heading says that the interpreter goes on"""
    code: str = ""
    """the line of code of the innermost frame, as far as it is printed"""
    calls: list[str] = field(default_factory=list)
    """the function of each frame; empty where none is named"""

    def enter(self, path: str, line: int, function: str = "") -> None:
        """Take in a frame; the line of code that was shown belongs to the one before."""
        self.frames.append((path, line))
        self.calls.append(function)
        self.code = ""


def opens_box(message: str) -> bool:
    """Whether rich begins the box of a traceback: in a wide terminal its heading stands far to the right."""
    return message.startswith("╭") and "Traceback (most recent call last)" in message


def boxed_frame(traceback: Traceback, message: str) -> bool:
    """Take in a line of a traceback as rich draws it; whether it is one."""
    if not message.startswith(_BOX):
        return False
    frame, line = _BOXED_FRAME.match(message), _BOXED_LINE.match(message)
    if frame:
        traceback.enter(frame[1], int(frame[2]), frame[3] or "")
    elif line:
        traceback.code = line[1].strip("│ ")
    return True


def ipython_frame(traceback: Traceback, message: str) -> bool:
    """Take in a line of a traceback as IPython prints it; whether it is one."""
    arrow = _ARROW.match(message)
    if arrow:
        if traceback.pointed:
            traceback.enter(traceback.pointed, int(arrow[1]), traceback.called)
        traceback.pointed = ""
        return True
    cell, file = _CELL_FRAME.match(message), _FILE_FRAME.match(message)
    if cell:
        name, line, called = f"In[{cell[1] or cell[3]}]", cell[2], ""
    elif file:
        name, line, called = file[1] or file[4], file[2], file[3] or file[5] or ""
    else:
        return False
    if line:
        traceback.enter(name, int(line), called)
    traceback.called = called
    traceback.pointed = "" if line else name
    return True


FATAL = "Fatal Python error: "
_THREAD = re.compile(
    r"(?:(?P<current>Current thread)|Thread) 0x[0-9a-fA-F]{1,20} (?:\[[^\]]{0,80}\] )?\(most recent call first\)"
)
_FAULT_FRAME = re.compile(r'\s{1,8}File "([^"]{1,400})", line (\d{1,7}) in ')
_STACK_LINES = 2_000


@dataclass
class Fault:
    """A crash outside Python as the fault handler reports it, with the stack of the thread that crashed."""

    number: int
    line: str
    message: str
    found: list[tuple[str, int]] = field(default_factory=list)
    current: bool = False
    lines: int = 0

    def takes(self, message: str) -> bool:
        """Take in a line of the stacks; whether it is one."""
        self.lines += 1
        thread, frame = _THREAD.match(message), _FAULT_FRAME.match(message)
        if thread:
            self.current = thread["current"] is not None
        elif frame and self.current:
            self.found.append((frame[1], int(frame[2])))
        blank = not message.strip() or message.lstrip().startswith(("...", "<no Python frame>", "Python runtime state"))
        return self.lines < _STACK_LINES and bool(thread or frame or blank)

    @property
    def frames(self) -> tuple[tuple[str, int], ...]:
        """The calls of the thread that crashed, the innermost last, as in a traceback."""
        return tuple(reversed(self.found))
