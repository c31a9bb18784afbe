"""Weights & Biases: the binary `run-*.wandb` file that every run writes beside its folder of plain files.

The file is a log of 32 KiB blocks. A record lies in one block or is cut into parts; each part has a checksum, its
length and its place (whole, first, middle, last). A record is a protobuf message: history, config, console, exit.
"""

from __future__ import annotations

import json
import math
import re
import struct
import zlib
from collections import Counter
from collections.abc import Iterator
from typing import BinaryIO

from traindx.contract import Fact
from traindx.readers.configs.settings import MOST, dotted, flat
from traindx.readers.model import Setting
from traindx.readers.trackers.points import Found, Points, counted
from traindx.readers.trackers.wire import BYTES, FIXED64, VARINT, Field, Malformed, fields, integer, text

_BLOCK = 32 << 10
_PART = struct.Struct("<IHB")
_FILE_HEADER = 7
_WHOLE, _FIRST, _MIDDLE, _LAST = 1, 2, 3, 4
_LARGEST_RECORD = 64 << 20
# Record and the messages inside it
_HISTORY, _CONFIG, _ALERT, _CONSOLE, _RUN, _EXIT = 2, 5, 10, 13, 17, 18
_KEY, _NESTED_KEY, _VALUE_JSON = 1, 2, 16
_RUN_CONFIG, _RUN_GIT, _RUN_RESUMED = 4, 21, 18
# HistoryItem of 2026 writers has typed values besides JSON
_BOOLEAN, _INTEGER, _NUMBER, _TYPED_JSON = 4, 5, 6, 8
_WORDS = {"NaN": math.nan, "Infinity": math.inf, "-Infinity": -math.inf}
_JSON_KEY = b"\x82\x01"
"""how the field `value_json` begins on the wire: nothing that is text has these bytes side by side"""
_MOST_NAMES = 10_000
_LONGEST_TEXT = 500
_CONSOLE_KEPT = 4_000
_ERROR = re.compile(r"^(?:[\w.]+\.)?[A-Z]\w*(?:Error|Exception|Interrupt|Exit)\b.*", re.MULTILINE)


def read(handle: BinaryIO, source: str) -> Found:
    """The history, configuration and end of a run."""
    reader, log = _Reader(source), _Log(handle)
    for number, data in log.records():
        reader.record(number, data)
    return Found(reader.points.series(source), list(reader.settings.values()), log.troubles + reader.remarks())


def quote(handle: BinaryIO, number: int) -> str:
    """The numbers of one history record in words, to cite it."""
    for here, data in _Log(handle).records():
        if here == number:
            try:
                rows = [part for part in fields(data) if part[:2] == (_HISTORY, BYTES)]
                return ", ".join(f"{key} {value:.9g}" for part in rows for key, value in _History().numbers(data, part))
            except Malformed:
                return ""
    return ""


class _Log:
    """The records of the file; `troubles` says afterwards what was wrong with it."""

    def __init__(self, handle: BinaryIO) -> None:
        self.troubles: list[str] = []
        self._handle = handle
        self._damaged = 0

    def records(self) -> Iterator[tuple[int, bytes]]:
        """Every whole record with its number from 1."""
        number, parts, size = 0, list[bytes](), 0
        for kind, data in self._parts():
            if kind in (_WHOLE, _FIRST):
                parts, size = [], 0
            elif not parts:
                continue  # the rest of a record whose beginning is lost
            size += len(data)
            if size > _LARGEST_RECORD:
                parts = []
                continue
            parts.append(data)
            if kind in (_WHOLE, _LAST):
                number += 1
                yield number, b"".join(parts)
                parts = []
        if parts:
            self.troubles.append(f"it is truncated in record {number + 1:,}; the records before it were read")
        if self._damaged:
            self.troubles.append(f"{self._damaged:,} of its blocks are damaged; their content was left out")

    def _parts(self) -> Iterator[tuple[int, bytes]]:
        at = _FILE_HEADER
        while block := self._handle.read(_BLOCK):
            while at + _PART.size <= len(block):
                checksum, length, kind = _PART.unpack_from(block, at)
                end = at + _PART.size + length
                if end > len(block) and len(block) < _BLOCK:
                    yield _FIRST, b""  # cut by the end of the file: an unfinished record
                    break
                if (
                    not _WHOLE <= kind <= _LAST
                    or zlib.crc32(block[at + 6 : at + 7] + block[end - length : end]) != checksum
                ):
                    self._damaged += bool(block[at:].strip(b"\0"))
                    break
                yield kind, block[end - length : end]
                at = end
            at = 0


