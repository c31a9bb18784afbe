"""Labels: which values they have, whether the model has a class for each, and how often each occurs."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from traindx.contract import Citation, Fact, Signal
from traindx.definitions.rules import ErrorPattern
from traindx.detectors.data.places import array_name, cite_array, cite_cell, place_name
from traindx.readers.model import LogError
from traindx.readers.tables.arrays import ArrayInfo
from traindx.readers.tables.column import ColumnInfo
from traindx.readers.tables.datatables import TableInfo
from traindx.vocabulary.data_names import is_label, split_of

SIGNALS = {
    "label-outside-classes": "a label in the data lies outside the number of classes of the model",
    "label-stray": "a rare label in the data lies apart from all others",
}
FAMILY = "error-label-range"
RARE = 0.001
"""share of the rows below which a value that stands apart is a slip"""


@dataclass(frozen=True)
class Labels:
    """The labels of one table or array."""

    where: str
    split: str
    rows: int
    low: float
    high: float
    counts: Mapping[float, int]
    """how often each label occurs, where there are few"""
    changes: int
    table: TableInfo | None = field(default=None, repr=False)
    column: ColumnInfo | None = field(default=None, repr=False)
    array: ArrayInfo | None = field(default=None, repr=False)

    def cite(self, claim: str, *, highest: bool = True) -> Citation:
        """The first row with the highest (or the lowest) label, where rows can be told apart."""
        if self.table is not None and self.column is not None:
            line = self.column.high_line if highest else self.column.low_line
            return cite_cell(self.table, self.column, line, claim)
        if self.array is None:
            raise ValueError("labels come from a table or an array")
        return cite_array(self.array, claim)

    @property
    def named_column(self) -> dict[str, Fact]:
        """The column as a fact, where the labels are one."""
        return {"label_column": self.column.name} if self.column is not None else {}

    def place(self, *, highest: bool = True) -> str:
        """Where the highest (or the lowest) label stands first, as a person writes it."""
        if self.table is not None and self.column is not None:
            return place_name(self.table, self.column.high_line if highest else self.column.low_line)
        return self.where


def labels_of(tables: Sequence[TableInfo], arrays: Sequence[ArrayInfo], targets: Collection[str] = ()) -> list[Labels]:
    """Every column and array of whole-numbered labels, training data first; `targets` are labels by other names."""
    found = [*_of_tables(tables, targets), *_of_arrays(arrays)]
    return sorted(found, key=lambda row: (row.split == "val", row.where))


def _of_tables(tables: Sequence[TableInfo], targets: Collection[str]) -> Iterator[Labels]:
    for table in tables:
        for column in table.columns:
            named = is_label(column.name) or column.name in targets
            if not named or column.low is None or column.high is None or column.texts:
                continue
            try:
                counts = {float(text): count for text, count in column.values.items()}
            except ValueError:
                continue
            whole = column.low.is_integer() and column.high.is_integer() and all(map(float.is_integer, counts))
            if whole:
                where, split = f"`{column.name}` of {table.path}", split_of(table.path)
                low, high = column.low, column.high
                yield Labels(where, split, table.rows, low, high, counts, column.changes, table, column)


def _of_arrays(arrays: Sequence[ArrayInfo]) -> Iterator[Labels]:
    for array in arrays:
        name = array.member or array.path.rpartition("/")[2].rpartition(".")[0]
        if array.values and array.low is not None and array.high is not None and is_label(name):
            split = split_of(f"{array.path}/{name}")
            yield Labels(
                array_name(array),
                split,
                array.elements,
                array.low,
                array.high,
                array.values,
                array.changes,
                array=array,
            )


def outside(labels: Sequence[Labels], classes: int | None, ignored: frozenset[float]) -> list[Signal]:
    """A label that the model has no output for, or one that stands apart from all others."""
    for row in labels:
        low = min((value for value in row.counts if value not in ignored), default=row.low)
        if classes is not None and (row.high >= classes or (low < 0 and low not in ignored)):
            return [_outside(row, classes, low)]
        stray = _stray(row, ignored) if classes is None else None
        if stray is not None:
            return [stray]
    return []


def named(labels: Sequence[Labels], errors: Sequence[LogError], patterns: Sequence[ErrorPattern]) -> list[Signal]:
    """The row with the label that an error names as outside the classes: `Target 12 is out of bounds`."""
    families = [family for family in patterns if family.name == FAMILY]
    read = [found for row in errors for family in families if (found := family.found_in(row.text))]
    for label in dict.fromkeys(float(found["label"]) for found in read if "label" in found):
        row = next((one for one in labels if label in {one.high, one.low}), None)
        if row is not None:
            place = row.place(highest=label == row.high)
            times = f", {row.counts[label]:,} times in {row.rows:,} rows" if label in row.counts else ""
            claim = f"{row.where} has the label {label:g} that the error names{times}, first at {place}"
            facts: dict[str, Fact] = {"label": int(label), "label_place": place, **row.named_column}
            cited = row.cite(claim, highest=label == row.high)
            return [Signal(id="label-outside-classes", claim=claim, citations=[cited], facts=facts)]
    return []


def _outside(row: Labels, classes: int, low: float) -> Signal:
    highest = row.high >= classes
    label = row.high if highest else low
    times = f", {row.counts[label]:,} times in {row.rows:,} rows" if label in row.counts else ""
    claim = (
        f"{row.where} has the label {label:g}{times},"
        f" and a model with {classes} classes takes labels from 0 to {classes - 1}"
    )
    facts: dict[str, Fact] = {
        "label": int(label),
        "classes": classes,
        "label_place": row.place(highest=highest),
        "label_from": int(row.low),
        "label_to": int(row.high),
        **row.named_column,
    }
    place = row.cite(claim, highest=highest)
    return Signal(id="label-outside-classes", claim=claim, citations=[place], facts=facts)


def _stray(row: Labels, ignored: frozenset[float]) -> Signal | None:
    """A label far from the others that next to no row has."""
    usual = sorted(value for value, count in row.counts.items() if count > max(3, RARE * row.rows))
    rare = [value for value, count in row.counts.items() if count <= max(3, RARE * row.rows) and value not in ignored]
    if len(usual) < 2 or len(rare) != 1 or row.rows < 500:
        return None
    (label,) = rare
    dense = usual[-1] - usual[0] + 1 == len(usual)
    if not dense or usual[0] - 1 <= label <= usual[-1] + 1:
        return None
    claim = (
        f"{row.where} has the label {label:g} in {row.counts[label]:,} of {row.rows:,} rows,"
        f" and all others lie between {usual[0]:g} and {usual[-1]:g}"
    )
    highest = label == row.high
    facts: dict[str, Fact] = {"label": int(label), "label_place": row.place(highest=highest), **row.named_column}
    place = row.cite(claim, highest=highest)
    return Signal(id="label-stray", claim=claim, citations=[place], facts=facts)
