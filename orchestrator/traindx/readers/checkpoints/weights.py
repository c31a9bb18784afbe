"""The numbers inside a checkpoint, read as bytes, without unpickling anything: values, and what they are like."""

from __future__ import annotations

import re
import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, BinaryIO

from traindx.readers.checkpoints.archive import opened
from traindx.readers.checkpoints.measuring import BLOCK, WIDTHS, Measure, decoded, tally, zero_rows
from traindx.readers.checkpoints.model import Checkpoint, TensorInfo
from traindx.readers.checkpoints.torchfile import legacy_places
from traindx.readers.coverage import Allowance, shared_out
from traindx.vocabulary.file_magic import ZIP

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Floats = npt.NDArray[np.float32]

READABLE = frozenset({"torch-zip", "torchscript", "torch-legacy", "safetensors"})
"""formats in which the numbers of a tensor lie in one piece, uncompressed"""
MOST_BYTES = 64 << 30
"""bytes of one file that are looked at: of a larger one, stretches of every tensor"""
MOST_LOADED = 256 << 20
"""bytes of one file whose numbers are in memory at a time"""
_LEAST = 256 << 10
"""bytes of every tensor that are looked at once the time is up"""
_STRETCHES = 32
_AT_ONCE = 64 << 20
"""numbers between two looks at the clock"""
_FLOATS = frozenset(WIDTHS) - {"complex64"}
# Attention masks are kept as buffers full of minus infinity, and rightly so.
_MASK = re.compile(r"mask|(?:^|[._])alibi|causal", re.IGNORECASE)
_LOCAL_HEADER = 30


@dataclass(frozen=True)
class Spoilt:
    """A tensor with numbers that are not finite, among those that were looked at."""

    name: str
    nans: int
    infinities: int
    elements: int
    tensor: TensorInfo

    def __str__(self) -> str:
        kinds = [f"{count:,} {kind}" for count, kind in ((self.nans, "NaN"), (self.infinities, "Inf")) if count]
        return f"{self.name}: {' and '.join(kinds)} of {self.elements:,}"


@dataclass(frozen=True)
class Weights:
    """What the numbers of a checkpoint are like."""

    path: str
    spoilt: tuple[Spoilt, ...] = ()
    tensors: int = 0
    """tensors of floating-point numbers that were looked at"""
    whole: bool = True
    """whether every number was looked at"""
    read: int = 0
    of: int = 0
    """numbers that were looked at, and all that there are"""
    measures: tuple[Measure, ...] = field(default=(), repr=False)

    @property
    def problems(self) -> list[str]:
        """What is wrong with the numbers, in words."""
        if not self.spoilt:
            return []
        first = "; ".join(f"`{spoilt.name}`" for spoilt in self.spoilt[:3])
        return [f"{len(self.spoilt):,} of its {self.tensors:,} tensors hold NaN or Inf, the first of them {first}"]


