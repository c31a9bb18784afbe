"""A gzipped or UTF-16 text as plain UTF-8 that can be gone to anywhere; what it takes to find a place is kept.

An archive that holds the same over and over is unpacked once: its beginning and its end are given, and the lines
between them, which were counted, are empty.
"""

from __future__ import annotations

import codecs
import io
import os
import time
from bisect import bisect_right
from collections.abc import Callable
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, BinaryIO, Protocol, cast

from traindx.readers.logs.pieces import FEEDS, pieces_of
from traindx.readers.logs.unzip import HARMLESS, MOST, MOST_TIMES, Unzipped
from traindx.vocabulary.file_magic import GZIP, UTF_16

if TYPE_CHECKING:
    from collections.abc import Iterator

    from traindx.readers.faults import Remarks

_PIECE = 1 << 20
_APART = 8 << 20
"""bytes of text between two places that can be gone to at once"""
_HEAD = HARMLESS
_TAIL = 16 << 20
SECONDS = 8.0
"""for unpacking what is the same over and over; some gigabytes"""
AS_WINDOWS_WRITES = "it is UTF-16 text, as Windows writes it; read as such"


class _Stream(Protocol):
    """Plain text as it comes."""

    def read(self, size: int) -> bytes: ...

    def mark(self) -> object | None: ...


@dataclass(frozen=True)
class _Place:
    """A byte of the text from which on it can be read."""

    offset: int
    state: object
    line_at: int
    """the first byte of a line at or behind it"""
    line: int
    """the number of that line"""


@dataclass(frozen=True)
class Index:
    """What is known of a packed text once it has been gone through."""

    again: Callable[[BinaryIO, object], _Stream]
    places: tuple[_Place, ...]
    size: int
    gap: tuple[_Place, _Place] | None = None
    """from where to where its lines are given as empty ones"""
    troubles: tuple[str, ...] = ()

    @property
    def left_out(self) -> int:
        """Bytes of text that are not given."""
        return self.gap[1].line_at - self.gap[0].line_at if self.gap else 0

    def view(self, handle: BinaryIO) -> BinaryIO:
        """The text as a file to read from."""
        plain = cast(BinaryIO, io.BufferedReader(_Plain(handle, self), 64 << 10))
        if self.gap is None:
            return plain
        before, behind = self.gap
        pieces = [
            (0, before.line_at),
            (FEEDS, behind.line - before.line),
            (behind.line_at, self.size - behind.line_at),
        ]
        return pieces_of(plain, pieces)


class _Plain(io.RawIOBase):
    """The bytes of the text; reading on is cheap, going elsewhere costs what lies behind the last known place."""

    def __init__(self, handle: BinaryIO, index: Index) -> None:
        super().__init__()
        self._handle, self._index = handle, index
        self._at = 0
        self._stream: _Stream | None = None
        self._reached = 0

    def readable(self) -> bool:
        """It is read from."""
        return True

    def seekable(self) -> bool:
        """Any place can be gone to."""
        return True

    def seek(self, offset: int, whence: int = os.SEEK_SET, /) -> int:
        """Go to a byte of the text."""
        base = {os.SEEK_SET: 0, os.SEEK_CUR: self._at, os.SEEK_END: self._index.size}[whence]
        self._at = max(0, base + offset)
        return self._at

    def tell(self) -> int:
        """Where it is."""
        return self._at

    def readinto(self, buffer: bytearray | memoryview, /) -> int:  # type: ignore[override] # what BufferedReader gives
        """Fill the buffer as far as one piece goes."""
        wanted = memoryview(buffer).cast("B")
        most = min(len(wanted), self._index.size - self._at)
        if most <= 0:
            return 0
        data = self._from_here(most)
        wanted[: len(data)] = data
        self._at += len(data)
        return len(data)

    def _from_here(self, most: int) -> bytes:
        if self._stream is None or self._reached != self._at:
            places = self._index.places
            place = places[bisect_right(places, self._at, key=lambda row: row.offset) - 1]
            self._stream, self._reached = self._index.again(self._handle, place.state), place.offset
            while self._reached < self._at:
                passed = len(self._stream.read(min(_PIECE, self._at - self._reached)))
                if not passed:
                    return b""
                self._reached += passed
        data = self._stream.read(most)
        self._reached += len(data)
        return data


@dataclass
class _Utf16:
    """UTF-16 as UTF-8."""

    handle: BinaryIO
    encoding: str
    waiting: bytes = b""
    """what was decoded and not yet given"""
    _decoder: codecs.IncrementalDecoder = field(init=False)

    def __post_init__(self) -> None:
        self._decoder = codecs.getincrementaldecoder(self.encoding)(errors="replace")

    def read(self, size: int) -> bytes:
        """The next bytes of the text; none at its end."""
        while not self.waiting:
            raw = self.handle.read(size)
            self.waiting = self._decoder.decode(raw, final=not raw).encode(errors="replace")
            if not raw:
                break
        given, self.waiting = self.waiting[:size], self.waiting[size:]
        return given

    def mark(self) -> object | None:
        """Where in the file it is; None in the middle of a character."""
        return None if self.waiting or self._decoder.getstate()[0] else self.handle.tell()


