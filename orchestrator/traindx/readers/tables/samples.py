"""A closer look at the data: stretches of rows as numbers, and a fingerprint of every row, in bounded memory."""

from __future__ import annotations

import json
import lzma
import math
import zipfile
import zlib
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, BinaryIO, cast

from traindx.readers.checkpoints.archive import opened
from traindx.readers.coverage import Allowance, Timer
from traindx.readers.logs.lines import RawBlocks
from traindx.readers.tables.arrays import ArrayInfo, array_header
from traindx.readers.tables.column import ColumnInfo, number_in
from traindx.readers.tables.datatables import TableInfo, split_cells
from traindx.readers.tables.parquetsamples import read_rows
from traindx.vocabulary.data_names import is_input, is_name_of_row

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from traindx.readers.run import Run

STRETCHES = 5
ROWS = 400
"""rows of each stretch; rows of one stretch follow each other in the file"""
MOST_FEATURES = 4_096
MOST_PRINTS = 100_000
MOST_PARSED = 200_000
"""rows of a table whose cells are told apart for it"""
SECONDS = 12.0
"""for all files together"""
UNSOUND = (
    OSError, ValueError, TypeError, KeyError, SyntaxError, EOFError, RuntimeError, zipfile.BadZipFile, zlib.error,
    lzma.LZMAError,
)  # fmt: skip


@dataclass
class Prints:
    """Fingerprints of rows. When they become too many, only those that a growing number divides are kept."""

    kept: dict[int, int] = field(default_factory=dict)
    """by fingerprint, the first line (or row, of an array) that has it"""
    rows: int = 0
    divisor: int = 1
    again: int = 0
    """rows whose fingerprint was there already"""

    def take(self, first: int, prints: Sequence[int]) -> None:
        """Take in the fingerprints of further rows, the first of which stands in this line."""
        self.rows += len(prints)
        for line, one in enumerate(prints, first):
            if one % self.divisor == 0:
                self.again += one in self.kept
                self.kept.setdefault(one, line)
        while len(self.kept) > MOST_PRINTS:
            self.divisor *= 2
            self.kept = {one: line for one, line in self.kept.items() if one % self.divisor == 0}

    def shared_with(self, other: Prints) -> list[tuple[int, int]]:
        """The lines of rows that both have, here and there; of sparse fingerprints those that both could keep."""
        return sorted((line, other.kept[one]) for one, line in self.kept.items() if one in other.kept)

    def comparable(self, other: Prints) -> int:
        """How many of the rows kept here the other would have kept as well."""
        divisor = max(self.divisor, other.divisor)
        return sum(one % divisor == 0 for one in self.kept)


@dataclass(frozen=True)
class Samples:
    """What was looked at closely in one file (or one array of it)."""

    path: str
    member: str = ""
    columns: tuple[str, ...] = ()
    stretches: tuple[npt.NDArray[np.float64], ...] = ()
    """rows by columns; NaN where a cell is no number"""
    prints: Prints = field(default_factory=Prints)
    width: int = 0
    """bytes of a row on average: short rows repeat by chance"""
    inputs: Prints = field(default_factory=Prints)
    """fingerprints of what is fed to a model alone, where a row has ids or labels beside it"""
    input_width: int = 0


def read_samples(run: Run) -> list[Samples]:
    """The closer look at every table and array of the run, as far as the time allows."""
    timer = Timer(SECONDS)
    found: list[Samples] = []
    tables = {row.path: row for row in run.tables}
    arrays: dict[str, list[ArrayInfo]] = {}
    for row in run.arrays:
        arrays.setdefault(row.path, []).append(row)
    for path in sorted({*tables, *arrays}):
        if found and timer.spent():
            break
        try:
            with run.scope.open(path) as handle:
                if path in tables:
                    found += _of_table(handle, tables[path], timer)
                else:
                    found += _of_arrays(handle, arrays[path], timer)
        except UNSOUND:
            continue  # what is wrong with the file was remarked when it was read
    return found