def read_weights(
    handle: BinaryIO, checkpoint: Checkpoint, most: int = MOST_BYTES, allowance: Allowance | None = None
) -> Weights:
    """Measure the numbers in a file of a readable format; of very many bytes, stretches of each tensor."""
    import numpy as np

    allowance = allowance or Allowance()
    wanted = {_span(tensor): tensor for tensor in reversed(checkpoint.tensors) if tensor.dtype in WIDTHS}
    places = _places(handle, checkpoint, list(wanted.values()))
    sizes = {span: _stored(tensor, places) for span, tensor in reversed(wanted.items())}
    shares = shared_out({span: size for span, (_, size) in sizes.items()}, most)
    block = np.empty(BLOCK, dtype=np.uint8)
    measures: list[Measure] = []
    of = 0
    for span, (place, stored) in sizes.items():
        tensor, width = wanted[span], WIDTHS[wanted[span].dtype]
        of += stored // width if place >= 0 else tensor.elements
        size = min(shares[span], _LEAST if allowance.spent() else stored)
        if size <= 0:
            continue
        told = tally(handle, place, _pieces(stored // width, size // width, allowance), tensor.dtype, block)
        empty = 0
        if len(tensor.shape) > 1 and tensor.layout == "rows" and 0 < tensor.elements // tensor.shape[0] <= told.zeros:
            empty = zero_rows(handle, place, tensor)
        measures.append(told.of(tensor, empty))
    read = sum(measure.looked for measure in measures)
    allowance.note(read, of)
    spoilt = tuple(
        Spoilt(one.tensor.path, one.nans, one.infinities, one.looked, one.tensor) for one in measures if _is_spoilt(one)
    )
    return Weights(checkpoint.path, spoilt, len(measures), read == of, read, of, tuple(measures))


def _is_spoilt(measure: Measure) -> bool:
    return bool(measure.nans or (measure.infinities and not _MASK.search(measure.tensor.name)))


def _span(tensor: TensorInfo) -> str:
    """What tensors have in common that are the same numbers of the same storage."""
    return f"{tensor.storage} {tensor.offset} {tensor.elements}" if tensor.layout != "strided" else tensor.storage


def _stored(tensor: TensorInfo, places: dict[str, tuple[int, int]]) -> tuple[int, int]:
    """Where a tensor's own bytes begin and how many there are; the whole storage of one that skips some."""
    place, stored = places.get(tensor.storage, (-1, 0))
    if place < 0 or tensor.layout == "strided":
        return place, stored
    skipped = tensor.offset * (tensor.size // max(1, tensor.elements))
    return place + skipped, max(0, min(tensor.size, stored - skipped))


def _places(handle: BinaryIO, checkpoint: Checkpoint, wanted: Sequence[TensorInfo]) -> dict[str, tuple[int, int]]:
    """Where the bytes of each storage begin, and how many they are."""
    if checkpoint.format == "safetensors":
        return _in_header(handle, wanted)
    if checkpoint.format == "torch-legacy":
        widths = {tensor.storage: tensor.size // max(1, tensor.elements) for tensor in checkpoint.tensors}
        return legacy_places(handle, widths)
    return _in_archive(handle)


def read_values(
    handle: BinaryIO, checkpoint: Checkpoint, wanted: Sequence[TensorInfo], most: int = MOST_LOADED
) -> Iterator[tuple[TensorInfo, Floats]]:
    """The numbers of the wanted tensors, in the order of memory; of very many bytes, the beginning of each.

    A tensor that skips parts of its storage is left out.
    """
    own = [tensor for tensor in wanted if tensor.dtype in _FLOATS and tensor.storage and tensor.layout != "strided"]
    places = _places(handle, checkpoint, own)
    share = most if sum(tensor.size for tensor in own) <= most else max(8, most // max(1, len(own)))
    for tensor in own:
        place, stored = _stored(tensor, places)
        if stored == tensor.size > 0:
            handle.seek(place)
            yield tensor, _as_floats(handle.read(min(stored, share)), tensor.dtype)


def _as_floats(raw: bytes, dtype: str) -> Floats:
    import numpy as np

    whole = np.frombuffer(raw[: len(raw) // WIDTHS[dtype] * WIDTHS[dtype]], dtype=np.uint8)
    with np.errstate(over="ignore"):
        return decoded(whole, dtype).astype(np.float32)


def _in_header(handle: BinaryIO, wanted: Sequence[TensorInfo]) -> dict[str, tuple[int, int]]:
    """Where the bytes of each tensor of a safetensors file begin, and how many they are."""
    handle.seek(0)
    start = 8 + int.from_bytes(handle.read(8), "little")
    return {tensor.storage: (start + int(tensor.storage), tensor.size) for tensor in wanted}


def _in_archive(handle: BinaryIO) -> dict[str, tuple[int, int]]:
    """Where the bytes of each storage of a zip archive begin, and how many they are; as far as stored plainly."""
    archive = opened(handle)
    if archive is None:
        return {}
    with archive:
        stored = [info for info in archive.infolist() if info.compress_type == 0 and "/data/" in info.filename]
    places: dict[str, tuple[int, int]] = {}
    for info in stored:
        handle.seek(info.header_offset)
        head = handle.read(_LOCAL_HEADER)
        if len(head) == _LOCAL_HEADER and head.startswith(ZIP):
            name, extra = struct.unpack_from("<HH", head, 26)
            begin = info.header_offset + _LOCAL_HEADER + name + extra
            places[info.filename.rpartition("/")[2]] = (begin, info.file_size)
    return places


def _pieces(there: int, wanted: int, allowance: Allowance) -> Iterator[tuple[int, int]]:
    """All numbers of a tensor, or as many as are wanted, spread; once the time is up, some of those that are left."""
    if wanted < there:
        yield from _stretches(there, wanted)
        return
    for begin in range(0, there, _AT_ONCE):
        if begin and allowance.spent():
            yield from ((begin + place, length) for place, length in _stretches(there - begin, _LEAST // 4))
            return
        yield begin, min(_AT_ONCE, there - begin)


def _stretches(there: int, wanted: int) -> list[tuple[int, int]]:
    """Where stretches of altogether so many numbers begin, and how long they are; the last ends with the tensor."""
    if wanted >= there:
        return [(0, there)]
    count = min(_STRETCHES, max(2, wanted // 64))
    length = max(1, wanted // count)
    return [((there - length) * part // (count - 1), length) for part in range(count)]
