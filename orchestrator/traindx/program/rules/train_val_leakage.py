"""The same samples are in training and validation data.

## What it finds
Slices of one array that overlap and become training and validation data; data that is repeated or resampled before it
is split.

## Why it matters
Validation then measures what was memorised, and looks too good.

## Silent
Slices that meet at one index, splits before resampling, slices whose bounds are not known.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

from traindx.program.analysis import Analysis
from traindx.program.finding import Finding
from traindx.program.values import Made, Tensor, Value

ID = "train-val-leakage"


def check(analysis: Analysis) -> Iterator[Finding]:
    """Look at the data of every pair of loaders, and at what is split."""
    trace = analysis.trace
    loaders = [made for event in trace.of("loader") if isinstance(made := event.subject, Made)]
    for one, other in combinations(loaders, 2):
        shared = _overlap(_rows(one), _rows(other))
        if shared and other.place is not None and one.place is not None:
            low, high = shared
            yield Finding(
                ID,
                other.place,
                f"rows {low:g} to {high:g} are in both data sets",
                facts={"loader_place": other.place.text, "rows": f"{low:g} to {high:g}"},
                also=((one.place, "holds the same rows"),),
            )
            break
    for event in trace.of("split"):
        arrays = event.facts.get("arrays") or (event.subject,)
        if any("repeated" in part.marks for part in _tensors(arrays)):
            yield Finding(
                ID,
                event.place,
                "the data is repeated or resampled before it is split: copies of one sample end up on both sides",
                facts={"split_place": event.place.text},
            )


def _tensors(values: tuple[Value, ...]) -> Iterator[Tensor]:
    for value in values:
        if isinstance(value, Tensor):
            yield value
        elif isinstance(value, Made) and value.kind == "TensorDataset":
            yield from _tensors(value.args)


def _rows(made: Made) -> Tensor | None:
    data = made.argument(0, "dataset")
    if isinstance(data, Made) and data.kind == "TensorDataset" and data.args and isinstance(data.args[0], Tensor):
        return data.args[0]
    return None


def _overlap(one: Tensor | None, other: Tensor | None) -> tuple[float, float] | None:
    if one is None or other is None or not one.origin or one.origin != other.origin:
        return None
    if one.rows is None or other.rows is None or one.rows == other.rows:
        return None
    low, high = max(one.rows[0], other.rows[0]), min(one.rows[1], other.rows[1])
    # One inside the other is a subset on purpose: a few training samples to look at.
    inside = (low, high) in {one.rows, other.rows}
    return (low, high) if low < high and not inside else None
