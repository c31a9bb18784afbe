"""A TensorBoard event: where its step and its scalars stand among its bytes, and what else it holds."""

from __future__ import annotations

import struct
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Literal, NamedTuple

from traindx.contract import Fact
from traindx.readers.trackers.wire import (
    BYTES,
    FIXED32,
    FIXED64,
    VARINT,
    Field,
    Malformed,
    fields,
    integer,
    signed,
    text,
)
from traindx.readers.trackers.wire import varint as read_varint

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from traindx.readers.model import Numbers
    from traindx.readers.trackers.tfrecord import Bytes

__all__ = ["Event", "Malformed", "Slot", "decode", "parse"]

Kind = Literal[
    "float", "double", "half", "brain", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64",
    "varint", "half varint", "brain varint", "zero",
]  # fmt: skip
# Event, Summary and Summary.Value
_WALL_TIME, _STEP, _SUMMARY, _VALUE = 1, 2, 5, 1
_TAG, _SIMPLE_VALUE, _TENSOR, _METADATA = 1, 2, 8, 9
_SKIPPED = {4: "image", 5: "histogram", 6: "audio clip", 3: "histogram"}
_SKIPPED_PLUGINS = {"images": "image", "histograms": "histogram", "audio": "audio clip"}
# TensorProto: its fields, and the number types it may hold with their widths in `tensor_content`
_TYPE, _SHAPE, _CONTENT, _STRINGS = 1, 2, 4, 8
_NUMBERS = {5, 6, 7, 10, 11, 13, 16, 17}
_TYPES: dict[int, tuple[Kind, int]] = {
    1: ("float", 4), 2: ("double", 8), 3: ("int32", 4), 4: ("uint8", 1), 5: ("int16", 2), 6: ("int8", 1),
    9: ("int64", 8), 10: ("uint8", 1), 14: ("brain", 2), 17: ("uint16", 2), 19: ("half", 2), 22: ("uint32", 4),
    23: ("uint64", 8),
}  # fmt: skip
_FORMATS = {
    "float": "<f4", "double": "<f8", "half": "<f2", "int8": "<i1", "int16": "<i2", "int32": "<i4", "int64": "<i8",
    "uint8": "<u1", "uint16": "<u2", "uint32": "<u4", "uint64": "<u8",
}  # fmt: skip
_CODES = {
    "float": "<f", "double": "<d", "half": "<e", "int8": "<b", "int16": "<h", "int32": "<i", "int64": "<q",
    "uint8": "<B", "uint16": "<H", "uint32": "<I", "uint64": "<Q",
}  # fmt: skip
_SESSION_START, _SESSION_END, _FAILURE = 3, 4, 2


class Slot(NamedTuple):
    """Where a number stands in an event, and how it is written there."""

    start: int
    width: int
    kind: Kind

    def number(self, data: bytes) -> float:
        """The number of one event."""
        part = data[self.start : self.start + self.width]
        if self.kind in _CODES:
            return float(struct.unpack(_CODES[self.kind], part)[0])
        if self.kind == "zero":
            return 0.0
        if self.kind == "brain":
            return float(struct.unpack("<f", b"\0\0" + part)[0])
        value = read_varint(part, 0, len(part))[0]
        if self.kind == "varint":
            return float(signed(value))
        half = struct.pack("<H", value & 0xFFFF)
        return float(struct.unpack(*(("<e", half) if self.kind == "half varint" else ("<f", b"\0\0" + half)))[0])


