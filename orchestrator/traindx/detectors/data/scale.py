"""Inputs far from zero mean and unit scale: in the data, and in what a log prints of a batch."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from traindx.contract import Citation, Fact, Signal
from traindx.detectors.citing import cite_line
from traindx.detectors.data.places import array_name, cite_array, cite_cell
from traindx.readers.model import Excerpt
from traindx.readers.quoting import quote_of
from traindx.readers.tables.arrays import ArrayInfo
from traindx.readers.tables.column import ColumnInfo
from traindx.readers.tables.datatables import TableInfo
from traindx.vocabulary.data_names import is_input, is_label, split_of

SIGNALS = {
    "inputs-raw": "inputs in the data lie far from zero mean and unit scale, which may be mended on loading",
    "inputs-unscaled": "inputs in the data lie far from zero mean and unit scale, and the program does not scale them",
    "batch-unscaled": "a batch that the log describes lies far from zero mean and unit scale",
    "batch-scaled": "a batch that the log describes has a scale near one",
}

MOST_LINES = 400
FAR = 20.0
"""mean or deviation from which inputs are far from a unit scale: raw pixels have 30 to 130, standardised ones 1"""
NEAR = 6.0
APART = 1_000.0
"""between the widest and the narrowest feature"""
_INPUT = re.compile(
    r"\b(?:batch|inputs?|images?|pixels?|x|data|features?|xb|imgs?|samples?|waveforms?)\b", re.IGNORECASE
)
_NOT_INPUT = re.compile(
    r"\b(?:loss|grad\w*|weights?|params?|memory|mem|time|reward|logits?|outputs?|lr|norm|ids?|tokens?|labels?|targets?)\b",
    re.IGNORECASE,
)
_STATISTIC = r"(?<![a-z]){}\s*[=:]?\s*\(?\[?(-?\d[\d.]*(?:e[-+]?\d+)?)"
_SPOKEN = {"mean": "centred at", "std": "spread by", "min": "down to", "max": "up to"}
_WANTED = {name: re.compile(_STATISTIC.format(name), re.IGNORECASE) for name in ("mean", "std", "min", "max")}
_RANGE = re.compile(r"\brange\s*[=:]?\s*[\[(]?\s*(-?[\d.]+)\s*(?:,|\.\.\.?|to|-)\s*(-?[\d.]+)", re.IGNORECASE)
Data = TypeVar("Data", TableInfo, ArrayInfo)


@dataclass(frozen=True)
class _Finding:
    claim: str
    place: Citation
    facts: dict[str, Fact]


def in_data(tables: Sequence[TableInfo], arrays: Sequence[ArrayInfo], *, left_alone: bool) -> list[Signal]:
    """Features that are far off; `left_alone` where the program was seen and has nothing that scales."""
    found = next((row for row in map(_of_table, _train_first(tables)) if row is not None), None)
    found = found or next((row for row in map(_of_array, _train_first(arrays)) if row is not None), None)
    if found is None:
        return []
    name = "inputs-unscaled" if left_alone else "inputs-raw"
    return [Signal(id=name, claim=found.claim, citations=[found.place], facts=found.facts)]


def _train_first(rows: Sequence[Data]) -> list[Data]:
    return sorted(rows, key=lambda row: split_of(row.path) == "val")


def _of_table(table: TableInfo) -> _Finding | None:
    features = [column for column in table.columns if _is_feature(column)]
    widths = sorted((column.deviation or 0.0, column.name) for column in features if column.deviation)
    far = max(features, key=_size, default=None)
    if far is None or not widths or _size(far) < FAR:
        return None
    # A count or a price that is a little off does no harm: what counts is how far the features lie apart.
    apart = widths[-1][0] / widths[0][0]
    if _size(far) < 10 * FAR and apart < APART:
        return None
    narrow = f", while `{widths[0][1]}` has a deviation of {widths[0][0]:.3g}" if len(widths) > 1 else ""
    claim = f"`{far.name}` has a mean of {far.mean:.4g} and a deviation of {far.deviation:.4g}{narrow}"
    facts: dict[str, Fact] = {"scale_what": f"`{far.name}` of {table.path}", "scale_high": far.high or 0.0}
    return _Finding(claim, cite_cell(table, far, far.high_line, claim), facts)


def _is_feature(column: ColumnInfo) -> bool:
    few = 0 < len(column.values) <= 2
    if column.low is not None and column.high is not None and column.high - column.low + 1 == column.numbers > 2:
        return False  # as many values as whole numbers between them: it numbers the rows
    return is_input(column.name) and not column.texts and column.deviation is not None and not few


def _size(column: ColumnInfo) -> float:
    return max(abs(column.mean or 0.0), column.deviation or 0.0)


def _of_array(array: ArrayInfo) -> _Finding | None:
    named = array.member or array.path.rpartition("/")[2].rpartition(".")[0]
    if array.mean is None or array.deviation is None or len(array.shape) < 2 or is_label(named):
        return None
    # Whole numbers other than bytes are mostly token ids.
    if not (array.dtype.startswith("float") or array.dtype == "uint8"):
        return None
    if max(abs(array.mean), array.deviation) < FAR:
        return None
    claim = f"{array_name(array)} has a mean of {array.mean:.4g} and a deviation of {array.deviation:.4g}"
    facts: dict[str, Fact] = {"scale_what": array_name(array), "scale_high": array.high or 0.0}
    return _Finding(claim, cite_array(array, claim), facts)


def in_logs(heads: Iterable[Excerpt]) -> list[Signal]:
    """What the first line that describes a batch says of its scale."""
    for head in heads:
        for number, line in head.numbered():
            told = _batch(line)
            if told is None:
                continue
            size, high, text = told
            place = cite_line(head.source, number, f"the model is fed inputs {text}", quote_of(line))
            if size >= FAR:
                facts: dict[str, Fact] = {"scale_what": "the batch", "scale_high": high}
                claim = f"the model is fed inputs {text}: far from zero mean and unit scale"
                return [Signal(id="batch-unscaled", claim=claim, citations=[place], facts=facts)]
            if size <= NEAR:
                return [Signal(id="batch-scaled", claim=f"inputs are {text}", citations=[place])]
    return []


def _batch(line: str) -> tuple[float, float, str] | None:
    """The size of the inputs that a line describes, their highest value, and the description."""
    if len(line) > 400 or not _INPUT.search(line) or _NOT_INPUT.search(line):
        return None
    told = {name: float(found[1]) for name, wanted in _WANTED.items() if (found := wanted.search(line))}
    between = _RANGE.search(line)
    if between and "max" not in told:
        told |= {"min": float(between[1]), "max": float(between[2])}
    text = ", ".join(f"{_SPOKEN[name]} {value:g}" for name, value in told.items())
    if "std" in told and len(told) >= 2:
        return max(abs(told.get("mean", 0.0)), told["std"]), told.get("max", told["std"]), text
    if {"min", "max"} <= told.keys() and "dtype" not in line:
        return (told["max"] - told["min"]) / 4, told["max"], text
    return None
