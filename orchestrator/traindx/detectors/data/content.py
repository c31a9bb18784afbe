"""Data without content: arrays and columns of one value, empty shards."""

from __future__ import annotations

from collections.abc import Sequence

from traindx.contract import Fact, Signal
from traindx.detectors.data.places import array_name, cite_array, cite_cell
from traindx.readers.tables.arrays import ArrayInfo
from traindx.readers.tables.datatables import TableInfo
from traindx.vocabulary.data_names import is_input, is_label, split_of

SIGNALS = {"data-constant": "inputs, or most of their features, are one value in every row"}
FEWEST = 16
"""values from which a constant is no coincidence"""
MOST = 0.5
"""share of the features that must be constant: single dead columns are common and harmless"""
_NOT_INPUTS = (
    "mask", "weight", "bias", "hidden", "state", "init", "mean", "std", "scale", "prior", "done", "length",
    "token", "ids", "attn", "pad", "offset", "index", "target", "anno", "seg", "action", "reward",
)  # fmt: skip


def detect(tables: Sequence[TableInfo], arrays: Sequence[ArrayInfo]) -> list[Signal]:
    """The first array of inputs or table of features that says the same in every row."""
    for array in sorted(arrays, key=lambda row: split_of(row.path) == "val"):
        if array.constant and array.elements >= FEWEST and _fed(array):
            claim = f"all {array.elements:,} values of {array_name(array)} are {array.low:g}"
            facts: dict[str, Fact] = {"constant_what": array_name(array), "constant_value": array.low or 0.0}
            return [Signal(id="data-constant", claim=claim, citations=[cite_array(array, claim)], facts=facts)]
    for array in arrays:
        if _fed(array) and array.rows_seen >= FEWEST and array.rows_flat >= MOST * array.rows_seen:
            what = f"{array.rows_flat:,} of {array.rows_seen:,} rows of {array_name(array)}"
            claim = f"{what} hold one number throughout, first row {array.first_flat}"
            facts = {"constant_what": what, "constant_row": array.first_flat or 0}
            return [Signal(id="data-constant", claim=claim, citations=[cite_array(array, claim)], facts=facts)]
    for table in tables:
        features = [column for column in table.columns if is_input(column.name)]
        still = [
            column for column in features if column.numbers > 1 and column.low == column.high and not column.missing
        ]
        if table.rows >= FEWEST and len(still) >= 2 and len(still) >= MOST * len(features):
            names = ", ".join(f"`{column.name}`" for column in still[:4])
            claim = f"{len(still)} of {len(features)} features of {table.path} never change ({names})"
            place = cite_cell(table, still[0], still[0].high_line, claim)
            facts = {"constant_what": f"{len(still)} of {len(features)} features of {table.path}"}
            return [Signal(id="data-constant", claim=claim, citations=[place], facts=facts)]
    return []


def _fed(array: ArrayInfo) -> bool:
    """Whether its name leaves it an input of the model; rows of targets, masks and one-hot codes are often flat."""
    name = (array.member or array.path).lower()
    return not is_label(name.rpartition("/")[2].partition(".")[0]) and not any(word in name for word in _NOT_INPUTS)
