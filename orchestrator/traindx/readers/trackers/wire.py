"""The protobuf wire format: the fields of a message, without its schema."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

VARINT, FIXED64, BYTES, FIXED32 = 0, 1, 2, 5
_LONGEST_VARINT = 10


class Malformed(ValueError):
    """Bytes that are no protobuf message."""


class Field(NamedTuple):
    """A field of a message: its number, its wire type, and where its value stands."""

    number: int
    wire: int
    start: int
    end: int


def fields(data: bytes, start: int = 0, end: int | None = None) -> Iterator[Field]:
    """The fields of the message in `data[start:end]`; raises `Malformed` where it is none."""
    at, end = start, len(data) if end is None else end
    while at < end:
        key, at = varint(data, at, end)
        wire = key & 7
        if wire == VARINT:
            stop = varint(data, at, end)[1]
        elif wire == BYTES:
            length, at = varint(data, at, end)
            stop = at + length
        elif wire == FIXED32:
            stop = at + 4
        elif wire == FIXED64:
            stop = at + 8
        else:
            raise Malformed(f"wire type {wire} at byte {at}")
        if stop > end:
            raise Malformed(f"a field of {stop - at} bytes at byte {at} goes over the end")
        yield Field(key >> 3, wire, at, stop)
        at = stop


def varint(data: bytes, at: int, end: int) -> tuple[int, int]:
    """The unsigned number at a place, and the place after it."""
    value = shift = 0
    for place in range(at, min(end, at + _LONGEST_VARINT)):
        byte = data[place]
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value & 0xFFFF_FFFF_FFFF_FFFF, place + 1
        shift += 7
    raise Malformed(f"a number without an end at byte {at}")


def signed(value: int) -> int:
    """A 64-bit number of two's complement as the signed number it stands for."""
    return value - (1 << 64) if value >= 1 << 63 else value


def text(data: bytes, field: Field) -> str:
    """The value of a string field; bytes that are no text become replacement characters."""
    return data[field.start : field.end].decode("utf-8", errors="replace")


def integer(data: bytes, field: Field) -> int:
    """The value of a signed varint field."""
    return signed(varint(data, field.start, field.end)[0])
