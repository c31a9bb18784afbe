"""Metrics in tables: one JSON object per line, JSON histories such as Hugging Face's, and separated tables."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Callable
from typing import BinaryIO

from traindx.readers.coverage import Allowance
from traindx.readers.logs.lines import RawBlocks, blocks
from traindx.readers.model import Series
from traindx.readers.series.columns import Columns
from traindx.readers.tables.csvtable import read_csv
from traindx.readers.tables.jsonlines import cells_of
from traindx.readers.tables.jsontext import Leaf, NotJson, leaves
from traindx.readers.tables.record import Records

__all__ = ["read_csv", "read_json", "read_jsonl"]

LARGEST_JSON = 32 << 20
_BLOCK = 1 << 20
_SMALL = 16 << 10
"""bytes that are parsed line by line: less than numpy takes to get going"""


def read_jsonl(
    handle: BinaryIO,
    source: str,
    remark: Callable[[str], None] | None = None,
    allowance: Allowance | None = None,
    block: int = _BLOCK,
) -> list[Series]:
    """The numbers of a file with one JSON object per line."""
    size = handle.seek(0, os.SEEK_END)
    handle.seek(0)
    allowance = allowance or Allowance()
    table = Records(Columns(allowance.points))
    bulk = None
    blocks_of_lines = RawBlocks(handle, block, allowance=allowance)
    for first, data in blocks_of_lines:
        lines = data.replace(b"\r\n", b"\n") if b"\r" in data else data
        if b"\r" in lines or (bulk is None and len(lines) <= _SMALL):
            _parse(table, first, lines)
        else:
            if bulk is None:
                from traindx.readers.native.library import library
                from traindx.readers.tables.jsonlines import JsonLines

                bulk = JsonLines(table, library())
            bulk.block(first, lines)
        if first == 1 and size:
            table.columns.expect(len(data) / size)
        table.columns.bound()
    series = table.columns.series(source)
    troubles = [f"`{source}`: {trouble}" for trouble in blocks_of_lines.troubles]
    if blocks_of_lines.long_lines:
        troubles.append(f"{blocks_of_lines.long_lines:,} lines of `{source}` are too long for a record; left out")
    for text in [*table.columns.remarks(source), *troubles]:
        if remark is not None:
            remark(text)
    return series


def _parse(table: Records, first: int, data: bytes) -> None:
    """Take in lines one by one."""
    for at, line in enumerate(data.decode(errors="replace").split("\n"), first):
        table.row((name, text, at) for name, text in cells_of(line) or ())


def read_json(handle: BinaryIO, source: str) -> tuple[list[Series], str]:
    """The numbers of a JSON history, and what is wrong with the file if something is.

    Both common shapes are understood: a list of records (`log_history`) and lists under metric names (Keras).
    """
    text = "".join(text for _, text in blocks(handle, LARGEST_JSON))
    table, trouble = Records(), ""
    record: list[tuple[str, str, int]] = []
    here: tuple[str | int, ...] = ()
    lists: dict[str, list[Leaf]] = defaultdict(list)
    try:
        for leaf in leaves(text):
            *above, last = leaf.path or ("",)
            if isinstance(last, int):
                lists["/".join(str(key) for key in above)].append(leaf)
                continue
            depth = max((place for place, key in enumerate(leaf.path) if isinstance(key, int)), default=-1)
            if depth < 0:
                continue
            if leaf.path[: depth + 1] != here:
                table.row(record)
                record, here = [], leaf.path[: depth + 1]
            record.append(("/".join(str(key) for key in leaf.path[depth + 1 :]), leaf.text, leaf.line))
    except NotJson as error:
        trouble = str(error)
    table.row(record)
    for name, points in lists.items():
        for leaf in points:
            table.row([(name, leaf.text, leaf.line)])
    return table.columns.series(source), trouble
