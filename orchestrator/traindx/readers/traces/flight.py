"""Dumps of NCCL's flight recorder: how far each rank's collectives came, in the words of its watchdog.

A dump is a pickle of plain containers, or JSON. The pickle is followed operation by operation; nothing is built.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import BinaryIO

from traindx.readers.checkpoints.interpreter import follow
from traindx.readers.checkpoints.opcodes import Stream
from traindx.readers.checkpoints.symbols import Row, Table
from traindx.readers.logs.ranks import rank_in_name
from traindx.readers.model import LogError

LARGEST = 128 << 20
PLACE = "collectives of rank "
"""the locator of what a dump says: it has no lines"""
_DEEPEST = 8
_STATES = frozenset({"scheduled", "started"})


def read_flight(handle: BinaryIO, path: str, size: int) -> tuple[list[LogError], list[str]]:
    """How far the rank's process groups came, and the collective it was in; what is wrong with the dump."""
    head = handle.read(1)
    handle.seek(0)
    if size > LARGEST:
        return [], [f"`{path}`: a flight-recorder dump of more than {LARGEST >> 20} MB is not read"]
    if head in {b"{", b"["}:
        try:
            dump = json.load(handle)
        except (ValueError, RecursionError):
            return [], [f"`{path}`: its JSON is broken"]
        problem = ""
    else:
        reading = follow(Stream(handle, size))  # type: ignore[arg-type]
        dump, problem = _plain(reading.root), reading.problem
    if not isinstance(dump, Mapping) or "entries" not in dump:
        return [], [f"`{path}`: {problem}"] if problem else []
    named = rank_in_name(path)
    rank = dump.get("rank") if isinstance(dump.get("rank"), int) else named.number if named else None
    return _rows(dump, path, rank), [f"`{path}`: {problem}"] if problem else []


def _rows(dump: Mapping[str, object], path: str, rank: int | None) -> list[LogError]:
    raw = dump.get("entries")
    entries = [one for one in raw if isinstance(one, Mapping)] if isinstance(raw, Sequence) else []
    found = [
        _row(
            path, rank, f"[PG ID {group} Rank {rank}] last enqueued work: {enqueued}, last completed work: {completed}"
        )
        for group, (enqueued, completed) in _groups(dump, entries).items()
    ]
    stuck = [one for one in entries if one.get("state") in _STATES and not one.get("is_p2p")]
    if stuck:
        one = min(stuck, key=lambda entry: _number(entry.get("collective_seq_id")))
        operation = str(one.get("profiling_name", "")).rpartition(":")[2].replace("_", "").upper()[:40] or "UNKNOWN"
        text = (
            f"[PG ID {_group(one)} Rank {rank}] in WorkNCCL(SeqNum={_number(one.get('collective_seq_id'))},"
            f" OpType={operation}, NumelIn={_elements(one.get('input_sizes'))},"
            f" Timeout(ms)={_number(one.get('timeout_ms'))}) {one.get('state')}"
        )
        found.append(_row(path, rank, text, _frames(one.get("frames"))))
    return found


def _row(path: str, rank: int | None, text: str, frames: tuple[tuple[str, int], ...] = ()) -> LogError:
    return LogError(path, 0, text, "error", frames, rank=rank)


def _groups(dump: Mapping[str, object], entries: Sequence[Mapping[str, object]]) -> dict[str, tuple[int, int]]:
    """Last enqueued and last completed work by process group: as the dump states it, else from its entries."""
    status = dump.get("pg_status")
    if isinstance(status, Mapping) and status:
        return {
            str(group): (_number(row.get("last_enqueued_collective")), _number(row.get("last_completed_collective")))
            for group, row in status.items()
            if isinstance(row, Mapping)
        }
    found: dict[str, tuple[int, int]] = {}
    for one in entries:
        enqueued, completed = found.get(_group(one), (0, 0))
        number = _number(one.get("collective_seq_id"))
        done = number if one.get("state") == "completed" else 0
        found[_group(one)] = max(enqueued, number), max(completed, done)
    return found


def _group(entry: Mapping[str, object]) -> str:
    return str(_number(entry.get("pg_id")))


def _number(value: object) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) else 0


def _elements(sizes: object) -> int:
    """How many elements the tensors of an operation have."""
    if not isinstance(sizes, Sequence) or isinstance(sizes, str):
        return 0
    total = 0
    for shape in sizes[:100]:
        count = 1
        for size in shape if isinstance(shape, Sequence) and not isinstance(shape, str) else ():
            count *= _number(size)
        total += count
    return total


def _frames(raw: object) -> tuple[tuple[str, int], ...]:
    """The Python frames behind an operation, outermost first."""
    rows = [one for one in raw if isinstance(one, Mapping)] if isinstance(raw, Sequence) else []
    return tuple((str(one.get("filename", "")), _number(one.get("line"))) for one in reversed(rows[:200]))


def _plain(value: object, depth: int = 0) -> object:
    """Tables and rows of the interpreter as dicts and lists, as deep as a dump goes."""
    if depth > _DEEPEST:
        return None
    if isinstance(value, Table):
        return {key: _plain(item, depth + 1) for key, item in value.pairs() if isinstance(key, str | int)}
    if isinstance(value, Row):
        return [_plain(item, depth + 1) for item in value.items]
    return value if isinstance(value, str | int | float | bool) else None
