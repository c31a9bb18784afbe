"""Read: windows of text files, with line numbers."""

from __future__ import annotations

import codecs
import os
import re
from collections import deque
from collections.abc import Iterator
from typing import BinaryIO

from pydantic import Field

from traindx.contract import Value
from traindx.errors import TraindxError, UnreadableInput, UsageError
from traindx.readers import Run
from traindx.readers.folder.browse import Line, what_binary, whole_lines
from traindx.readers.logs.lines import blocks
from traindx.runtime import NoData, ToolInput, ToolOutput, tool

# Counting lines goes through a file at about 500 MB a second: half a second for this many bytes.
DEEPEST = 256 * 1024 * 1024
_TAIL_STRETCHES = 8
_TAIL_BYTES = 8 * 1024 * 1024
_LINE_HEAD, _LINE_TAIL = 700, 300
_MOST_CHARACTERS = 40_000
_USUAL_LINES, _MOST_LINES = 200, 2000
_MOST_PLACES = 12
# `train.py`, `train.py:40`, `train.py:40-80`, `train.log:-50` for the last fifty.
_PLACE = re.compile(r"(?P<path>.+?)(?::(?:(?P<first>\d{1,12})(?:-(?P<last>\d{1,12}))?|-(?P<tail>\d{1,6})))?")


class Input(ToolInput):
    """Which part of which file."""

    path: str = Field(description="file to read, relative to the run folder, e.g. `logs/train.log`")
    start_line: int = Field(default=1, ge=1, description="first line to show, counted from 1; ignored with `tail`")
    max_lines: int = Field(default=_USUAL_LINES, ge=1, le=_MOST_LINES, description="show at most this many lines")
    tail: bool = Field(default=False, description="show the last `max_lines` lines instead")
    also: list[str] = Field(
        default_factory=list,
        max_length=_MOST_PLACES,
        description="further places to read in the same call: `model.py`, `train.py:40-80`, `train.log:-50` (its end)",
    )


class Other(Value):
    """A further place, or why it could not be read."""

    path: str
    text: str = ""
    left_out: list[str] = Field(default_factory=list)
    reason: str = ""


class Excerpt(ToolOutput):
    """Lines of a file, and what was left out of them."""

    path: str
    size_bytes: int
    first_line: int = Field(description="number of the first line shown; negative when counted from the end")
    last_line: int
    text: str = Field(description="`number<tab>line`, one per line of the file")
    left_out: list[str] = Field(description="what is not shown, and how to see it")
    also: list[Other] = Field(default_factory=list, description="the further places, in the order they were asked for")


@tool(timeout=20.0)
def Read(request: Input, run: Run) -> Excerpt:  # noqa: N802 the name it has in Claude Code
    """Show lines of a text file of the run, numbered as an editor numbers them.

    For a log start with `tail`: the reason is usually near the end. Long lines are cut in the middle; binary
    files (checkpoints, event files, images) are refused, other tools read those. One call takes several places: the
    others go into `also`.
    """
    first = _read(request, run, _MOST_CHARACTERS)
    others: list[Other] = []
    room = _MOST_CHARACTERS - len(first.text)
    for place in request.also:
        others.append(_other(place, run, room))
        room -= len(others[-1].text)
    return first.model_copy(update={"also": others})


def _other(place: str, run: Run, room: int) -> Other:
    """What stands at a further place; one that cannot be read costs the others nothing."""
    try:
        asked = _asked(place)
        if room <= 0:
            return Other(path=place, reason="no room left in this answer: ask for it in another call")
        found = _read(asked, run, room)
    except (NoData, TraindxError) as refused:
        return Other(path=place, reason=str(refused))
    return Other(path=found.path, text=found.text, left_out=found.left_out)


def _asked(place: str) -> Input:
    match = _PLACE.fullmatch(place.strip())
    if match is None:
        raise UsageError(f"`{place}` names no file")
    path, first, last, tail = match.group("path", "first", "last", "tail")
    if tail:
        return Input(path=path, tail=True, max_lines=min(_MOST_LINES, max(1, int(tail))))
    begin = max(1, int(first or 1))
    most = int(last) - begin + 1 if last else _USUAL_LINES
    return Input(path=path, start_line=begin, max_lines=min(_MOST_LINES, max(1, most)))


