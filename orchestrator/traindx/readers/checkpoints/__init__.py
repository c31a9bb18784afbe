"""Checkpoints described by their content, without loading a tensor and without executing a pickle."""

from __future__ import annotations

from typing import BinaryIO

from traindx.contract.remark import Notable
from traindx.readers.checkpoints.measuring import Measure
from traindx.readers.checkpoints.model import Checkpoint, Damage, TensorInfo
from traindx.readers.checkpoints.moments import Moments, optimizer_with_moments, read_moments
from traindx.readers.checkpoints.safetensors import looks_like_safetensors, read_safetensors
from traindx.readers.checkpoints.shards import is_index, read_shards
from traindx.readers.checkpoints.torchfile import read_pickle, read_zip
from traindx.readers.checkpoints.weights import MOST_BYTES, READABLE, Weights, read_values, read_weights
from traindx.runtime.scope import Scope
from traindx.vocabulary.file_magic import HDF5, LFS_POINTER

__all__ = [
    "MOST_BYTES", "READABLE", "Checkpoint", "Measure", "Moments", "TensorInfo", "Weights", "dangers", "empty",
    "is_index", "optimizer_with_moments", "read_checkpoint", "read_moments", "read_sharded", "read_values",
    "read_weights",
]  # fmt: skip

_HEAD = 4_096
_TEXT_PROBLEMS = (
    (LFS_POINTER, "a Git LFS pointer, not the weights: run `git lfs pull`"),
    (b"<!doctype html", "an HTML page, not weights: the download failed or needs a login"),
    (b"<html", "an HTML page, not weights: the download failed or needs a login"),
    (b"<?xml", "an XML message, not weights: the download failed"),
    (b"{", "JSON text, not weights"),
)


def read_checkpoint(handle: BinaryIO, path: str) -> tuple[Checkpoint, list[str]]:
    """Describe one file, whatever it holds, and what is to be said about it."""
    size = handle.seek(0, 2)
    handle.seek(0)
    described = _described(handle, path, size)
    return described, _remarks(described)


def empty(path: str) -> Checkpoint:
    """A file of no bytes."""
    return Checkpoint(path, "empty", 0, problems=(Damage("it is empty: it was never written"),))


def read_sharded(scope: Scope, path: str) -> tuple[Checkpoint, list[str]]:
    """Describe the model behind an index file (`*.index.json`), shard by shard."""
    described = read_shards(scope, path, _described)
    return described, _remarks(described)


def dangers(handle: BinaryIO, path: str) -> list[str]:
    """What loading a pickle of data would run, in words; nothing where it is harmless."""
    described, _ = read_checkpoint(handle, path)
    return _dangers(described)


def _remarks(described: Checkpoint) -> list[str]:
    return [f"`{described.path}`: {problem}" for problem in described.problems] + _dangers(described)


def _dangers(described: Checkpoint) -> list[str]:
    if not described.unsafe:
        return []
    names = ", ".join(f"`{name}`" for name in described.unsafe[:5])
    return [Notable(f"`{described.path}`: loading it would run {names}: do not unpickle it")]


def _described(handle: BinaryIO, path: str, size: int) -> Checkpoint:
    head = handle.read(_HEAD)
    if not head:
        return empty(path)
    if not head.strip(b"\0") and not _sampled(handle, size).strip(b"\0"):
        return Checkpoint(
            path,
            "empty",
            size,
            problems=(Damage("it contains only zero bytes: space was reserved, but nothing was written"),),
        )
    if head.startswith(b"PK"):
        return read_zip(handle, path, size)
    if head.startswith(HDF5):
        return Checkpoint(path, "hdf5", size)
    if head.startswith(b"GGUF"):
        return Checkpoint(path, "gguf", size)
    if looks_like_safetensors(head):
        return read_safetensors(handle, path, size)
    if head[257:262] == b"ustar":
        return Checkpoint(path, "torch-tar", size, problems=("a tar archive: not read; unpack it first",))
    text = head.lstrip(b"\xef\xbb\xbf \t\r\n").lower()
    for sign, problem in _TEXT_PROBLEMS:
        if text.startswith(sign):
            return Checkpoint(path, "not-weights", size, problems=(Damage(problem),))
    if head[:1] == b"\x80" or _pickled_text(head):
        return read_pickle(handle, path, size)
    return Checkpoint(path, "unknown", size, problems=(_unknown(path, head),))


def _unknown(path: str, head: bytes) -> str:
    """Why a file is of no known format; damage where its name promises one."""
    if path.lower().endswith(".safetensors"):
        length = int.from_bytes(head[:8], "little")
        return Damage(
            f"not a safetensors file: its first 8 bytes announce a header of {length:,} bytes, and no JSON follows"
        )
    # Translations into Portuguese are called `train.pt` as well, but they are text.
    if path.lower().endswith((".pt", ".pth")) and b"\0" in head:
        return Damage(
            f"it begins with `{head[:4].hex(' ')}`: neither a zip archive nor a pickle, so torch cannot load it"
        )
    return "its format is not known: neither torch, safetensors nor HDF5"


def _sampled(handle: BinaryIO, size: int) -> bytes:
    """A few stretches of a file that begins with zeros."""
    taken = b""
    for part in range(8):
        handle.seek(size * part // 8)
        taken += handle.read(_HEAD)
    return taken


def _pickled_text(head: bytes) -> bool:
    """Whether it may be a pickle of protocol 0 or 1: a mark or container with an operation after it, or a global."""
    if head[:1] in {b"(", b"]", b"}"}:
        return head[1:2] in {b"d", b"l", b"i", b"c", b"S", b"V", b"I", b"F", b"(", b"X", b"q", b"p", b"]", b"}", b"K"}
    return head[:1] == b"c" and head[:200].count(b"\n") >= 2 and head[1:40].partition(b"\n")[0].isascii()
