"""Metrics in tables: one JSON object per line, JSON histories such as Hugging Face's, and separated tables."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from typing import BinaryIO

from traindx.readers.logs.lines import blocks, numbered
from traindx.readers.model import Series
from traindx.readers.tables.csvtable import read_csv
from traindx.readers.tables.jsontext import Leaf, NotJson, leaves
from traindx.readers.tables.record import Records

__all__ = ["read_csv", "read_json", "read_jsonl"]

LARGEST_JSON = 32 << 20
_LINES_BETWEEN_BOUNDS = 50_000


def read_jsonl(handle: BinaryIO, source: str, remark: Callable[[str], None] | None = None) -> list[Series]:
    """The numbers of a file with one JSON object per line."""
    table = Records()
    for number, line in numbered(handle):
        if number % _LINES_BETWEEN_BOUNDS == 0:
            table.columns.bound()
        if line.lstrip().startswith("{"):
            try:
                record = json.loads(line, parse_float=_Spelled, parse_int=_Spelled, parse_constant=_Spelled)
            except (ValueError, RecursionError):
                continue
            table.row((name, text, number) for name, text in _flat(record))
    table.columns.bound()
    series = table.columns.series(source)
    for text in table.columns.remarks(source):
        if remark is not None:
            remark(text)
    return series


class _Spelled(str):
    """A JSON number, kept as it is spelt."""

    __slots__ = ()


def _flat(record: Mapping[str, object], above: str = "", depth: int = 0) -> Iterator[tuple[str, str]]:
    for key, value in record.items():
        name = f"{above}/{key}" if above else key
        if isinstance(value, str):
            yield name, value
        elif isinstance(value, dict) and depth < 4:
            yield from _flat(value, name, depth + 1)


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
