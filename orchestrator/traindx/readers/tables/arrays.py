"""Arrays on disk: shape, type and range, read piece by piece; pickled objects are named, never loaded."""

from __future__ import annotations

import ast
import math
import warnings
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, BinaryIO, cast

from traindx.readers.checkpoints.archive import opened
from traindx.readers.coverage import Allowance
from traindx.readers.tables.flatrows import FlatRows
from traindx.vocabulary.file_magic import NUMPY

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

PIECE = 8 << 20
"""bytes of an array that are in memory at a time"""
_SAMPLES = 8
"""pieces of what is left that are looked at once the time is up"""
_SAMPLE = 1 << 20
_LARGEST_HEADER = 64 << 10
_MOST_MEMBERS = 200
_MOST_VALUES = 1_000
_MOST_NPZ_BYTES = 4 << 30
"""bytes that are unpacked: an archive may claim any number"""
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
    values: dict[float, int] = field(default_factory=dict, compare=False)
    """how often each value occurs, where they are whole numbers and few: labels"""
    changes: int = 0
    """how often a value differs from the one before it, where `values` are told"""
    rows_seen: int = 0
    """whole rows (the first axis) of several numbers that were looked at"""
    rows_flat: int = 0
    """those in which every number is the same"""
    first_flat: int | None = None
    """the first of them, counted from 0"""
    first_bad: int | None = None
    """place of the first NaN or Inf, counted from 0 through the whole array"""

    @property
    def described(self) -> str:
        """Shape, type and range in one line: what a citation of the array quotes."""
        told = f"{self.dtype} {self.shape}"
        if self.low is not None and self.mean is not None and self.deviation is not None:
            told += f", {self.low:.6g} to {self.high:.6g}, mean {self.mean:.6g}, deviation {self.deviation:.6g}"
        return f"{told}, {self.not_finite} not finite" if self.not_finite else told

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


def read_npy(handle: BinaryIO, path: str, allowance: Allowance | None = None) -> tuple[list[ArrayInfo], list[str]]:
    """The array of an .npy file, and what is to be said about it."""
    allowance = allowance or Allowance()
    size = handle.seek(0, 2)
    handle.seek(0)
    found = _array(handle, path, "", size, allowance)
    _account([found], allowance)
    return [found], _remarks([found])


def read_npz(handle: BinaryIO, path: str, allowance: Allowance | None = None) -> tuple[list[ArrayInfo], list[str]]:
    """The arrays of an .npz archive, and what is to be said about it."""
    allowance = allowance or Allowance()
    archive = opened(handle)
    if archive is None:
        return [], [f"`{path}`: cut off or damaged: the archive has no directory at its end"]
    found: list[ArrayInfo] = []
    with archive:
        members = [info for info in archive.infolist() if info.filename.endswith(".npy")]
        spent = 0
        for info in members[:_MOST_MEMBERS]:
            if spent > _MOST_NPZ_BYTES or (spent and allowance.spent()):
                break
            found.append(_member(archive, info, path, allowance))
            spent += info.file_size
    _account(found, allowance)
    remarks = _remarks(found)
    if len(found) < len(members):
        remarks.append(f"`{path}`: {len(found)} of {len(members):,} arrays were read")
    return found, remarks


def _account(found: list[ArrayInfo], allowance: Allowance) -> None:
    numeric = [info for info in found if info.sampled]
    if numeric:
        allowance.note(sum(info.sampled for info in numeric), sum(info.elements for info in numeric))


def _remarks(found: list[ArrayInfo]) -> list[str]:
    return [
        f"`{info.path}`{f' `{info.member}`' if info.member else ''}: {info.problem}" for info in found if info.problem
    ]


def _member(archive: zipfile.ZipFile, info: zipfile.ZipInfo, path: str, allowance: Allowance) -> ArrayInfo:
    name = info.filename.removesuffix(".npy")[:200]
    try:
        with archive.open(info) as inner:
            return _array(cast(BinaryIO, inner), path, name, info.file_size, allowance)
    except Exception as error:  # noqa: BLE001 - zlib, bz2 and lzma each raise an error class of their own
        return ArrayInfo(path, (), "unknown", name, problem=f"cannot be unpacked: {type(error).__name__}")


def _array(handle: BinaryIO, path: str, member: str, size: int, allowance: Allowance) -> ArrayInfo:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # old names of types, odd escapes, overflows: the file's business
        return _read(handle, path, member, size, allowance)


