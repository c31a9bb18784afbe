"""Models in several files: the index that Hugging Face writes beside the shards."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from typing import BinaryIO

from traindx.errors import UnreadableInput
from traindx.readers.checkpoints.model import Checkpoint, Damage, TensorInfo
from traindx.runtime.scope import Scope

LARGEST_INDEX = 16 << 20
_MOST_SHARDS = 256
_MOST_NAMED = 5
Reader = Callable[[BinaryIO, str, int], Checkpoint]


def is_index(path: str, head: bytes) -> bool:
    """Whether a JSON file maps tensors to shards."""
    return path.endswith(".index.json") or b'"weight_map"' in head


def read_shards(scope: Scope, path: str, reader: Reader) -> Checkpoint:
    """Describe all shards of an index as one checkpoint; missing and broken shards are its problems."""
    try:
        with scope.open(path) as handle:
            raw = handle.read(LARGEST_INDEX + 1)
    except (UnreadableInput, OSError) as error:
        return Checkpoint(path, "sharded", 0, problems=(str(error),))
    try:
        index = json.loads(raw.decode("utf-8")) if len(raw) <= LARGEST_INDEX else None
    except (ValueError, RecursionError, MemoryError):
        index = None
    weights = index.get("weight_map") if isinstance(index, dict) else None
    if not isinstance(weights, dict):
        return Checkpoint(path, "sharded", len(raw), problems=("it is not an index: no `weight_map`",))
    homes = {str(name): str(shard) for name, shard in weights.items()}
    folder = path.rpartition("/")[0]
    counts = Counter(homes.values())
    shards: dict[str, Checkpoint] = {}
    problems: list[str] = []
    for shard in list(counts)[:_MOST_SHARDS]:
        described = _shard(scope, f"{folder}/{shard}" if folder else shard, reader)
        if isinstance(described, str):
            problems.append(Damage(f"shard `{shard[:200]}` with {counts[shard]:,} tensors: {described}"))
        else:
            shards[shard] = described
            problems += [type(problem)(f"shard `{shard[:200]}`: {problem}") for problem in described.problems]
    if not shards:
        # Weights are often left out when a folder is handed on; a single missing shard is another matter.
        problems = [f"{problem}" for problem in problems]
    if len(counts) > _MOST_SHARDS:
        problems.append(f"{_MOST_SHARDS} of {len(counts):,} shards were read")
    problems += _disagreements(homes, shards)
    return _joined(path, shards, problems)


def _shard(scope: Scope, path: str, reader: Reader) -> Checkpoint | str:
    try:
        with scope.open(path) as handle:
            size = handle.seek(0, 2)
            handle.seek(0)
            return reader(handle, path, size)
    except UnreadableInput as error:
        return str(error).partition(": ")[2]
    except OSError as error:
        return str(error.strerror)


def _disagreements(homes: dict[str, str], shards: dict[str, Checkpoint]) -> list[str]:
    absent: list[str] = []
    for shard, described in shards.items():
        if described.problems:
            continue
        present = {tensor.path for tensor in described.tensors}
        absent += [name for name, home in homes.items() if home == shard and name not in present]
    named = ", ".join(f"`{name[:120]}`" for name in absent[:_MOST_NAMED])
    return [Damage(f"{len(absent):,} tensors of the index are not in their shard: {named}")] if absent else []


def _joined(path: str, shards: dict[str, Checkpoint], problems: list[str]) -> Checkpoint:
    tensors: list[TensorInfo] = []
    for shard, described in shards.items():
        tensors += [replace(tensor, storage=f"{shard}:{tensor.storage}") for tensor in described.tensors]
    parts = list(shards.values())
    return Checkpoint(
        path=path,
        format="sharded",
        size=sum(part.size for part in parts),
        keys=tuple(shards),
        tensors=tuple(tensors),
        globals=tuple(dict.fromkeys(name for part in parts for name in part.globals)),
        unsafe=tuple(dict.fromkeys(name for part in parts for name in part.unsafe)),
        foreign=tuple(dict.fromkeys(name for part in parts for name in part.foreign)),
        calls=tuple(dict.fromkeys(call for part in parts for call in part.calls)),
        problems=tuple(problems),
    )
