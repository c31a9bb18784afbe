"""safetensors files: a JSON header with the name, type, shape and place of every tensor."""

from __future__ import annotations

import json
from math import prod
from typing import BinaryIO

from traindx.contract import Fact
from traindx.readers.checkpoints.model import Checkpoint, Damage, TensorInfo
from traindx.readers.configs.values import bounded, is_secret

LARGEST_HEADER = 32 << 20
"""bytes; the format itself allows 100 MB, a model of 1,000 layers takes one"""
_DTYPES = {
    "F64": ("float64", 8), "F32": ("float32", 4), "F16": ("float16", 2), "BF16": ("bfloat16", 2), "I64": ("int64", 8),
    "I32": ("int32", 4), "I16": ("int16", 2), "I8": ("int8", 1), "U8": ("uint8", 1), "U16": ("uint16", 2),
    "U32": ("uint32", 4), "U64": ("uint64", 8), "BOOL": ("bool", 1), "F8_E4M3": ("float8_e4m3fn", 1),
    "F8_E5M2": ("float8_e5m2", 1), "C64": ("complex64", 8), "F8_E8M0": ("float8_e8m0fnu", 1),
}  # fmt: skip
_MOST_TENSORS = 200_000
_MOST_PROBLEMS = 6
_MOST_DIMENSIONS = 64


def looks_like_safetensors(head: bytes) -> bool:
    """Whether a file begins with the length of a JSON header and the header."""
    return 2 <= int.from_bytes(head[:8], "little") <= 100_000_000 and head[8:10] in {b'{"', b"{}"}


def read_safetensors(handle: BinaryIO, path: str, size: int) -> Checkpoint:
    """Describe a file by its header, whose offsets are checked against the file's size."""
    handle.seek(0)
    length = int.from_bytes(handle.read(8), "little")
    if length > LARGEST_HEADER:
        return Checkpoint(
            path,
            "safetensors",
            size,
            problems=(Damage(f"its header would take {length:,} bytes, which is not plausible"),),
        )
    raw = handle.read(length)
    if len(raw) < length:
        problem = Damage(f"cut off inside its header: {length:,} bytes declared, {len(raw):,} present")
        return Checkpoint(path, "safetensors", size, problems=(problem,))
    problems: list[str] = []
    header = _header(raw, problems)
    found: list[TensorInfo] = []
    end = 0
    for name, entry in list(header.items())[: _MOST_TENSORS + 1]:
        if name != "__metadata__":
            tensor, stop = _tensor(name, entry, size - 8 - length, problems)
            end = max(end, stop)
            if tensor is not None:
                found.append(tensor)
    if end > size - 8 - length:
        missing = end - (size - 8 - length)
        problems.insert(
            0, Damage(f"cut off: the last {missing:,} bytes of its tensors are missing (`MetadataIncompleteBuffer`)")
        )
    elif found and end < size - 8 - length:
        problems.append(f"{size - 8 - length - end:,} bytes follow after the last tensor")
    if len(problems) > _MOST_PROBLEMS:
        problems[_MOST_PROBLEMS:] = [f"{len(problems) - _MOST_PROBLEMS} more entries are wrong"]
    return Checkpoint(
        path=path,
        format="safetensors",
        size=size,
        keys=tuple(sorted({tensor.name.partition(".")[0] for tensor in found}))[:200],
        tensors=tuple(found),
        scalars=_metadata(header.get("__metadata__")),
        problems=tuple(problems),
    )


def _header(raw: bytes, problems: list[str]) -> dict[str, object]:
    twice: list[str] = []

    def pairs(items: list[tuple[str, object]]) -> dict[str, object]:
        made = dict(items)
        if len(made) < len(items):
            twice.append("a name")
        return made

    try:
        header = json.loads(raw.decode("utf-8"), object_pairs_hook=pairs)
    except (ValueError, RecursionError, MemoryError) as error:
        problems.append(Damage(f"its header is not JSON: {str(error)[:120]}"))
        return {}
    if twice:
        problems.append(Damage("its header names a tensor twice"))
    return header if isinstance(header, dict) else {}


def _tensor(name: str, entry: object, space: int, problems: list[str]) -> tuple[TensorInfo | None, int]:
    shown = name[:200]
    if not isinstance(entry, dict):
        problems.append(Damage(f"tensor `{shown}` has no description"))
        return None, 0
    shape, offsets = _whole(entry.get("shape")), _whole(entry.get("data_offsets"))
    said = entry.get("dtype")
    dtype, width = _DTYPES.get(said, (said[:20].lower(), 0)) if isinstance(said, str) else ("unknown", 0)
    if shape is None or offsets is None or len(offsets) != 2:
        problems.append(Damage(f"tensor `{shown}` has no valid shape and offsets"))
        return None, 0
    begin, end = offsets
    if width and end - begin != prod(shape) * width:
        problems.append(Damage(f"tensor `{shown}` takes {prod(shape) * width:,} bytes, its slot has {end - begin:,}"))
    elif begin > end or begin > space:
        problems.append(Damage(f"tensor `{shown}` lies beyond the end of the file"))
    return TensorInfo(shown, shape, dtype, size=max(0, end - begin), storage=f"{begin}"), end


def _whole(value: object) -> tuple[int, ...] | None:
    if not isinstance(value, list) or len(value) > _MOST_DIMENSIONS:
        return None
    sound = [size for size in value if isinstance(size, int) and not isinstance(size, bool) and 0 <= size < 1 << 48]
    return tuple(sound) if len(sound) == len(value) else None


def _metadata(value: object) -> dict[str, Fact]:
    if not isinstance(value, dict):
        return {}
    told = {str(key)[:200]: str(said) for key, said in list(value.items())[:200]}
    return {key: bounded(said) for key, said in told.items() if not is_secret(key, said)}
