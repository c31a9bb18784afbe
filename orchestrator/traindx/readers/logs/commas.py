"""Logs whose numbers have a comma for the point, as half of the world writes: `Verlust 0,4948, Lernrate 0,81`."""

from __future__ import annotations

import re

# No part of a date, a clock, a version, a list such as `0,1,2` or `[3,4]`.
_WITH_COMMA = re.compile(rb"(?<![\w.,:\[({<])([-+]?\d{1,9}),(\d{1,20}(?:[eE][-+]?\d{1,3})?)(?!\w|[.,:]\d|,\S|\.\w)")
_WITH_POINT = re.compile(rb"(?<![\w.,:/-])[-+]?\d{1,9}\.\d{1,20}(?:[eE][-+]?\d{1,3})?(?![\w:/]|[.,]\d)")
_HEAD = 256 << 10
_FEWEST = 6
_OFTEN = 8
"""times as many commas as points: durations and versions may have points"""


def has_decimal_commas(text: bytes) -> bool:
    """Whether the numbers of a log have commas for points: many do, in a way in which no thousands are written."""
    head = text[:_HEAD]
    found = _WITH_COMMA.findall(head)
    if len(found) < _FEWEST:
        return False
    telling = sum(len(part) != 3 or whole.lstrip(b"+-") == b"0" for whole, part in found)
    pointed = len(_WITH_POINT.findall(head))
    return telling >= max(_FEWEST, len(found) // 3) and len(found) >= _OFTEN * pointed


def with_points(text: bytes) -> bytes:
    """The same text with points, every byte in its place."""
    return _WITH_COMMA.sub(rb"\1.\2", text)