class _Reader:
    """What has been read of one file."""

    def __init__(self, source: str) -> None:
        self.source = source
        self.points = Points()
        self.settings: dict[str, Setting] = {}
        self._history = _History()
        self._skipped = self._history.skipped
        self._notes: list[str] = []
        self._exit: int | None = None
        self._console = ""

    def record(self, number: int, data: bytes) -> None:
        """Take in one record."""
        try:
            for part in fields(data):
                if part.wire == BYTES:
                    self._part(number, data, part)
        except Malformed:
            self._skipped["malformed record"] += 1

    def remarks(self) -> list[str]:
        """What the reader of the series should know about the run."""
        said = list(self._notes)
        if self._exit is None:
            said.append("it has no exit record: the run was killed or is still running")
        elif self._exit:
            said.append(f"the run ended with exit code {self._exit}")
        errors = _ERROR.findall(self._console)
        if errors and self._exit != 0:
            said.append(f"its console ends with `{errors[-1].strip()[:300]}`")
        if self.points.overflow:
            said.append(self.points.overflow)
        if self._skipped:
            said.append(f"not read: {counted(sorted(self._skipped.items()))}")
        return said

    def _part(self, number: int, data: bytes, part: Field) -> None:
        if part.number == _HISTORY:
            self._take_history(number, data, part)
        elif part.number == _CONFIG:
            self._take_config(number, data, part)
        elif part.number == _RUN:
            self._take_run(number, data, part)
        elif part.number == _CONSOLE:
            said = "".join(text(data, inner) for inner in fields(data, part.start, part.end) if inner[:2] == (3, BYTES))
            self._console = (self._console + said)[-_CONSOLE_KEPT:]
        elif part.number == _EXIT:
            codes = [integer(data, inner) for inner in fields(data, part.start, part.end) if inner[:2] == (1, VARINT)]
            self._exit = codes[0] if codes else 0
        elif part.number == _ALERT:
            said = " ".join(text(data, inner) for inner in fields(data, part.start, part.end) if inner.number in (1, 2))
            self._notes.append(f"the run raised the alert `{said[:300]}`")

    def _take_history(self, number: int, data: bytes, part: Field) -> None:
        row = dict(self._history.numbers(data, part))
        step = row.get("_step", math.nan)
        if math.isnan(step):
            step = next(
                (_step(data, inner) for inner in fields(data, part.start, part.end) if inner[:2] == (2, BYTES)), 0
            )
        for key, value in row.items():
            if key not in {"_step", "_runtime", "_timestamp"}:
                self.points.one(key, number, step, value, row.get("_timestamp", math.nan))

    def _take_config(self, number: int, data: bytes, part: Field) -> None:
        for item in fields(data, part.start, part.end):
            if item[:2] == (1, BYTES):
                path, value = _item(data, item)
                if path and path[0] != "_wandb":
                    for inner, fact in flat(value, path):
                        self._setting(dotted(inner), fact, number)

    def _take_run(self, number: int, data: bytes, part: Field) -> None:
        for inner in fields(data, part.start, part.end):
            if inner[:2] == (_RUN_CONFIG, BYTES):
                self._take_config(number, data, inner)
            elif inner[:2] == (_RUN_RESUMED, VARINT) and integer(data, inner):
                self._notes.append("the run was resumed")
            elif inner[:2] == (_RUN_GIT, BYTES):
                for git in fields(data, inner.start, inner.end):
                    if git[:2] == (2, BYTES):
                        self._setting("git.commit", text(data, git), number)

    def _setting(self, key: str, value: Fact, number: int) -> None:
        if len(self.settings) < MOST or key in self.settings:
            bounded = value[:_LONGEST_TEXT] if isinstance(value, str) else value
            self.settings[key] = Setting(key, bounded, self.source, number)


