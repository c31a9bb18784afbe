"""The numbers inside a checkpoint, read as bytes, without unpickling anything: values, and what is not finite."""

from __future__ import annotations

import re
import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, BinaryIO

from traindx.readers.checkpoints.archive import opened
from traindx.readers.checkpoints.model import Checkpoint, TensorInfo
from traindx.vocabulary.file_magic import ZIP

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Floats = npt.NDArray[np.float32]

READABLE = frozenset({"torch-zip", "torchscript", "safetensors"})
"""formats in which the numbers of a tensor lie in one piece, uncompressed"""
MOST_BYTES = 256 << 20
"""bytes of one file that are looked at: of a larger one, the beginning of every tensor"""
_PIECE = 4 << 20
_LEAST = 64 << 10
# Sign, exponent, fraction: where all bits of the exponent are set the number is Inf, or NaN if the fraction is not 0.
_EXPONENTS = {
    "float64": ("<u8", 0x7FF0_0000_0000_0000, 0x000F_FFFF_FFFF_FFFF),
    "float32": ("<u4", 0x7F80_0000, 0x007F_FFFF),
    "float16": ("<u2", 0x7C00, 0x03FF),
    "bfloat16": ("<u2", 0x7F80, 0x007F),
    "complex64": ("<u4", 0x7F80_0000, 0x007F_FFFF),
}
_FLOATS = {"float64": ("<f8", 8), "float32": ("<f4", 4), "float16": ("<f2", 2), "bfloat16": ("<u2", 2)}
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

    @property
    def problems(self) -> list[str]:
        """What is wrong with the numbers, in words."""
        if not self.spoilt:
            return []
        first = "; ".join(f"`{spoilt.name}`" for spoilt in self.spoilt[:3])
        return [f"{len(self.spoilt):,} of its {self.tensors:,} tensors hold NaN or Inf, the first of them {first}"]


def read_weights(handle: BinaryIO, checkpoint: Checkpoint, most: int = MOST_BYTES) -> Weights:
    """Count what is not finite in a file of a readable format; of very many bytes, at the beginning of each tensor."""
    wanted: dict[str, TensorInfo] = {}
    for tensor in checkpoint.tensors:
        if tensor.dtype in _EXPONENTS and tensor.storage:
            wanted.setdefault(tensor.storage, tensor)
    places = _in_header(handle, wanted) if checkpoint.format == "safetensors" else _in_archive(handle)
    total = sum(places[storage][1] for storage in wanted if storage in places)
    share = most if total <= most else max(_LEAST, most // len(wanted))
    spoilt, seen, whole, left = [], 0, True, most
    for storage, tensor in wanted.items():
        place, stored = places.get(storage, (0, 0))
        size = min(stored, share, left)
        whole &= size == stored and storage in places
        if size <= 0:
            continue
        found = _counted(handle, place, size, tensor)
        left -= size
        seen += 1
        if found.nans or (found.infinities and not _MASK.search(tensor.name)):
            spoilt.append(found)
    return Weights(checkpoint.path, tuple(spoilt), seen, whole)


def read_values(
    handle: BinaryIO, checkpoint: Checkpoint, wanted: Sequence[TensorInfo], most: int = MOST_BYTES
) -> Iterator[tuple[TensorInfo, Floats]]:
    """The numbers of the wanted tensors, in the order of memory; of very many bytes, the beginning of each.

    A tensor that is a part of a larger storage is left out: where in there it begins is not known.
    """
    own = {tensor.storage: tensor for tensor in wanted if tensor.dtype in _FLOATS and tensor.storage}
    places = _in_header(handle, own) if checkpoint.format == "safetensors" else _in_archive(handle)
    share = most if sum(tensor.size for tensor in own.values()) <= most else max(8, most // max(1, len(own)))
    for tensor in wanted:
        place, stored = places.get(tensor.storage, (0, -1))
        if tensor.dtype in _FLOATS and stored == tensor.size > 0:
            handle.seek(place)
            yield tensor, _as_floats(handle.read(min(stored, share)), tensor.dtype)


def _as_floats(raw: bytes, dtype: str) -> Floats:
    import numpy as np

    words = np.frombuffer(raw[: len(raw) // _FLOATS[dtype][1] * _FLOATS[dtype][1]], dtype=_FLOATS[dtype][0])
    if dtype == "bfloat16":
        # The upper half of a float32.
        widened: Floats = (words.astype(np.uint32) << 16).view(np.float32)
        return widened
    with np.errstate(over="ignore"):
        return words.astype(np.float32)


def _in_header(handle: BinaryIO, wanted: dict[str, TensorInfo]) -> dict[str, tuple[int, int]]:
    """Where the bytes of each tensor of a safetensors file begin, and how many they are."""
    handle.seek(0)
    start = 8 + int.from_bytes(handle.read(8), "little")
    return {storage: (start + int(storage), tensor.size) for storage, tensor in wanted.items()}


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


def _counted(handle: BinaryIO, place: int, size: int, tensor: TensorInfo) -> Spoilt:
    import numpy as np

    words, exponent, fraction = _EXPONENTS[tensor.dtype]
    width = np.dtype(words).itemsize
    nans = infinities = elements = 0
    handle.seek(place)
    while size >= width:
        raw = handle.read(min(size, _PIECE) // width * width)
        if len(raw) < width:
            break
        bits = np.frombuffer(raw[: len(raw) // width * width], dtype=words)
        odd = bits[(bits & bits.dtype.type(exponent)) == exponent]
        nan = int(np.count_nonzero(odd & odd.dtype.type(fraction)))
        nans += nan
        infinities += len(odd) - nan
        elements += len(bits)
        size -= len(raw)
    return Spoilt(tensor.path, nans, infinities, elements)
