"""torch's memory snapshots (`torch.cuda.memory._dump_snapshot`): who holds how much, without unpickling them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import BinaryIO

from traindx.readers.checkpoints.interpreter import follow
from traindx.readers.checkpoints.opcodes import Stream
from traindx.readers.checkpoints.symbols import Row, Table

_LIBRARIES = ("site-packages/", "dist-packages/", "/torch/", "<", "??")
MOST_PLACES = 20


@dataclass(frozen=True)
class Snapshot:
    """The memory of one moment, in bytes."""

    path: str
    reserved: int
    allocated: int
    segments: int
    places: dict[str, int] = field(default_factory=dict)
    """what is allocated, by the innermost line of the user's own code, the most first"""
    problem: str = ""

    @property
    def unused(self) -> int:
        """Reserved from the driver and not in use."""
        return max(0, self.reserved - self.allocated)


def read_snapshot(handle: BinaryIO, path: str) -> Snapshot | None:
    """Follow the pickle without running it; None where it is no snapshot."""
    size = handle.seek(0, 2)
    handle.seek(0)
    reading = follow(Stream(handle, size))  # type: ignore[arg-type]
    segments = _get(reading.root, "segments")
    if not isinstance(segments, Row):
        return None
    reserved = allocated = 0
    places: dict[str, int] = {}
    for segment in segments.items:
        reserved += _number(_get(segment, "total_size"))
        allocated += _number(_get(segment, "allocated_size"))
        blocks = _get(segment, "blocks")
        for block in blocks.items if isinstance(blocks, Row) else ():
            if _get(block, "state") == "active_allocated":
                place = _place(block)
                places[place] = places.get(place, 0) + _number(_get(block, "size"))
    most = dict(sorted(places.items(), key=lambda item: -item[1])[:MOST_PLACES])
    return Snapshot(path, reserved, allocated, len(segments.items), most, reading.problem)


def _place(block: object) -> str:
    frames = _get(block, "frames")
    if not isinstance(frames, Row):
        history = _get(block, "history")  # torch before 2.1
        first = history.items[0] if isinstance(history, Row) and history.items else None
        frames = _get(first, "frames")
    for frame in frames.items[:100] if isinstance(frames, Row) else ():
        name, line = _get(frame, "filename"), _get(frame, "line")
        if isinstance(name, str) and isinstance(line, int) and not any(part in name for part in _LIBRARIES):
            return f"{name[-120:]}:{line}"
    return "(no line of your own code)"


def _pairs(value: object) -> Iterator[tuple[object, object]]:
    return value.pairs() if isinstance(value, Table) else iter(())


def _get(value: object, key: str) -> object:
    return next((item for name, item in _pairs(value) if name == key), None)


def _number(value: object) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 1 << 60 else 0