def _step(data: bytes, part: Field) -> int:
    return next((integer(data, num) for num in fields(data, part.start, part.end) if num[:2] == (1, VARINT)), 0)


class _History:
    """Reads the numbers of history records; the names, which every record repeats, are parsed once."""

    def __init__(self) -> None:
        self.skipped: Counter[str] = Counter()
        self._names: dict[bytes, str] = {}

    def numbers(self, data: bytes, part: Field) -> Iterator[tuple[str, float]]:
        """The numbers of a record, by their names; a value with a `_type` is a picture, a table or similar."""
        others: list[tuple[tuple[str | int, ...], object]] = []
        numbers: list[tuple[str, float]] = []
        for item in fields(data, part.start, part.end):
            if item[:2] != (1, BYTES):
                continue
            keys, _, value = data[item.start : item.end].partition(_JSON_KEY)
            name = self._names.get(keys)
            if name is not None and value and value[0] == len(value) - 1 < 0x80:
                try:
                    numbers.append((name, float(value[1:])))
                    continue
                except ValueError:
                    pass
            path, parsed = _item(data, item)
            others.append((path, parsed))
            if isinstance(parsed, (float, int)) and len(self._names) < _MOST_NAMES:
                self._names[keys] = "/".join(map(str, path))
        if not others:
            yield from numbers
            return
        typed = {path[:-1]: value for path, value in _flat(others) if path and path[-1] == "_type"}
        self.skipped.update(str(kind)[:40] for kind in typed.values())
        inside = tuple("".join(f"{key}/" for key in path) for path in typed)
        yield from (number for number in numbers if not number[0].startswith(inside))
        for path, fact in _flat(others):
            number = _WORDS.get(fact) if isinstance(fact, str) else _bounded(fact)
            in_list = any(isinstance(key, int) for key in path)
            name = "/".join(map(str, path))
            if number is not None and not in_list and not name.startswith(inside):
                yield name, number


def _flat(items: list[tuple[tuple[str | int, ...], object]]) -> Iterator[tuple[tuple[str | int, ...], Fact]]:
    return (found for path, value in items for found in flat(value, path))


def _bounded(value: float) -> float | None:
    """A number as a float; an integer that is too large for one is none."""
    try:
        return float(value)
    except OverflowError:
        return None


def _item(data: bytes, item: Field) -> tuple[tuple[str | int, ...], object]:
    """The way to a value of a history or a configuration, and the value."""
    path: list[str | int] = []
    value: object = None
    for part in fields(data, item.start, item.end):
        if part.number in (_KEY, _NESTED_KEY) and part.wire == BYTES:
            path.append(text(data, part))
        elif part.number in (_VALUE_JSON, _TYPED_JSON) and part.wire == BYTES:
            value = _parsed(text(data, part))
        elif part.number == _NUMBER and part.wire == FIXED64:
            value = struct.unpack_from("<d", data, part.start)[0]
        elif part.number == _INTEGER and part.wire == VARINT:
            value = _unzigzagged(integer(data, part) & 0xFFFF_FFFF_FFFF_FFFF)
        elif part.number == _BOOLEAN and part.wire == VARINT:
            value = bool(integer(data, part))
    return tuple(path), value


def _unzigzagged(value: int) -> int:
    """A number whose sign is its lowest bit: 0, -1, 1, -2 … are written 0, 1, 2, 3 …"""
    return (value >> 1) ^ -(value & 1)


def _parsed(text: str) -> object:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text
