"""Samples in Parquet files, batch by batch, where the library that reads them is installed."""

from __future__ import annotations

from typing import TYPE_CHECKING, BinaryIO

from traindx.readers.coverage import Allowance
from traindx.readers.tables.column import Column
from traindx.readers.tables.datatables import TableInfo

if TYPE_CHECKING:
    from traindx.readers.logs.bulk.digits import Places

_ROWS = 65_536
_MOST_COLUMNS = 200


def read_parquet_table(
    handle: BinaryIO, path: str, allowance: Allowance | None = None
) -> tuple[TableInfo | None, list[str]]:
    """The numeric columns of a table of samples; rows are counted from 1."""
    try:
        import numpy as np
        import pyarrow
        import pyarrow.parquet
        import pyarrow.types
    except ImportError:
        return None, []  # the reader of series says so already
    allowance = allowance or Allowance()
    rows = 0
    try:
        file = pyarrow.parquet.ParquetFile(handle)
        kinds = {field.name: field.type for field in file.schema_arrow}
        names = [name for name, kind in kinds.items() if _is_number(pyarrow.types, kind)][:_MOST_COLUMNS]
        columns = [Column(name[:100]) for name in names]
        for batch in file.iter_batches(batch_size=_ROWS, columns=names):
            lines = rows + 1 + np.arange(batch.num_rows)
            for column, values in zip(columns, batch.columns, strict=True):
                numbers = values.to_numpy(zero_copy_only=False).astype(np.float64)

                def spell(chosen: Places, numbers: Places = numbers) -> bytes:
                    return b"".join(b"%r\n" % float(value) for value in numbers[chosen])

                column.take_many(numbers, None, lines, spell)
            rows += batch.num_rows
            if allowance.spent():
                break
        whole = file.metadata.num_rows
    except (pyarrow.ArrowException, OSError, ValueError) as error:
        return None, [f"`{path}` is damaged: {' '.join(str(error).split())[:200]}"]
    if not rows or not columns:
        return None, []
    allowance.note(rows, whole)
    return TableInfo(path, tuple(column.info() for column in columns), rows, rows == whole), []


def _is_number(types: object, kind: object) -> bool:
    return any(getattr(types, f"is_{name}")(kind) for name in ("integer", "floating", "boolean"))
