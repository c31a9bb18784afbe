"""Metrics in Parquet files, where the library that reads them is installed."""

from __future__ import annotations

from typing import TYPE_CHECKING, BinaryIO

from traindx.readers.model import Axis, Series
from traindx.vocabulary.metrics import MetricName, normalise

if TYPE_CHECKING:
    from traindx.readers.model import Numbers

MOST_ROWS = 5_000_000
MOST_COLUMNS = 400
_TELLING = frozenset({"loss", "accuracy"})


def read_parquet(handle: BinaryIO, source: str) -> tuple[list[Series], list[str]]:
    """The numeric columns of a table that holds a loss or an accuracy; other tables are data, not metrics."""
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        return [], [f"`{source}` was not read: Parquet needs `pip install 'traindx[parquet]'`"]
    try:
        file = pyarrow.parquet.ParquetFile(handle)
        names = [field.name for field in file.schema_arrow if _is_number(field.type)]
        metrics = {name: normalise(name) for name in names[:MOST_COLUMNS]}
        if not any(metric.kind in _TELLING for metric in metrics.values()):
            return [], []
        rows = file.metadata.num_rows
        remarks = [f"`{source}` has {rows:,} rows and was not read: it holds samples"] if rows > MOST_ROWS else []
        table = None if remarks else file.read(columns=list(metrics))
    except (pyarrow.ArrowException, OSError, ValueError) as error:
        return [], [f"`{source}` is damaged: {' '.join(str(error).split())[:200]}"]
    if table is None:
        return [], remarks
    columns = {name: table.column(name).to_numpy().astype("float64") for name in metrics}
    return _series(columns, metrics, source), []


def _is_number(kind: object) -> bool:
    import pyarrow.types

    return bool(pyarrow.types.is_integer(kind) or pyarrow.types.is_floating(kind))


def _series(columns: dict[str, Numbers], metrics: dict[str, MetricName], source: str) -> list[Series]:
    import numpy as np

    counters = {
        metrics[name].kind: values for name, values in columns.items() if metrics[name].kind in {"step", "epoch"}
    }
    found = []
    for name, values in columns.items():
        if metrics[name].kind in {"step", "epoch"}:
            continue
        # A cell that is null in a sparse table is not a point; a NaN that was written looks the same in Parquet.
        present = np.flatnonzero(np.isfinite(values))
        axis: Axis = "step" if "step" in counters else "epoch" if "epoch" in counters else "row"
        at: Numbers = counters[axis][present] if axis in counters else (present + 1).astype(np.float64)
        if len(present):
            place = metrics[name].name
            found.append(Series(place, name, source, axis, at, values[present], present + 1, place="record"))
    return found
