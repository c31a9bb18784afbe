"""Text files as a stream: blocks of bounded size whose lines are counted the way an editor counts them."""

from __future__ import annotations

import codecs
import os
import re
from bisect import bisect_right
from collections import deque
from collections.abc import Callable, Iterator
from typing import BinaryIO

from traindx.readers.coverage import Allowance
from traindx.readers.logs.unzip import HARMLESS, Unzipped
from traindx.vocabulary.file_magic import GZIP, UTF_16

BLOCK = 1 << 20
"""how much of a file is in memory at a time; a line longer than this comes in pieces with the same number"""

_ONE_BLOCK_IN = 16
_SAMPLES = 64
_LAST_BLOCKS = 4
_MARKS = ((codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be"))
_ESCAPES = re.compile(r"\x1b(?:\[[0-9;:?]{0,40}[ -/]{0,4}[@-~]|\][^\x07\x1b]{0,300}(?:\x07|\x1b\\)?|[@-Z\\-_])")
_BACKSPACES = re.compile("\b+")


def blocks(handle: BinaryIO, most: int | None = None) -> Iterator[tuple[int, str]]:
    """Stretches of text with the number of their first line; colours and NULs are gone.

    A stretch ends after a line feed where there is one, else after a carriage return, else anywhere.
    """
    head = handle.read(4)
    source: BinaryIO | Unzipped = handle
    if head.startswith(GZIP):
        source = Unzipped(handle, head)
        head = source.read(4)
    mark, encoding = next(((mark, name) for mark, name in _MARKS if head.startswith(mark)), (b"", "utf-8"))
    decoder = codecs.getincrementaldecoder(encoding)(errors="replace")
    raw, left, number, taken = head[len(mark) :], "", 1, len(head)
    while True:
        wanted = BLOCK if most is None else max(0, min(BLOCK, most - taken))
        more = source.read(wanted) if wanted else b""
        taken += len(more)
        left += decoder.decode(raw + more, final=not more)
        raw = b""
        if not more:
            break
        cut = left.rfind("\n") + 1 or left.rfind("\r") + 1 or (len(left) if len(left) >= BLOCK else 0)
        if cut:
            yield number, _cleaned(left[:cut])
            number += left.count("\n", 0, cut)
            left = left[cut:]
    if left:
        yield number, _cleaned(left)


class RawBlocks:
    """The same as bytes: whole lines, UTF-8 or nearly so, of a plain or gzipped file.

    A line longer than a block is passed over and counted. `troubles` says, after the last block, what was odd.
    A handle that is not at its beginning stands at the line `first`. Once the allowance is spent, some of the blocks
    are given, spread over the rest, and the last ones; the lines of the others are counted.
    """

    def __init__(
        self,
        handle: BinaryIO,
        size: int = BLOCK,
        first: int = 1,
        allowance: Allowance | None = None,
        harmless: int = HARMLESS,
    ) -> None:
        self._handle, self._size, self._first = handle, size, first
        self._allowance, self._harmless = allowance or Allowance(), harmless
        self._taken = self._passed_over = 0
        self.read = self.of = 0
        """bytes that were given and bytes of the whole, after the last block"""
        self._held: deque[tuple[int, bytes]] = deque(maxlen=_LAST_BLOCKS)
        """the last blocks that were not given"""
        self._since = 0
        """blocks since the last that was"""
        self._whole_size = 0
        self.long_lines = 0
        self.troubles: list[str] = []
        self.count: Callable[[bytes], int] = lambda raw: raw.count(b"\n")
        self._zeros = 0
        self._is_utf8 = True

    def __iter__(self) -> Iterator[tuple[int, bytes]]:
        begin = self._handle.tell()
        self._whole_size = self._handle.seek(0, os.SEEK_END)
        self._handle.seek(begin)
        head = self._handle.read(4)
        source: BinaryIO | Unzipped = self._handle
        if head.startswith(GZIP):
            source = Unzipped(self._handle, head, self._harmless)
            head = source.read(4)
        self._taken = begin + len(head)
        yield from self._from(source, head)
        read, of = self._taken - self._passed_over, self._taken
        self.read = read
        if isinstance(source, Unzipped):
            of = max(of, source.expected(self._whole_size)) if source.stopped else of
            if source.trouble:
                self.troubles.append(source.trouble)
        self.of = of
        self._allowance.note(read, of)
        if self._passed_over:
            self.troubles.append(
                f"so large that {read / 1e6:,.0f} of its {of / 1e6:,.0f} MB were read, spread over the whole,"
                " and its end"
            )
        if not self._is_utf8:
            self.troubles.append(
                "it holds bytes that are not UTF-8 (Latin-1?); they are shown as \N{REPLACEMENT CHARACTER}"
            )
        if self._zeros:
            self.troubles.append(
                f"it holds {self._zeros:,} zero bytes, as a machine crash or a full disk leaves them; left out"
            )

    def _from(self, source: BinaryIO | Unzipped, head: bytes) -> Iterator[tuple[int, bytes]]:
        mark, encoding = next(((mark, name) for mark, name in _MARKS if head.startswith(mark)), (b"", "utf-8"))
        decoder = None if encoding == "utf-8" else codecs.getincrementaldecoder(encoding)(errors="replace")
        left, number, passing = head[len(mark) :], self._first, False
        if decoder:
            self.troubles.append(f"it is {encoding[:6].upper()} text, as Windows writes it; read as such")
            left = decoder.decode(left).encode()
        while more := source.read(self._size):
            self._taken += len(more)
            raw = left + (decoder.decode(more).encode(errors="replace") if decoder else more)
            if passing:
                start = _first_break(raw)
                if start < 0:
                    left = b""
                    continue
                number += raw[start] == 10
                raw, passing = raw[start + 1 :], False
            cut = raw.rfind(b"\n") + 1 or raw.rfind(b"\r") + 1
            if cut:
                whole, left = raw[:cut], raw[cut:]
                yield from self._given(number, whole)
                number += self.count(whole)
            else:
                left = raw
            if len(left) > self._size:
                if left.strip(b"\0"):
                    left, passing = b"", True
                    self.long_lines += 1
                else:
                    left = self._cleaned(left)
        for held, whole in self._held:
            self._passed_over -= len(whole)
            yield held, self._cleaned(whole)
        if left:
            yield number, self._cleaned(left)

    def _given(self, number: int, whole: bytes) -> Iterator[tuple[int, bytes]]:
        if self._is_wanted():
            yield number, self._cleaned(whole)
        else:
            self._held.append((number, whole))
            self._passed_over += len(whole)

    def _is_wanted(self) -> bool:
        """Whether the next block is given."""
        if self._since == 0 and not (self._taken > self._size + 4 and self._allowance.spent()):
            return True
        self._since += 1
        if self._since <= max(_ONE_BLOCK_IN, self._whole_size // self._size // _SAMPLES):
            return False
        self._since = 1
        self._held.clear()
        return True

    def _cleaned(self, raw: bytes) -> bytes:
        if b"\0" in raw:
            self._zeros += raw.count(b"\0")
        if self._is_utf8 and not raw.isascii():
            self._is_utf8 = _is_utf8(raw)
        return _cleaned_bytes(raw)


def _is_utf8(raw: bytes) -> bool:
    try:
        raw.decode()
    except UnicodeDecodeError:
        return False
    return True


def _first_break(raw: bytes) -> int:
    places = [place for place in (raw.find(b"\n"), raw.find(b"\r")) if place >= 0]
    return min(places, default=-1)


def numbered(handle: BinaryIO, most: int | None = None) -> Iterator[tuple[int, str]]:
    """Every line, or piece of a very long one, with its number; without its line end."""
    for first, text in blocks(handle, most):
        lines = text.split("\n")
        if not lines[-1]:
            lines.pop()
        yield from enumerate(lines, first)


def excerpt(handle: BinaryIO, first: int, last: int, widest: int = 200_000) -> list[str]:
    """Lines `first` to `last` without their ends, each at most `widest` characters."""
    found: dict[int, str] = {}
    end = 1
    for number, text in blocks(handle):
        if number > last:
            break
        end = number + text.count("\n") + (not text.endswith("\n"))
        if end > first:
            lines = text.split("\n")
            for line_number in range(max(first, number), min(last + 1, number + len(lines))):
                found[line_number] = (found.get(line_number, "") + lines[line_number - number])[:widest]
    return [found.get(number, "").rstrip("\r") for number in range(first, min(last + 1, end))]


def _cleaned(text: str) -> str:
    if "\x1b" in text:
        text = _ESCAPES.sub("", text)
    if "\0" in text:
        text = text.replace("\0", "")
    if "\b" in text:
        text = _BACKSPACES.sub("\r", text)  # Keras walks back over its progress bar instead of returning
    return text


def _cleaned_bytes(raw: bytes) -> bytes:
    if b"\x1b" in raw or b"\0" in raw or b"\b" in raw:
        return _cleaned(raw.decode(errors="replace")).encode(errors="replace")
    return raw


LARGE = 8 << 20
"""bytes from which on an index pays"""
_PIECE = 4 << 20


class LineIndex:
    """Where some lines of a file begin, a few megabytes apart."""

    def __init__(self, handle: BinaryIO) -> None:
        self._numbers, self._offsets = [1], [0]
        number, offset = 1, 0
        while piece := handle.read(_PIECE):
            last = piece.rfind(b"\n")
            if last >= 0:
                number += piece.count(b"\n")
                self._numbers.append(number)
                self._offsets.append(offset + last + 1)
            offset += len(piece)

    def before(self, line: int) -> tuple[int, int]:
        """The nearest indexed line at or before `line`, and the byte at which it begins."""
        place = bisect_right(self._numbers, line) - 1
        return self._numbers[place], self._offsets[place]

    def before_byte(self, offset: int) -> tuple[int, int]:
        """The nearest indexed line that begins at or before a byte, and the byte at which it begins."""
        place = bisect_right(self._offsets, offset) - 1
        return self._numbers[place], self._offsets[place]


def is_indexable(head: bytes) -> bool:
    """Whether a line feed is one byte: in UTF-16 it is not, and a gzipped file has no lines of its own."""
    return not head.startswith((*UTF_16, GZIP))
