"""Samples as one JSON object per line: the same account of columns as of a separated table."""

from __future__ import annotations

import json
from typing import BinaryIO

from traindx.readers.coverage import Allowance
from traindx.readers.logs.lines import RawBlocks
from traindx.readers.tables.column import Column
from traindx.readers.tables.datatables import TableInfo

_MOST_COLUMNS = 100
_LONGEST_LINE = 1 << 20
_SHOWN = 60


def read_json_table(
    handle: BinaryIO, path: str, allowance: Allowance | None = None
) -> tuple[TableInfo | None, list[str]]:
    """The plain values of the records by key; lists and objects inside them are passed over."""
    allowance = allowance or Allowance()
    columns: dict[str, Column] = {}
    rows = broken = 0
    blocks = RawBlocks(handle, allowance=Allowance(allowance.timer))
    for first, data in blocks:
        for line, raw in enumerate(data.split(b"\n"), first):
            if not raw.strip():
                continue
            record = _record(raw)
            if record is None:
                broken += 1
                continue
            rows += 1
            for key, value in record.items():
                if key not in columns and len(columns) < _MOST_COLUMNS:
                    columns[key] = Column(str(key)[:100])
                if key in columns and not isinstance(value, dict | list):
                    columns[key].take(_cell(value), line)
    if not rows:
        return None, [f"`{path}`: no record could be read"]
    allowance.note(rows, rows * blocks.of // max(1, blocks.read))
    remarks = [f"`{path}`: {trouble}" for trouble in blocks.troubles]
    if broken:
        remarks.append(f"`{path}`: {broken:,} lines are no JSON objects")
    told = tuple(column.info() for column in columns.values())
    return TableInfo(path, told, rows, blocks.read == blocks.of, broken), remarks


def _record(raw: bytes) -> dict[str, object] | None:
    if len(raw) > _LONGEST_LINE:
        return None
    try:
        found = json.loads(raw)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def _cell(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(int(value))
    return value[:_SHOWN] if isinstance(value, str) else repr(value)[:_SHOWN]
