"""The user's own code behind a call: which line it is, and what a tensor is called there."""

from __future__ import annotations

import linecache
import sys
import sysconfig
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import Any

from traindx.contract import Citation

_OURS = str(Path(__file__).resolve().parents[2])
_LIBRARIES = tuple({*(sysconfig.get_paths()[name] for name in ("stdlib", "purelib", "platlib")), _OURS})
_MOST_FRAMES = 64
_MOST_NAMES = 400


@dataclass(frozen=True)
class Named:
    """What a value is called in the user's code, and the line that was running there."""

    name: str
    path: str
    line: int
    function: str

    @property
    def place(self) -> str:
        """`train.py:40`."""
        return f"{self.path}:{self.line}"

    def cite(self, claim: str) -> Citation:
        """The line, quoted."""
        return Citation(claim=claim, source=self.path, locator=f"line {self.line}", quote=source_line(self))


def user_frames() -> Iterator[FrameType]:
    """The frames of code that belongs to no library, innermost first."""
    frame: FrameType | None = sys._getframe(1)
    for _ in range(_MOST_FRAMES * 8):
        if frame is None:
            return
        if is_users(frame.f_code.co_filename):
            yield frame
        frame = frame.f_back


def here() -> Named | None:
    """The innermost line of the user's code."""
    return next((_named("", frame) for frame in user_frames()), None)


def name_of(value: Any) -> Named | None:
    """What the outermost user code that holds a value calls it: the training loop's own variable before a layer's."""
    found: Named | None = None
    for frame in list(user_frames())[:_MOST_FRAMES]:
        name = _held_as(value, frame.f_locals)
        if name:
            found = _named(name, frame)
    return found


def source_line(named: Named) -> str:
    """The text of the line."""
    return (
        linecache.getline(str(Path.cwd() / named.path), named.line).strip()
        or linecache.getline(named.path, named.line).strip()
    )


def shown_path(filename: str) -> str:
    """A file as the user knows it: relative to the folder that the script runs in, where it lies below."""
    path = Path(filename)
    try:
        return path.resolve().relative_to(Path.cwd().resolve()).as_posix()
    except (ValueError, OSError):
        return path.as_posix()


def is_users(filename: str) -> bool:
    """Whether a file belongs to no library."""
    return not filename.startswith(("<frozen", "<string")) and not filename.startswith(_LIBRARIES)


def _named(name: str, frame: FrameType) -> Named:
    return Named(name, shown_path(frame.f_code.co_filename), frame.f_lineno, frame.f_code.co_name)


def _held_as(value: Any, names: Mapping[str, Any]) -> str:
    """`h`, `state[1]`, `self.hidden`, `carry['h']`: how a value is reached from these names."""
    for name, held in list(names.items())[:_MOST_NAMES]:
        if name.startswith("__"):
            continue
        if held is value:
            return name
        inside = _inside(value, held)
        if inside:
            return f"{name}{inside}"
    return ""


def _inside(value: Any, held: Any) -> str:
    if isinstance(held, (tuple, list)):
        for place, part in enumerate(held[:16]):
            if part is value:
                return f"[{place}]"
            if isinstance(part, (tuple, list)):
                deeper = next((at for at, one in enumerate(part[:16]) if one is value), None)
                if deeper is not None:
                    return f"[{place}][{deeper}]"
        return ""
    if isinstance(held, dict):
        return next((f"[{key!r}]" for key, part in list(held.items())[:_MOST_NAMES] if part is value), "")
    fields = getattr(held, "__dict__", None)
    if isinstance(fields, dict) and not isinstance(held, type) and type(held).__name__ != "module":
        for name, part in list(fields.items())[:_MOST_NAMES]:
            if part is value:
                return f".{name}"
            if isinstance(part, (tuple, list)):
                at = next((place for place, one in enumerate(part[:16]) if one is value), None)
                if at is not None:
                    return f".{name}[{at}]"
    return ""
