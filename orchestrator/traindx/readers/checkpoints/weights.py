"""The numbers inside a checkpoint, read as bytes, without unpickling anything: values, and what is not finite."""

from __future__ import annotations

import re
import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, BinaryIO

from traindx.readers.checkpoints.archive import opened
from traindx.readers.checkpoints.model import Checkpoint, TensorInfo
from traindx.readers.coverage import Allowance, shared_out
from traindx.vocabulary.file_magic import ZIP

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Floats = npt.NDArray[np.float32]

READABLE = frozenset({"torch-zip", "torchscript", "safetensors"})
"""formats in which the numbers of a tensor lie in one piece, uncompressed"""
MOST_BYTES = 64 << 30
"""bytes of one file that are looked at: of a larger one, stretches of every tensor"""
MOST_LOADED = 256 << 20
"""bytes of one file whose numbers are in memory at a time"""
_PIECE = 4 << 20
_LEAST = 256 << 10
"""bytes of every tensor that are looked at once the time is up"""
_STRETCHES = 32
_AT_ONCE = 64 << 20
"""numbers between two looks at the clock"""
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
    read: int = 0
    of: int = 0
    """numbers that were looked at, and all that there are"""

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
    """Count what is not finite in a file of a readable format; of very many bytes, in stretches of each tensor."""
    allowance = allowance or Allowance()
    wanted: dict[str, TensorInfo] = {}
    for tensor in checkpoint.tensors:
        if tensor.dtype in _EXPONENTS and tensor.storage:
            wanted.setdefault(tensor.storage, tensor)
    places = _in_header(handle, wanted) if checkpoint.format == "safetensors" else _in_archive(handle)
    shares = shared_out({storage: places[storage][1] for storage in wanted if storage in places}, most)
    spoilt: list[Spoilt] = []
    seen = read = of = 0
    whole = True
    for storage, tensor in wanted.items():
        place, stored = places.get(storage, (0, 0))
        size = min(shares.get(storage, 0), _LEAST if allowance.spent() else stored)
        of += tensor.elements if storage not in places else stored // _width(tensor)
        looked = 0
        if size > 0:
            found = _counted(
                handle, place, _pieces(stored // _width(tensor), size // _width(tensor), allowance), tensor
            )
            looked = found.elements
            seen += 1
            read += found.elements
            if found.nans or (found.infinities and not _MASK.search(tensor.name)):
                spoilt.append(found)
        whole &= looked == stored // _width(tensor) and storage in places
    allowance.note(read, of)
    return Weights(checkpoint.path, tuple(spoilt), seen, whole, read, of)


def _width(tensor: TensorInfo) -> int:
    import numpy as np

    return np.dtype(_EXPONENTS[tensor.dtype][0]).itemsize


def read_values(
    handle: BinaryIO, checkpoint: Checkpoint, wanted: Sequence[TensorInfo], most: int = MOST_LOADED
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


def _counted(handle: BinaryIO, place: int, pieces: Iterator[tuple[int, int]], tensor: TensorInfo) -> Spoilt:
    """Count what is not finite in some pieces of a tensor: where they begin, and how many numbers they are."""
    import numpy as np

    words, exponent, fraction = _EXPONENTS[tensor.dtype]
    width = np.dtype(words).itemsize
    nans = infinities = elements = 0
    for begin, length in pieces:
        handle.seek(place + begin * width)
        left = length * width
        while left and len(raw := handle.read(min(left, _PIECE) // width * width)) >= width:
            bits = np.frombuffer(raw[: len(raw) // width * width], dtype=words)
            is_odd = (bits & bits.dtype.type(exponent)) == exponent
            if bool(is_odd.any()):
                odd = bits[is_odd]
                nan = int(np.count_nonzero(odd & odd.dtype.type(fraction)))
                nans += nan
                infinities += len(odd) - nan
            elements += len(bits)
            left -= len(raw)
    return Spoilt(tensor.path, nans, infinities, elements)


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
