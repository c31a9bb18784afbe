"""Arrays on disk: shape, type and the range of a bounded sample; pickled objects are named, never loaded."""

from __future__ import annotations

import ast
import io
import math
import warnings
import zipfile
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, BinaryIO

from traindx.readers.checkpoints.archive import opened
from traindx.vocabulary.file_magic import NUMPY

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

LARGEST_SAMPLE = 8 << 20
"""bytes of an array that are looked at"""
_CHUNKS = 8
_LARGEST_HEADER = 64 << 10
_MOST_MEMBERS = 200
_MOST_NPZ_BYTES = 64 << 20
# What damaged or hostile bytes make numpy, zipfile and the parser raise.
_UNSOUND = (
    ValueError,
    TypeError,
    SyntaxError,
    OSError,
    EOFError,
    RuntimeError,
    MemoryError,
    KeyError,
    zipfile.BadZipFile,
)


@dataclass(frozen=True)
class ArrayInfo:
    """An array of a file (`member` inside an .npz), with the range of what was looked at."""

    path: str
    shape: tuple[int, ...]
    dtype: str
    member: str = ""
    sampled: int = 0
    """elements that the numbers below are about"""
    low: float | None = None
    high: float | None = None
    mean: float | None = None
    deviation: float | None = None
    not_finite: int = 0
    pickled: bool = False
    problem: str = ""

    @property
    def elements(self) -> int:
        """Number of values."""
        return math.prod(self.shape)

    @property
    def whole(self) -> bool:
        """Whether every element was looked at."""
        return self.sampled == self.elements

    @property
    def constant(self) -> bool:
        """Whether all that was looked at is one value."""
        return self.sampled > 1 and self.low is not None and self.low == self.high and not self.not_finite


def read_npy(handle: BinaryIO, path: str) -> tuple[list[ArrayInfo], list[str]]:
    """The array of an .npy file, and what is to be said about it."""
    size = handle.seek(0, 2)
    handle.seek(0)
    found = _array(handle, path, "", size)
    return [found], _remarks([found])


def read_npz(handle: BinaryIO, path: str) -> tuple[list[ArrayInfo], list[str]]:
    """The arrays of an .npz archive, and what is to be said about it."""
    archive = opened(handle)
    if archive is None:
        return [], [f"`{path}`: cut off or damaged: the archive has no directory at its end"]
    found: list[ArrayInfo] = []
    with archive:
        members = [info for info in archive.infolist() if info.filename.endswith(".npy")]
        spent = 0
        for info in members[:_MOST_MEMBERS]:
            if spent > _MOST_NPZ_BYTES:
                break
            found.append(_member(archive, info, path))
            spent += min(info.file_size, LARGEST_SAMPLE)
    remarks = _remarks(found)
    if len(found) < len(members):
        remarks.append(f"`{path}`: {len(found)} of {len(members):,} arrays were read")
    return found, remarks


def _remarks(found: list[ArrayInfo]) -> list[str]:
    return [
        f"`{info.path}`{f' `{info.member}`' if info.member else ''}: {info.problem}" for info in found if info.problem
    ]


def _member(archive: zipfile.ZipFile, info: zipfile.ZipInfo, path: str) -> ArrayInfo:
    name = info.filename.removesuffix(".npy")[:200]
    try:
        with archive.open(info) as inner:
            start = inner.read(LARGEST_SAMPLE)
    except Exception as error:  # noqa: BLE001 - zlib, bz2 and lzma each raise an error class of their own
        return ArrayInfo(path, (), "unknown", name, problem=f"cannot be unpacked: {type(error).__name__}")
    return _array(io.BytesIO(start), path, name, info.file_size)


def _array(handle: BinaryIO, path: str, member: str, size: int) -> ArrayInfo:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # old names of types, odd escapes, overflows: the file's business
        return _read(handle, path, member, size)


def _read(handle: BinaryIO, path: str, member: str, size: int) -> ArrayInfo:
    import numpy as np

    try:
        descr, lengths, begin = _header(handle)
        dtype: np.dtype[np.generic] = np.dtype(descr)  # type: ignore[call-overload]
        shape = tuple(int(length) for length in lengths)
        if any(not 0 <= length < 1 << 48 for length in shape) or len(shape) > 64:
            raise ValueError("an impossible shape")
    except _UNSOUND as error:
        return ArrayInfo(path, (), "unknown", member, problem=f"not a valid .npy file: {str(error)[:120]}")
    name = str(dtype)[:80]
    if dtype.hasobject:
        problem = "holds pickled Python objects, which are not loaded"
        return ArrayInfo(path, shape, "object", member, pickled=True, problem=problem)
    wanted = math.prod(shape) * dtype.itemsize
    problem = f"cut off: {wanted:,} bytes expected, {size - begin:,} present" if size - begin < wanted else ""
    try:
        sample = _sample(handle, begin, min(wanted, size - begin), dtype)
        return _described(ArrayInfo(path, shape, name, member, problem=problem), sample)
    except _UNSOUND as error:
        return ArrayInfo(path, shape, name, member, problem=problem or f"cannot be sampled: {str(error)[:120]}")


def _header(handle: BinaryIO) -> tuple[object, tuple[int, ...], int]:
    head = handle.read(8)
    if not head.startswith(NUMPY) or len(head) < 8:
        raise ValueError("it does not begin as one")
    width = 2 if head[6] == 1 else 4
    length = int.from_bytes(handle.read(width), "little")
    if length > _LARGEST_HEADER:
        raise ValueError("its header is too long")
    raw = handle.read(length)
    header = ast.literal_eval(raw.decode("utf-8" if head[6] >= 3 else "latin-1").strip())
    if not isinstance(header, dict) or not isinstance(header.get("shape"), tuple) or len(raw) < length:
        raise ValueError("its header has no shape")
    return header["descr"], header["shape"], 8 + width + length


def _sample(handle: BinaryIO, begin: int, there: int, dtype: np.dtype[np.generic]) -> npt.NDArray[np.generic]:
    """All numbers of a small array; of a large one stretches spread over the file."""
    import numpy as np

    step = dtype.itemsize
    if not step or there < step:
        return np.empty(0, dtype=dtype)
    count = there // step
    if count * step <= LARGEST_SAMPLE:
        handle.seek(begin)
        raw = handle.read(count * step)
    else:
        each = LARGEST_SAMPLE // _CHUNKS // step
        raw = b""
        for part in range(_CHUNKS):
            handle.seek(begin + (count - each) * part // (_CHUNKS - 1) * step)
            taken = handle.read(each * step)
            raw += taken[: len(taken) // step * step]
    return np.frombuffer(raw[: len(raw) // step * step], dtype=dtype)


def _described(info: ArrayInfo, sample: npt.NDArray[np.generic]) -> ArrayInfo:
    import numpy as np

    if sample.dtype.kind not in "fiubc" or not len(sample):
        return info
    numbers = np.abs(sample) if sample.dtype.kind == "c" else sample
    wide = numbers.astype(np.float64)
    finite = wide[np.isfinite(wide)]
    info = replace(info, sampled=len(wide), not_finite=len(wide) - len(finite))
    if not len(finite):
        return info
    mean, deviation = float(finite.mean()), float(finite.std())
    low, high = float(finite.min()), float(finite.max())
    return replace(info, low=low, high=high, mean=mean, deviation=deviation)