def _read(handle: BinaryIO, path: str, member: str, size: int, allowance: Allowance) -> ArrayInfo:
    import numpy as np

    try:
        descr, lengths, begin, by_rows = _header(handle)
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
        pieces = _pieces(handle, begin, min(wanted, size - begin), dtype, allowance)
        return _described(ArrayInfo(path, shape, name, member, problem=problem), pieces, by_rows=by_rows)
    except _UNSOUND as error:
        return ArrayInfo(path, shape, name, member, problem=problem or f"cannot be sampled: {str(error)[:120]}")


def array_header(handle: BinaryIO) -> tuple[object, tuple[int, ...], int]:
    """The type and the shape that an .npy file declares, and where its numbers begin."""
    return _header(handle)[:3]


def _header(handle: BinaryIO) -> tuple[object, tuple[int, ...], int, bool]:
    """The same, and whether its numbers follow each other row by row."""
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
    return header["descr"], header["shape"], 8 + width + length, not header.get("fortran_order")


def _pieces(
    handle: BinaryIO, begin: int, there: int, dtype: np.dtype[np.generic], allowance: Allowance
) -> Iterator[npt.NDArray[np.generic]]:
    """All numbers of an array, piece by piece; once the time is up, stretches of what is left, its end included."""
    import numpy as np

    step = dtype.itemsize
    if dtype.kind not in "fiubc" or not step:
        return
    handle.seek(begin)
    left = there // step
    while left:
        wanted = min(left, max(1, PIECE // step))
        raw = handle.read(wanted * step)
        if len(raw) < step:
            return
        yield np.frombuffer(raw[: len(raw) // step * step], dtype=dtype)
        left -= wanted
        if left * step > _SAMPLES * _SAMPLE and allowance.spent():
            place = begin + (there // step - left) * step
            each = max(1, _SAMPLE // step)
            for part in range(_SAMPLES):
                handle.seek(place + (left - each) * part // (_SAMPLES - 1) * step)
                taken = handle.read(each * step)
                yield np.frombuffer(taken[: len(taken) // step * step], dtype=dtype)
            return


def _described(info: ArrayInfo, pieces: Iterator[npt.NDArray[np.generic]], *, by_rows: bool) -> ArrayInfo:
    import numpy as np

    seen = finite_count = 0
    low, high, mean, squares = math.inf, -math.inf, 0.0, 0.0
    first_bad: int | None = None
    counts = _Counts() if _may_be_labels(info) else None
    rows = FlatRows(info.shape if by_rows else ())
    for piece in pieces:
        rows.take(piece)
        numbers = np.abs(piece) if piece.dtype.kind == "c" else piece
        wide = numbers.astype(np.float64)
        good = np.isfinite(wide)
        finite = wide if good.all() else wide[good]
        if first_bad is None and len(finite) < len(wide):
            first_bad = seen + int(np.argmin(good))
        if counts is not None:
            counts.take(finite)
        seen += len(wide)
        if not len(finite):
            continue
        # Means and squared differences of two parts, put together (Chan et al.).
        own = float(finite.mean())
        shift, together = own - mean, finite_count + len(finite)
        squares += float(finite.var()) * len(finite) + shift * shift * finite_count * len(finite) / together
        mean += shift * len(finite) / together
        finite_count = together
        low, high = min(low, float(finite.min())), max(high, float(finite.max()))
    if not seen:
        return info
    info = replace(info, sampled=seen, not_finite=seen - finite_count, first_bad=first_bad)
    info = replace(info, rows_seen=rows.seen, rows_flat=rows.flat, first_flat=rows.first)
    if counts is not None:
        info = replace(info, values=counts.values or {}, changes=counts.changes if counts.values else 0)
    if not finite_count:
        return info
    return replace(info, low=low, high=high, mean=mean, deviation=math.sqrt(max(0.0, squares) / finite_count))


def _may_be_labels(info: ArrayInfo) -> bool:
    return info.elements > 0 and info.elements == max(info.shape, default=0)


class _Counts:
    """How often each whole number occurs, until there are too many of them."""

    def __init__(self) -> None:
        self.values: dict[float, int] | None = {}
        self.changes = 0
        self._before: float | None = None

    def take(self, numbers: npt.NDArray[np.float64]) -> None:
        """Take in the next stretch."""
        import numpy as np

        if self.values is None or not len(numbers):
            return
        different, times = np.unique(numbers, return_counts=True)
        if len(different) > _MOST_VALUES or bool((different != np.round(different)).any()):
            self.values = None
            return
        for value, count in zip(different.tolist(), times.tolist(), strict=True):
            self.values[value] = self.values.get(value, 0) + count
        self.changes += int(np.count_nonzero(np.diff(numbers)))
        self.changes += int(self._before is not None and self._before != numbers[0])
        self._before = float(numbers[-1])
        self.values = self.values if len(self.values) <= _MOST_VALUES else None