def _decoded(encoding: str) -> Callable[[BinaryIO, object], _Stream]:
    def again(handle: BinaryIO, state: object) -> _Stream:
        handle.seek(cast(int, state))
        return _Utf16(handle, encoding)

    return again


def _unpacked(handle: BinaryIO, state: object) -> _Stream:
    return Unzipped.at(handle, state)


def index_of(handle: BinaryIO, harmless: int = HARMLESS, clock: Callable[[], float] = time.monotonic) -> Index | None:
    """The index of a gzipped or UTF-16 text; None where the file is plain."""
    handle.seek(0)
    head = handle.read(2)
    handle.seek(0)
    if head.startswith(GZIP):
        stream = Unzipped(handle, b"", MOST)
        return _gone_through(stream, _unpacked, (stream, harmless, clock))
    if head in UTF_16:
        again = _decoded("utf-16-le" if head == codecs.BOM_UTF16_LE else "utf-16-be")
        return _gone_through(again(handle, len(head)), again)
    return None


def _gone_through(
    stream: _Stream,
    again: Callable[[BinaryIO, object], _Stream],
    bounds: tuple[Unzipped, int, Callable[[], float]] | None = None,
) -> Index:
    places: list[_Place] = []
    offset, number, ends, cut = 0, 1, None, False
    while True:
        state = stream.mark() if not places or offset - places[-1].offset >= _APART else None
        if not (piece := stream.read(_PIECE)):
            break
        if state is not None:
            at = piece.find(b"\n") + 1 if offset else 0
            places.append(_Place(offset, state, offset + at, number + (at > 0)))
        offset += len(piece)
        number += piece.count(b"\n")
        if bounds is not None and bounds[0].is_repetitive(bounds[1]):
            ends = ends or bounds[2]() + SECONDS
            if cut := bounds[2]() >= ends:
                break
    if bounds is None:
        return Index(again, tuple(places), offset, troubles=(AS_WINDOWS_WRITES,))
    packed, harmless, _ = bounds
    troubles = [packed.trouble] if packed.trouble else []
    gap = _gap(places, offset, harmless) if packed.is_repetitive(harmless) else None
    if gap is not None:
        whole = f"more than {offset >> 20:,} MB" if cut else f"{offset >> 20:,} MB"
        end = "the last of them that were unpacked in time" if cut else "its end"
        troubles.append(
            f"the archive holds more than {MOST_TIMES} times its size, the same over and over: of {whole} the first"
            f" {gap[0].line_at >> 20:,} MB and {end} were read"
        )
    return Index(again, tuple(places), offset, gap, tuple(troubles))


def _gap(places: list[_Place], size: int, harmless: int) -> tuple[_Place, _Place] | None:
    """What is left out of a text that is the same over and over."""
    before = next((row for row in places if row.offset >= min(_HEAD, harmless)), None)
    behind = next((row for row in reversed(places) if row.offset <= size - _TAIL), None)
    return (before, behind) if before and behind and before.offset < behind.offset else None


class PlainTexts:
    """The text files of a run, opened as plain text whatever they are packed in."""

    def __init__(self, opens: Callable[[str], BinaryIO], remark: Remarks) -> None:
        self._opens, self._remark = opens, remark
        self._layers: dict[str, list[Index]] = {}

    @contextmanager
    def open(self, path: str) -> Iterator[BinaryIO]:
        """A file as plain text."""
        with self._opens(path) as handle:
            yield self.over(handle, path)

    def over(self, handle: BinaryIO, path: str) -> BinaryIO:
        """An open file as plain text."""
        if path not in self._layers:
            self._layers[path] = self._found(handle, path)
        for layer in self._layers[path]:
            handle = layer.view(handle)
        handle.seek(0)
        return handle

    def left_out(self, path: str) -> tuple[int, int]:
        """Bytes of a text that are not given, and empty lines that stand for them."""
        gaps = [layer for layer in self._layers.get(path, ()) if layer.gap]
        return sum(layer.left_out for layer in gaps), sum(row.gap[1].line - row.gap[0].line for row in gaps if row.gap)

    def _found(self, handle: BinaryIO, path: str) -> list[Index]:
        layers: list[Index] = []
        while len(layers) < 2 and (layer := index_of(handle)) is not None:
            layers.append(layer)
            handle = layer.view(handle)
            for trouble in layer.troubles:
                self._remark(f"`{path}`: {trouble}")
        return layers
