"""Files that `torch.save` wrote: zip archives, and the pickles before them."""

from __future__ import annotations

import io
import zipfile
from typing import BinaryIO

from traindx.readers.checkpoints.archive import first_record, opened, record
from traindx.readers.checkpoints.describe import Description, describe
from traindx.readers.checkpoints.interpreter import Reading, follow
from traindx.readers.checkpoints.model import Checkpoint, Damage, Format
from traindx.readers.checkpoints.names import trust
from traindx.readers.checkpoints.opcodes import Stream
from traindx.readers.checkpoints.symbols import Row

_LARGEST_PICKLE = 64 << 20
_MAGIC = 0x1950A86A20F9469CFC6C
_MOST_MISSING = 5


def read_zip(handle: BinaryIO, path: str, size: int) -> Checkpoint:
    """Describe an archive by its `data.pkl`, and check that every storage is there in full."""
    archive = opened(handle)
    if archive is None:
        return _cut_zip(handle, path, size)
    with archive:
        infos = {info.filename: info for info in archive.infolist()}
        name = next((name for name in infos if name == "data.pkl" or name.endswith("/data.pkl")), "")
        if not name:
            return Checkpoint(path, _other_zip(infos), size, problems=_no_pickle(infos))
        folder = name.removesuffix("data.pkl")
        raw = record(archive, infos[name], _LARGEST_PICKLE)
        if raw is None:
            problem = Damage("`data.pkl` inside the archive cannot be read: the file is damaged")
            return Checkpoint(path, "torch-zip", size, problems=(problem,))
        reading = follow(Stream(io.BytesIO(raw), len(raw)))
        script = any(entry.startswith(f"{folder}code/") for entry in infos)
        found = describe(reading.root)
        problems = _storages(found, infos, folder, size)
        return checkpoint(path, "torchscript" if script else "torch-zip", size, reading, found, problems)


def _cut_zip(handle: BinaryIO, path: str, size: int) -> Checkpoint:
    """An archive without its directory, which stands at the end: torch writes `data.pkl` first, so it may be there."""
    first = first_record(handle)
    problem = Damage(
        "cut off or damaged: the zip archive has no directory at its end "
        "(`PytorchStreamReader failed finding central directory`)"
    )
    if first is None or not first[0].endswith("data.pkl"):
        return Checkpoint(path, "torch-zip", size, problems=(problem,))
    handle.seek(first[1])
    reading = follow(Stream(handle, max(0, size - first[1])))  # type: ignore[arg-type]
    reading.problem = ""  # one reason is enough
    found = describe(reading.root)
    wanted = sum({tensor.storage or tensor.path: tensor.size for tensor in found.tensors}.values())
    if wanted > size:
        problem = Damage(f"{problem}, and its tensors take {wanted:,} bytes, the file has {size:,}")
    return checkpoint(path, "torch-zip", size, reading, found, [problem])


def _storages(found: Description, infos: dict[str, zipfile.ZipInfo], folder: str, size: int) -> list[str]:
    """Storages that are missing from the archive, too short, or beyond its end."""
    wrong: dict[str, str] = {}
    for tensor in found.tensors:
        if not tensor.storage or tensor.storage in wrong:
            continue
        info = infos.get(f"{folder}data/{tensor.storage}")
        if info is None:
            wrong[tensor.storage] = Damage(
                f"tensor `{tensor.path}`: its record `data/{tensor.storage}` is missing from the archive"
            )
        elif info.file_size < tensor.size:
            wrong[tensor.storage] = Damage(
                f"tensor `{tensor.path}` needs {tensor.size:,} bytes, its record has {info.file_size:,}"
            )
        elif info.header_offset + info.compress_size > size:
            wrong[tensor.storage] = Damage(f"tensor `{tensor.path}`: its record lies beyond the end of the file")
    told = list(wrong.values())[:_MOST_MISSING]
    return told + ([f"{len(wrong) - len(told)} more records are missing or short"] if len(wrong) > len(told) else [])


def _other_zip(infos: dict[str, zipfile.ZipInfo]) -> Format:
    return "keras" if "model.weights.h5" in infos or "config.json" in infos else "unknown"


def _no_pickle(infos: dict[str, zipfile.ZipInfo]) -> tuple[str, ...]:
    return () if _other_zip(infos) == "keras" else ("a zip archive without `data.pkl`: not a torch checkpoint",)


def read_pickle(handle: BinaryIO, path: str, size: int) -> Checkpoint:
    """Describe torch's format before 1.6 (several pickles, then the numbers), or any other pickle."""
    handle.seek(0)
    stream = Stream(handle, size)  # type: ignore[arg-type]
    first = follow(stream)
    if first.root != _MAGIC:
        return checkpoint(path, "pickle", size, first, describe(first.root), [])
    follow(stream)  # the protocol's version
    follow(stream)  # the machine's byte order
    body = follow(stream)
    found = describe(body.root)
    problems = [] if body.problem else _legacy_storages(found, stream)
    return checkpoint(path, "torch-legacy", size, body, found, problems)


def _legacy_storages(found: Description, stream: Stream) -> list[str]:
    keys = follow(stream)
    count = len(keys.root.items) if isinstance(keys.root, Row) else 0
    # Each storage is its number of elements (8 bytes) and its bytes.
    wanted = sum({tensor.storage: tensor.size for tensor in found.tensors if tensor.storage}.values()) + 8 * count
    if keys.problem or wanted > stream.left:
        return [Damage(f"cut off: its tensors take {wanted:,} bytes, {stream.left:,} are left (`unexpected EOF`)")]
    return []


def legacy_places(handle: BinaryIO, widths: dict[str, int]) -> dict[str, tuple[int, int]]:
    """Where the bytes of each storage of torch's old format begin, and how many; `widths` are those of an element."""
    size = handle.seek(0, io.SEEK_END)
    handle.seek(0)
    stream = Stream(handle, size)  # type: ignore[arg-type]
    keys = [follow(stream) for _ in range(5)][-1].root
    places: dict[str, tuple[int, int]] = {}
    place = size - stream.left
    for key in keys.items if isinstance(keys, Row) else ():
        handle.seek(place)
        stored = int.from_bytes(handle.read(8), "little") * widths.get(str(key), 0)
        if not 0 < stored <= size - place:
            break
        places[str(key)] = (place + 8, stored)
        place += 8 + stored
    return places


def checkpoint(
    path: str, kind: Format, size: int, reading: Reading, found: Description, problems: list[str]
) -> Checkpoint:
    """Put together what the pickle and the archive told."""
    told = [*problems, *([reading.problem] if reading.problem else [])]
    if found.full:
        told.append("it holds more than is listed here")
    names = tuple(reading.globals)
    return Checkpoint(
        path=path,
        format=kind,
        size=size,
        keys=found.keys,
        tensors=tuple(found.tensors),
        scalars=found.scalars,
        globals=names,
        unsafe=tuple(name for name in names if trust(name) == "unsafe"),
        foreign=tuple(name for name in names if trust(name) in {"foreign", "plain"}),
        calls=tuple(reading.calls),
        objects=tuple(name for name in reading.objects if trust(name) in {"foreign", "unsafe"}),
        problems=tuple(told),
    )
