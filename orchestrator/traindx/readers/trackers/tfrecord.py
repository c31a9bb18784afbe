"""TFRecord files: records of any bytes, each with its length and checksums; broken stretches are stepped over.

A record is its length (8 bytes), a checksum of the length (4), the payload, and a checksum of the payload (4). The
checksum is CRC-32C, rotated and shifted by a constant so that a record inside a record does not check itself.
"""

from __future__ import annotations

import struct
from array import array
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, BinaryIO

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Bytes = npt.NDArray[np.uint8]
    Sums = npt.NDArray[np.uint32]
    Places = npt.NDArray[np.int64]

CHUNK = 4 << 20
"""bytes of a file that are in memory at a time; a record longer than this is passed over"""
LONGEST_CHECKED = 2048
"""bytes of a payload whose checksum is verified: scalars are far shorter, and pictures are not read"""
HEADER, FOOTER = 12, 4
_MOST_DAMAGES = 50
"""places to step over: each costs a search through what is in memory"""
_MOST_NAMED = 3
_LENGTH = struct.Struct("<Q")
_POLYNOMIAL = 0x82F63B78  # Castagnoli, bits reversed
_MASK = 0xA282EAD8


@dataclass(frozen=True)
class Chunk:
    """Whole records of a file: where the payload of each starts in `data`, how long it is, and its number from 1."""

    data: bytes
    starts: Places
    lengths: Places
    numbers: Places


def looks_like_records(head: bytes) -> bool:
    """Whether a file that begins so holds TFRecords: the first length is followed by its checksum."""
    if len(head) < HEADER:
        return False
    return int.from_bytes(head[8:HEADER], "little") == length_sum(_LENGTH.unpack_from(head)[0])


class Records:
    """One pass over the records of a file; `troubles` says afterwards what was wrong with it."""

    def __init__(self, handle: BinaryIO) -> None:
        self.troubles: list[str] = []
        self.count = 0
        self._handle = handle
        self._data = b""
        self._place = 0
        """where in the file `_data` begins"""
        self._lost = False
        self._damages = 0

    def chunks(self) -> Iterator[Chunk]:
        """The records, as many at a time as are in memory."""
        while self._damages <= _MOST_DAMAGES and (more := self._handle.read(CHUNK)):
            self._data += more
            while (chunk := self._next()) is not None:
                yield chunk
        self._remark_rest()

    def _next(self) -> Chunk | None:
        """The whole records at the front of what is in memory; None where more of the file is needed."""
        import numpy as np

        while self._damages <= _MOST_DAMAGES and (not self._lost or self._resume()):
            starts, end = _walk(self._data)
            places = np.frombuffer(starts, dtype=np.int64)
            lengths = np.diff(places, append=end) - HEADER - FOOTER
            good = _sound_lengths(self._data, places, lengths)
            if good < len(places):
                end = int(places[good])
            self._look_at_next(end)
            if good:
                data, self._data = self._data, self._data[end:]
                self._place += end
                self.count += good
                numbers = np.arange(self.count - good + 1, self.count + 1)
                return Chunk(data, places[:good] + HEADER, lengths[:good], numbers)
            if not self._lost:
                return None
        return None

    def _look_at_next(self, at: int) -> None:
        """Look at the record that the walk stopped before: it is cut by the memory, too long, or no record."""
        if len(self._data) < at + HEADER:
            return
        (length,) = _LENGTH.unpack_from(self._data, at)
        if int.from_bytes(self._data[at + 8 : at + HEADER], "little") != length_sum(length):
            self._lose(at)
        elif length > CHUNK and at == 0:
            self._pass_over(length + HEADER + FOOTER)

    def _lose(self, at: int) -> None:
        if not self._lost and self._damages < _MOST_NAMED and self._data[at : at + 64].strip(b"\0"):
            self.troubles.append(f"it is damaged from byte {self._place + at:,} on; records after the damage were read")
        self._lost = True
        self._damages += 1

    def _resume(self) -> bool:
        """Step forward to the next length that its checksum confirms; what is certainly damage is let go."""
        found = _next_header(self._data)
        gone = len(self._data) - HEADER + 1 if found is None else found
        if gone > 0:
            self._data = self._data[gone:]
            self._place += gone
        self._lost = found is None
        return found is not None

    def _pass_over(self, size: int) -> None:
        self.count += 1
        left = size - len(self._data)
        self._place += size
        self._data = self._data[size:]
        while left > 0 and (more := self._handle.read(min(left, CHUNK))):
            left -= len(more)
        if left > 0:
            self.troubles.append(f"it is truncated in record {self.count}")

    def _remark_rest(self) -> None:
        if self._damages > _MOST_DAMAGES:
            self.troubles.append(f"it is damaged in more than {_MOST_DAMAGES} places; reading stopped there")
        elif not self._data:
            return
        elif self._lost or not self._data.strip(b"\0"):
            self.troubles.append(f"it ends in zeros or damage; {self.count:,} records were read")
        else:
            self.troubles.append(f"it is truncated in record {self.count + 1:,}; the records before it were read")


