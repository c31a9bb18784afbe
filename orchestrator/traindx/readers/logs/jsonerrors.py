"""Errors that a program logged as records in JSON."""

from __future__ import annotations

import json
from collections.abc import Iterable

LONGEST = 100_000
"""characters of a record that are parsed"""
_TRACEBACK = "Traceback (most recent call last)"
_LEVELS = ("level", "levelname", "severity", "lvl", "log_level", "loglevel", "log.level")
_MESSAGES = ("message", "msg", "event", "text", "error", "err", "detail")
_GRAVE = {"error", "critical", "fatal", "err", "exception"}


def structured(line: str) -> tuple[str, ...]:
    """The lines that a record in JSON tells of an error: its traceback, or its message; none for any other line."""
    start = line.find("{") if len(line) < LONGEST else -1
    if not 0 <= start < 40 or not (_TRACEBACK in line or any(f'"{level}"' in line.lower() for level in _GRAVE)):
        return ()
    try:
        record = json.loads(line[start:])
    except ValueError:
        return ()
    if not isinstance(record, dict):
        return ()
    texts = [text for text in _texts(record.values()) if _TRACEBACK in text]
    if texts:
        return tuple(texts[0].strip().split("\n"))
    level = next((str(record[name]) for name in _LEVELS if name in record), "")
    said = next((record[name] for name in _MESSAGES if isinstance(record.get(name), str)), "")
    first = said.strip().partition("\n")[0]
    return (first,) if level.lower() in _GRAVE and first else ()


def _texts(values: Iterable[object]) -> Iterable[str]:
    for value in values:
        if isinstance(value, str):
            yield value
        elif isinstance(value, dict):
            yield from _texts(value.values())