def _of_table(handle: BinaryIO, table: TableInfo, timer: Timer) -> list[Samples]:
    import numpy as np

    suffix = PurePosixPath(table.path).suffix.lower()
    if suffix == ".parquet":
        return [_of_parquet(handle, table, timer)]
    separated = suffix in {".csv", ".tsv"}
    names = tuple(column.name for column in table.columns)
    wanted = _stretches(table.rows)
    prints, width, row = Prints(), 0, -1
    inputs, input_width = Prints(), 0
    fed = frozenset(place for place, name in enumerate(names) if is_input(name))
    named = any(is_name_of_row(name) for name in names) and 0 < len(fed) < len(names)
    taken: list[list[list[float]]] = [[] for _ in wanted]
    counted = _counter_first(table)
    separator = ""
    for block, data in RawBlocks(handle, allowance=Allowance(timer)):
        first = block
        lines = data.rstrip(b"\n").split(b"\n")
        if first == 1 and separated:
            separator = max("\t;,|", key=lines[0][:4_000].decode(errors="replace").count)
            headed = not names[0].startswith("column ")
            first, lines = (first + 1, lines[1:]) if headed else (first, lines)
        width += len(data)
        own = [line.partition(separator.encode())[2] for line in lines] if counted and separator else lines
        prints.take(first, [hash(line.strip()) for line in own])
        if named and table.rows <= MOST_PARSED:
            parsed = [_input_of(line, separator, fed, names) for line in lines]
            inputs.take(first, [hash(text) for text in parsed])
            input_width += sum(map(len, parsed))
        for place, (begin, end) in enumerate(wanted if separated else ()):
            for line in lines[max(0, begin - row - 1) : max(0, end - row - 1)]:
                cells = split_cells(line.decode(errors="replace"), separator)[: len(names)]
                numbers = [number_in(cell) for cell in cells] + [None] * (len(names) - len(cells))
                taken[place].append([math.nan if value is None else value for value in numbers])
        row += len(lines)
    stretches = tuple(np.array(rows, dtype=np.float64) for rows in taken if rows)
    mean = width // max(1, prints.rows)
    return [Samples(table.path, "", names, stretches, prints, mean, inputs, input_width // max(1, inputs.rows))]


def _input_of(line: bytes, separator: str, fed: Collection[int], names: Sequence[str]) -> str:
    """The cells of a row that are fed to a model, without spaces and capitals."""
    text = line.decode(errors="replace")
    if separator:
        cells = [cell for place, cell in enumerate(split_cells(text, separator)) if place in fed]
    else:
        try:
            record = json.loads(text)
        except ValueError:
            return text
        wanted = {names[place] for place in fed}
        cells = [str(value) for key, value in record.items() if key in wanted] if isinstance(record, dict) else [text]
    return " ".join(" ".join(cells).casefold().split())


def _of_parquet(handle: BinaryIO, table: TableInfo, timer: Timer) -> Samples:
    import numpy as np

    numbering = {column.name for column in table.columns if _numbers_rows(column)} if len(table.columns) > 2 else set()
    prints, width, wanted = Prints(), 0, _stretches(table.rows)
    taken: list[list[npt.NDArray[np.float64]]] = [[] for _ in wanted]
    for first, own, size, rows in read_rows(handle, table, numbering.__contains__, timer):
        prints.take(first + 1, own)
        width += size
        for place, (begin, end) in enumerate(wanted):
            taken[place].append(rows[max(0, begin - first) : max(0, end - first)])
    stretches = tuple(np.concatenate(blocks) for blocks in taken if sum(map(len, blocks)))
    names = tuple(column.name for column in table.columns)
    return Samples(table.path, "", names, stretches, prints, width // max(1, prints.rows))


def _counter_first(table: TableInfo) -> bool:
    """Whether the first column only numbers the rows: it is left out of the fingerprints."""
    return len(table.columns) > 2 and _numbers_rows(table.columns[0])


def _numbers_rows(column: ColumnInfo) -> bool:
    named = column.name.lower() in {"", "id", "idx", "index", "unnamed: 0", "row", "column 1", "sample_id", "uid"}
    counts = column.low is not None and column.high is not None and column.high - column.low + 1 >= column.numbers > 1
    return named and counts and not column.values


def _of_arrays(handle: BinaryIO, infos: Sequence[ArrayInfo], timer: Timer) -> list[Samples]:
    sound = [info for info in infos if info.sampled and info.shape and info.shape[0] > 1]
    if not sound or not sound[0].member:
        return [_of_array(handle, info, timer) for info in sound]
    archive = opened(handle)
    found: list[Samples] = []
    if archive is None:
        return found
    with archive:
        for info in sound:
            if info.elements <= 1 << 28 and not (found and timer.spent()):
                with archive.open(f"{info.member}.npy") as inner:
                    found.append(_of_array(cast("BinaryIO", inner), info, timer))
    return found


def _of_array(handle: BinaryIO, info: ArrayInfo, timer: Timer) -> Samples:
    """The rows of an array, read from its start to its end."""
    import numpy as np

    descr, shape, _ = array_header(handle)
    dtype: np.dtype[np.generic] = np.dtype(descr)  # type: ignore[call-overload]
    size = math.prod(shape[1:]) * dtype.itemsize
    prints, wanted = Prints(), _stretches(shape[0])
    taken: list[list[npt.NDArray[np.float64]]] = [[] for _ in wanted]
    if not 0 < size <= 64 << 20:
        return Samples(info.path, info.member)
    for first, rows in _rows(handle, shape[0], size, timer):
        # A vector of labels has no rows to tell apart.
        if len(shape) > 1 and size >= 16:
            prints.take(first, [hash(row) for row in rows])
        for place, (begin, end) in enumerate(wanted):
            inside = rows[max(0, begin - first) : max(0, end - first)]
            if inside:
                block = np.frombuffer(b"".join(inside), dtype).reshape(len(inside), -1)[:, :MOST_FEATURES]
                taken[place].append(block.real.astype(np.float64))
    stretches = tuple(np.concatenate(blocks) for blocks in taken if blocks)
    return Samples(info.path, info.member, (), stretches, prints, size)


def _rows(handle: BinaryIO, count: int, size: int, timer: Timer) -> Iterator[tuple[int, list[bytes]]]:
    """All rows, some megabytes of them at a time, each with the number of its first."""
    at_once = max(1, (4 << 20) // size)
    for first in range(0, count, at_once):
        raw = handle.read(size * min(at_once, count - first))
        whole = len(raw) // size
        yield first, [raw[place * size : (place + 1) * size] for place in range(whole)]
        if whole < at_once or timer.spent():
            return


def _stretches(rows: int) -> list[tuple[int, int]]:
    """The rows to look at: the beginning, the end and places between; all of them where there are few."""
    if rows <= STRETCHES * ROWS:
        return [(0, rows)]
    starts = [(rows - ROWS) * place // (STRETCHES - 1) for place in range(STRETCHES)]
    return [(start, start + ROWS) for start in starts]