def _walk(data: bytes) -> tuple[array[int], int]:
    """Where the records start that lie in `data` as a whole, and where the last one ends."""
    starts, at, end = array("q"), 0, len(data)
    unpack, append = _LENGTH.unpack_from, starts.append
    while at + HEADER <= end:
        stop = at + HEADER + FOOTER + unpack(data, at)[0]
        if stop > end:
            break
        append(at)
        at = stop
    return starts, at


def _sound_lengths(data: bytes, places: Places, lengths: Places) -> int:
    """How many records, from the front, have a length that its checksum confirms."""
    import numpy as np

    raw = np.frombuffer(data, dtype=np.uint8)
    distinct, which = np.unique(lengths, return_inverse=True)
    wanted = np.array([length_sum(int(length)) for length in distinct], dtype=np.uint32)
    wrong = np.flatnonzero(words(raw, places + 8) != wanted[which]) if len(places) else places
    return int(wrong[0]) if len(wrong) else len(places)


def _next_header(data: bytes) -> int | None:
    """Where the next record begins after the first byte; None where none does."""
    import numpy as np

    if len(data) <= HEADER:
        return None
    raw = np.frombuffer(data, dtype=np.uint8)
    # No payload is as long as 4 GB: the upper half of a length is zero, which few other places are.
    # The checksum after it is not: of zeros without end, which a crash leaves, none needs a closer look.
    last = len(raw) - HEADER
    zero = np.ones(last, dtype=bool)
    for byte in range(5, 9):
        zero &= raw[byte : last + byte] == 0
    after = np.zeros(last, dtype=np.uint8)
    for byte in range(9, 13):
        after |= raw[byte : last + byte]
    places = np.flatnonzero(zero & (after != 0)) + 1
    columns = [raw[places + byte] for byte in range(8)]
    right = masked(sums(columns)) == words(raw, places + 8)
    found = places[right]
    return int(found[0]) if len(found) else None


def words(raw: Bytes, places: Places) -> Sums:
    """The 4-byte numbers that stand at these places."""
    import numpy as np

    total = np.zeros(len(places), dtype=np.uint32)
    for byte in range(4):
        total |= raw[places + byte].astype(np.uint32) << np.uint32(8 * byte)
    return total


@cache
def length_sum(length: int) -> int:
    """The checksum that belongs to a length."""
    import numpy as np

    return int(masked(sums([np.array([byte], dtype=np.uint8) for byte in _LENGTH.pack(length)]))[0])


def sums(columns: list[Bytes]) -> Sums:
    """The CRC-32C of each row, from the columns of their bytes."""
    import numpy as np

    size = len(columns)
    table, empty = tables(size)
    total = np.full(len(columns[0]), empty, dtype=np.uint32)
    for place, column in enumerate(columns):
        total ^= table[size - 1 - place][column]
    return total


def masked(crc: Sums) -> Sums:
    """A checksum the way the file stores it."""
    import numpy as np

    rotated = (crc >> np.uint32(15)) | (crc << np.uint32(17))
    return rotated + np.uint32(_MASK)


def sound(data: bytes, start: int, length: int) -> bool:
    """Whether one payload matches the checksum after it."""
    table, crc = _byte_table(), 0xFFFF_FFFF
    for byte in data[start : start + length]:
        crc = table[(crc ^ byte) & 0xFF] ^ (crc >> 8)
    crc ^= 0xFFFF_FFFF
    stored = int.from_bytes(data[start + length : start + length + FOOTER], "little")
    return ((crc >> 15 | crc << 17) + _MASK) & 0xFFFF_FFFF == stored


def tables(size: int) -> tuple[Sums, int]:
    """What a byte adds to the checksum with 0, 1, 2 … bytes after it, and the checksum of `size` zeros.

    The checksum is linear: that of a row is that of zeros, changed by each byte for itself.
    """
    table, zeros = _tables(256 if size <= 256 else LONGEST_CHECKED)
    return table, zeros[size]


@cache
def _byte_table() -> list[int]:
    table = []
    for byte in range(256):
        crc = byte
        for _ in range(8):
            crc = crc >> 1 ^ (_POLYNOMIAL if crc & 1 else 0)
        table.append(crc)
    return table


@cache
def _tables(longest: int) -> tuple[Sums, list[int]]:
    import numpy as np

    first = np.array(_byte_table(), dtype=np.uint32)
    table = np.empty((longest, 256), dtype=np.uint32)
    table[0] = first
    for after in range(1, longest):
        before = table[after - 1]
        table[after] = first[before & 0xFF] ^ (before >> np.uint32(8))
    state, zeros = 0xFFFF_FFFF, [0]
    for _ in range(longest):
        state = _byte_table()[state & 0xFF] ^ (state >> 8)
        zeros.append(state ^ 0xFFFF_FFFF)
    return table, zeros