@dataclass
class Event:
    """One event taken apart."""

    time: Slot | None = None
    step: Slot | None = None
    scalars: list[tuple[str, Slot]] = field(default_factory=list)
    skipped: list[str] = field(default_factory=list)
    settings: list[tuple[str, Fact]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    @property
    def plain(self) -> bool:
        """Whether the event holds scalars and nothing else."""
        return bool(self.scalars) and not (self.skipped or self.settings or self.notes)

    @cached_property
    def slots(self) -> tuple[Slot | None, ...]:
        """Where all its numbers stand."""
        return (self.time, self.step, *(slot for _, slot in self.scalars))

    @cached_property
    def varying(self) -> frozenset[int]:
        """The bytes in which another event of the same tags may differ."""
        return frozenset(byte for slot in self.slots if slot for byte in range(slot.start, slot.start + slot.width))

    def words(self, data: bytes) -> str:
        """What the event says, on one line."""
        step = int(self.step.number(data)) if self.step else 0
        said = [f"{tag} {slot.number(data):.9g}" for tag, slot in self.scalars]
        said += [f"{key} {value}" for key, value in self.settings]
        return f"step {step}: {', '.join(said)}" if said else f"step {step}"


def decode(slot: Slot, columns: Bytes) -> Numbers:
    """The numbers that stand at a slot, one of each column's rows."""
    import numpy as np

    count = columns.shape[1]
    part = np.ascontiguousarray(columns[slot.start : slot.start + slot.width].T)
    if slot.kind == "zero":
        return np.zeros(count)
    if slot.kind in _FORMATS:
        return part.view(_FORMATS[slot.kind])[:, 0].astype(np.float64)
    if slot.kind == "brain":
        return _brain(part.view("<u2")[:, 0])
    total = np.zeros(count, dtype=np.uint64)
    for place in range(slot.width):
        total |= (part[:, place] & np.uint8(0x7F)).astype(np.uint64) << np.uint64(7 * place)
    if slot.kind == "varint":
        return total.view(np.int64).astype(np.float64)
    bits = total.astype(np.uint16)
    return bits.view("<f2").astype(np.float64) if slot.kind == "half varint" else _brain(bits)


def _brain(bits: npt.NDArray[np.uint16]) -> Numbers:
    """The numbers of bfloat16: the upper halves of floats."""
    import numpy as np

    return (bits.astype(np.uint32) << np.uint32(16)).view(np.float32).astype(np.float64)


def parse(data: bytes, plugins: dict[str, str]) -> Event:
    """Take an event apart; raises `Malformed`. `plugins` remembers what each tag's first event says it is."""
    event = Event()
    for part in fields(data):
        if part.number == _WALL_TIME and part.wire == FIXED64:
            event.time = Slot(part.start, 8, "double")
        elif part.number == _STEP and part.wire == VARINT:
            event.step = Slot(part.start, part.end - part.start, "varint")
        elif part.number == _SUMMARY and part.wire == BYTES:
            for value in fields(data, part.start, part.end):
                if value.number == _VALUE and value.wire == BYTES:
                    _value(event, data, value, plugins)
    return event


def _value(event: Event, data: bytes, value: Field, plugins: dict[str, str]) -> None:
    tag, plugin, content = "", "", None
    simple = tensor = None
    for part in fields(data, value.start, value.end):
        if part.number == _TAG and part.wire == BYTES:
            tag = text(data, part)
        elif part.number == _SIMPLE_VALUE and part.wire == FIXED32:
            simple = part
        elif part.number == _TENSOR and part.wire == BYTES:
            tensor = part
        elif part.number == _METADATA and part.wire == BYTES:
            plugin, content = _plugin(data, part)
        elif part.number in _SKIPPED:
            event.skipped.append(_SKIPPED[part.number])
    if plugin and len(plugins) < 10_000:
        plugins.setdefault(tag, plugin)
    plugin = plugin or plugins.get(tag, "")
    if plugin == "hparams" and content is not None:
        _hyper_parameters(event, data, content)
    elif simple is not None:
        event.scalars.append((tag, Slot(simple.start, 4, "float")))
    elif tensor is not None:
        _tensor(event, data, tensor, tag, plugin)


def _plugin(data: bytes, metadata: Field) -> tuple[str, Field | None]:
    name, content = "", None
    for part in fields(data, metadata.start, metadata.end):
        if part.number == 1 and part.wire == BYTES:
            for inner in fields(data, part.start, part.end):
                if inner.number == 1 and inner.wire == BYTES:
                    name = text(data, inner)
                elif inner.number == 2 and inner.wire == BYTES:
                    content = inner
    return name, content


def _tensor(event: Event, data: bytes, tensor: Field, tag: str, plugin: str) -> None:
    """Take in a tensor: one number is a scalar, strings are a text, anything else is passed over."""
    parts = list(fields(data, tensor.start, tensor.end))
    dtype = next((integer(data, part) for part in parts if part.number == _TYPE and part.wire == VARINT), 0)
    if plugin == "text":
        strings = [text(data, part) for part in parts if part.number == _STRINGS and part.wire == BYTES]
        if strings:
            event.settings.append((tag.removesuffix("/text_summary"), "\n".join(strings)))
        return
    slot = None
    if plugin in {"", "scalars"} and dtype in _TYPES and all(_single(data, p) for p in parts if p.number == _SHAPE):
        slot = _slot(data, parts, *_TYPES[dtype])
    if slot is None:
        event.skipped.append(_SKIPPED_PLUGINS.get(plugin, "tensor"))
    else:
        event.scalars.append((tag, slot))


def _single(data: bytes, shape: Field) -> bool:
    """Whether a tensor of this shape has one element."""
    if shape.wire != BYTES:
        return False
    sizes = [
        integer(data, size)
        for dimension in fields(data, shape.start, shape.end)
        if dimension.number == 2 and dimension.wire == BYTES
        for size in fields(data, dimension.start, dimension.end)
        if size.number == 1 and size.wire == VARINT
    ]
    return all(size == 1 for size in sizes)


def _slot(data: bytes, parts: list[Field], kind: Kind, width: int) -> Slot | None:
    content = [part for part in parts if part.number == _CONTENT]
    if content:
        one = content[0].end - content[0].start == width
        return Slot(content[0].start, width, kind) if one else None
    numbers = [part for part in parts if part.number in _NUMBERS]
    if not numbers:
        return Slot(0, 0, "zero")  # TensorFlow leaves out a zero
    part = numbers[0]
    size = part.end - part.start
    if len(numbers) > 1:
        return None
    if kind in {"float", "double"}:
        return Slot(part.start, width, kind) if size == width else None
    if part.wire not in {VARINT, BYTES} or read_varint(data, part.start, part.end)[1] != part.end:
        return None
    return Slot(part.start, size, "half varint" if kind == "half" else "brain varint" if kind == "brain" else "varint")


def _hyper_parameters(event: Event, data: bytes, content: Field) -> None:
    for part in fields(data, content.start, content.end):
        if part.wire != BYTES:
            continue
        for inner in fields(data, part.start, part.end):
            if part.number == _SESSION_START and inner.number == 1 and inner.wire == BYTES:
                event.settings += _hyper_parameter(data, inner)
            elif part.number == _SESSION_END and inner[:2] == (1, VARINT) and integer(data, inner) == _FAILURE:
                event.notes.append("it says that the session ended in failure")


def _hyper_parameter(data: bytes, entry: Field) -> list[tuple[str, Fact]]:
    """An entry of the map from names to `google.protobuf.Value`."""
    key, value = "", None
    for part in fields(data, entry.start, entry.end):
        if part.number == 1 and part.wire == BYTES:
            key = text(data, part)
        elif part.number == 2 and part.wire == BYTES:
            for inner in fields(data, part.start, part.end):
                if inner.number == 2 and inner.wire == FIXED64:
                    value = struct.unpack_from("<d", data, inner.start)[0]
                elif inner.number == 3 and inner.wire == BYTES:
                    value = text(data, inner)
                elif inner.number == 4 and inner.wire == VARINT:
                    value = bool(integer(data, inner))
    return [] if value is None else [(key, value)]
