"""How the toolbelt and its worker session: JSON messages, each behind four bytes that say how long it is."""

from __future__ import annotations

import json
import os
import struct
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

HEADER = struct.Struct(">I")
LARGEST_ANSWER = 16 * 1024 * 1024
LARGEST_FRAME = LARGEST_ANSWER + 64 * 1024


@dataclass(frozen=True)
class WorkerConfig:
    """What a worker is told at birth: what it may look at and how much it may use."""

    root: str
    only: tuple[str, ...]
    readable: tuple[str, ...]
    memory_mb: int
    without: tuple[str, ...] = ()
    project: str = ""
    """the `.traindx` folder around the run"""
    attempt: int | None = None
    stand_ins: tuple[tuple[str, str], ...] = ()

    @classmethod
    def parse(cls, message: Mapping[str, Any]) -> WorkerConfig:
        """The config that `asdict` of another one describes."""
        return cls(
            message["root"],
            tuple(message["only"]),
            tuple(message["readable"]),
            message["memory_mb"],
            tuple(message["without"]),
            message["project"],
            message["attempt"],
            tuple((real, stand_in) for real, stand_in in message["stand_ins"]),
        )

    def message(self) -> dict[str, Any]:
        """The config as the first message to the worker."""
        return asdict(self)


def json_text(message: Mapping[str, Any]) -> str:
    """A message as JSON, the same text for the same content; NaN and Inf are allowed, paths become text."""
    return json.dumps(message, default=_plain, sort_keys=True)


def frame(message: Mapping[str, Any]) -> bytes:
    """A message as it goes through the pipe."""
    return frame_text(json_text(message))


def frame_text(text: str) -> bytes:
    """A message that is JSON already."""
    body = text.encode("utf-8", "surrogatepass")
    return HEADER.pack(len(body)) + body


def parse_message(body: bytes) -> dict[str, Any]:
    """The message in the body of a frame; raises `ValueError` for anything but a JSON object."""
    message = json.loads(body.decode("utf-8", "surrogatepass"))
    if not isinstance(message, dict):
        raise ValueError("a message is a JSON object")
    return message


def read_message(pipe: int) -> dict[str, Any] | None:
    """Wait for the next message; `None` when the other side has closed the pipe."""
    header = _read_exactly(pipe, HEADER.size)
    body = _read_exactly(pipe, HEADER.unpack(header)[0]) if header is not None else None
    return parse_message(body) if body is not None else None


def write_all(pipe: int, data: bytes) -> None:
    """Write the whole of `data`, however many turns it takes."""
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(pipe, rest) :]


def _read_exactly(pipe: int, count: int) -> bytes | None:
    data = bytearray()
    while len(data) < count:
        piece = os.read(pipe, min(count - len(data), 1 << 20))
        if not piece:
            return None
        data += piece
    return bytes(data)


def _plain(value: object) -> str:
    if isinstance(value, Path):
        return str(value)
    raise TypeError(f"`{type(value).__name__}` is not a JSON value")