def _read(request: Input, run: Run, room: int) -> Excerpt:
    with run.scope.open(request.path) as handle:
        size = os.fstat(handle.fileno()).st_size
        if not size:
            raise NoData(f"`{request.path}` is empty")
        kind = what_binary(handle)
        if kind is not None:
            raise UnreadableInput(request.path, f"not text but {kind}")
        lines = _last_lines(handle, request, size) if request.tail else _lines_from(handle, request)
    return _excerpt(lines, request, size, room)


def _lines_from(handle: BinaryIO, request: Input) -> list[Line]:
    """The lines asked for, and one more where there is one."""
    seen = 0

    def stretches() -> Iterator[tuple[int, str]]:
        nonlocal seen
        for first, text in blocks(handle):
            if handle.tell() > DEEPEST and first < request.start_line:
                raise UsageError(
                    f"line {request.start_line} of `{request.path}` is more than {DEEPEST >> 20} MB into the file; "
                    "use `tail`, or Grep for what you are looking for"
                )
            seen = first + text.count("\n") - text.endswith("\n")
            yield first, text

    lines: list[Line] = []
    for line in whole_lines(stretches(), request.start_line):
        lines.append(line)
        if len(lines) > request.max_lines:
            break
    if not lines:
        raise UsageError(f"`{request.path}` has {seen} lines; there is no line {request.start_line}")
    return lines


def _last_lines(handle: BinaryIO, request: Input, size: int) -> list[Line]:
    """The last lines; in a file too long to count through, they are numbered from the end: the last is -1."""
    deep = size > DEEPEST
    if deep:
        if handle.read(2) in {codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE}:
            raise UnreadableInput(request.path, "a UTF-16 file this long cannot be read from the end; use Grep")
        handle.seek(size - _TAIL_BYTES)
    window = deque(blocks(handle), maxlen=_TAIL_STRETCHES)
    while (
        len(window) > 1 and sum(text.count("\n") for _, text in window) - window[0][1].count("\n") > request.max_lines
    ):
        window.popleft()
    found = list(whole_lines(window))
    cut_open = deep or window[0][0] > 1
    lines = (found[1:] if cut_open and len(found) > 1 else found)[-request.max_lines :]
    if not deep:
        return lines
    return [Line(place - len(lines), line.text, line.dropped) for place, line in enumerate(lines)]


def _excerpt(lines: list[Line], request: Input, size: int, room: int) -> Excerpt:
    shown: list[str] = []
    left_out: list[str] = []
    wanted = lines if request.tail else lines[: request.max_lines]
    for line in reversed(wanted) if request.tail else wanted:
        text = f"{line.number}\t{_cut(line)}"
        room -= len(text)
        if room < 0 and shown:
            break
        shown.append(text)
    if request.tail:
        shown.reverse()
        wanted = wanted[len(wanted) - len(shown) :]
    first, last = wanted[0].number, wanted[len(shown) - 1].number
    if first > 1:
        left_out.append(f"lines 1 to {first - 1}: ask with an earlier `start_line`")
    if first < 0:
        left_out.append("line numbers are counted from the end; use Grep for what comes before")
    if not request.tail and len(shown) < len(lines):
        left_out.append(f"the lines after {last}: ask with `start_line={last + 1}`, or `tail`")
    if any(len(line.text) > _LINE_HEAD + _LINE_TAIL for line in wanted[: len(shown)]):
        left_out.append("the middle of long lines: Grep finds text inside them")
    return Excerpt(
        path=request.path, size_bytes=size, first_line=first, last_line=last, text="\n".join(shown), left_out=left_out
    )


def _cut(line: Line) -> str:
    text = line.text.removesuffix("\r").replace("\r", "\\r")
    if len(text) <= _LINE_HEAD + _LINE_TAIL:
        return text
    gone = len(text) - _LINE_HEAD - _LINE_TAIL + line.dropped
    return f"{text[:_LINE_HEAD]} […{gone} characters left out…] {text[-_LINE_TAIL:]}"
