"""NaN, Inf and empty cells among the numbers that a model is fed."""

from __future__ import annotations

from collections.abc import Sequence

from traindx.contract import Fact, Signal
from traindx.detectors.data.places import array_name, cite_array, cite_cell, place_name
from traindx.readers.tables.arrays import ArrayInfo
from traindx.readers.tables.column import ColumnInfo
from traindx.readers.tables.datatables import TableInfo
from traindx.vocabulary.data_names import is_input, is_label, split_of

SIGNALS = {"data-not-finite": "NaN, Inf or empty cells among the numbers of the data"}
MOST_PLACES = 4


def detect(tables: Sequence[TableInfo], arrays: Sequence[ArrayInfo]) -> list[Signal]:
    """The columns and arrays with numbers that are none, training data first."""
    holes = [(table, column) for table in tables for column in table.columns if _has_holes(column)]
    spoilt = [array for array in arrays if array.not_finite and array.low is not None]
    holes.sort(key=lambda found: (split_of(found[0].path) == "val", found[1].missing))
    spoilt.sort(key=lambda array: split_of(array.path) == "val")
    if not holes and not spoilt:
        return []
    places = [cite_cell(table, column, column.first_missing, _said(table, column)) for table, column in holes]
    places += [cite_array(array, _told(array)) for array in spoilt]
    claim = _said(*holes[0]) if holes else _told(spoilt[0])
    facts: dict[str, Fact] = {"data_place": array_name(spoilt[0])} if not holes else {}
    if holes:
        table, column = holes[0]
        facts = {
            "data_place": place_name(table, column.first_missing),
            "data_column": column.name,
            "data_missing": column.missing,
            "data_rows": table.rows,
        }
    return [Signal(id="data-not-finite", claim=claim, citations=places[:MOST_PLACES], facts=facts)]


def _has_holes(column: ColumnInfo) -> bool:
    fed = is_input(column.name) or is_label(column.name)
    return fed and column.missing > 0 and column.numbers > 10 * column.texts


def _said(table: TableInfo, column: ColumnInfo) -> str:
    return (
        f"`{column.name}` has {column.missing:,} missing or non-finite values in {table.rows:,} rows,"
        f" the first at {place_name(table, column.first_missing)}"
    )


def _told(array: ArrayInfo) -> str:
    width = array.elements // array.shape[0] if array.shape and array.shape[0] else 1
    row = "" if array.first_bad is None else f", the first in row {array.first_bad // max(1, width)}"
    return f"{array_name(array)} holds {array.not_finite:,} NaN or Inf among {array.sampled:,} values{row}"
