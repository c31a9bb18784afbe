"""Metrics in tables: CSV of any separator, one JSON object per line, and JSON histories such as Hugging Face's."""

from __future__ import annotations

import csv
import json
import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from typing import BinaryIO

from traindx.artifacts.columns import Column, Columns
from traindx.artifacts.jsontext import Leaf, NotJson, leaves
from traindx.artifacts.lines import blocks, numbered
from traindx.artifacts.model import Series
from traindx.artifacts.names import MetricName, normalise

LARGEST_JSON = 32 << 20
_WIDEST_CELL = 100_000
_SEPARATORS = "\t;,|"
_NOT_NUMBERS = {"", "-", "none", "null", "n/a", "na"}


class _Table:
    """Rows of named cells, as columns."""

    def __init__(self) -> None:
        self.columns = Columns()
        self._homes: dict[tuple[str, str], Column | None] = {}

    def row(self, cells: Iterable[tuple[str, str, int]]) -> None:
        """Take in a row: the name, spelling and line of each cell."""
        epoch = step = None
        measured: list[tuple[str, MetricName, float, str, int]] = []
        for name, text, line in cells:
            value = _number(text)
            if value is None:
                continue
            metric = normalise(name)
            if metric.kind == "epoch":
                epoch = value if math.isfinite(value) else epoch
            elif metric.kind == "step":
                step = value if math.isfinite(value) and step is None else step
            else:
                measured.append((name, metric, value, text, line))
        counted_by = "step" if step is not None else "epoch" if epoch is not None else "row"
        for name, metric, value, text, line in measured:
            key = (name, counted_by)
            if key not in self._homes:
                self._homes[key] = self.columns.column(name, metric, counted_by)
            column = self._homes[key]
            if column is not None:
                column.add(value, text, line, epoch, step)


def read_csv(handle: BinaryIO, source: str) -> list[Series]:
    """The numeric columns of a separated table with a header; a repeated header starts the columns anew."""
    table, header = _Table(), list[str]()
    lines = _Lines(handle)
    separator = ""
    for line in lines:
        if not line.strip() or (not header and line.startswith("#")):
            continue
        separator = separator or max(_SEPARATORS, key=line.count)
        try:
            cells = [cell.strip() for cell in next(csv.reader([line, *lines.rest_of_cell(line)], delimiter=separator))]
        except (csv.Error, StopIteration):
            continue
        if not header or _is_header(cells):
            header = cells
        else:
            table.row((name, text, lines.number) for name, text in zip(header, cells, strict=False) if name)
    return table.columns.series(source)


class _Lines:
    """The lines of a file, with the number of the one that was handed out last."""

    def __init__(self, handle: BinaryIO) -> None:
        self.number = 0
        self._numbered = numbered(handle)

    def __iter__(self) -> Iterator[str]:
        for number, line in self._numbered:
            self.number = number
            yield line.rstrip("\r")[:_WIDEST_CELL]

    def rest_of_cell(self, line: str) -> list[str]:
        """The lines that a quoted cell with line breaks goes on over."""
        rest: list[str] = []
        quotes = line.count('"')
        while quotes % 2 and len(rest) < 50:
            following = next(self._numbered, None)
            if following is None:
                break
            rest.append("\n" + following[1])
            quotes += following[1].count('"')
        return rest


def _is_header(cells: list[str]) -> bool:
    return all(_number(cell) is None for cell in cells) and any(normalise(cell).kind != "other" for cell in cells)


def is_one_record_per_line(head: bytes) -> bool:
    """Whether a file that begins like this holds a JSON object per line; a pretty-printed object does not."""
    first, _, rest = head.partition(b"\n")
    if not first.startswith(b"{") or not first.rstrip().endswith(b"}"):
        return False
    return not rest.strip() or rest.lstrip().startswith(b"{")


def read_jsonl(handle: BinaryIO, source: str) -> list[Series]:
    """The numbers of a file with one JSON object per line."""
    table = _Table()
    for number, line in numbered(handle):
        if line.lstrip().startswith("{"):
            try:
                record = json.loads(line, parse_float=_Spelled, parse_int=_Spelled, parse_constant=_Spelled)
            except (ValueError, RecursionError):
                continue
            table.row((name, text, number) for name, text in _flat(record))
    return table.columns.series(source)


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
    table, trouble = _Table(), ""
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


def _number(text: str) -> float | None:
    if not text or len(text) > 60 or text.lower() in _NOT_NUMBERS:
        return None
    try:
        return float(text[:-1] if text.endswith("%") else text)
    except ValueError:
        return None
