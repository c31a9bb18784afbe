"""Labels against the inputs beside them: do neighbours have the same label, and would they one row further?"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from traindx.contract import Citation, Fact, Signal
from traindx.detectors.citing import cite_line
from traindx.detectors.data.places import array_name, cite_array
from traindx.readers.tables.arrays import ArrayInfo
from traindx.readers.tables.samples import Samples
from traindx.vocabulary.data_names import is_input, is_label, split_of

if TYPE_CHECKING:
    import numpy.typing as npt

    Numbers = npt.NDArray[np.float64]

SIGNALS = {
    "labels-misaligned": "labels do not belong to the inputs beside them",
    "labels-noisy-in-train": "labels fit their inputs far worse in the training data than in the validation data",
}
MOST_CLASSES = 100
MOST_ROWS = 800
FEWEST_ROWS = 150
FURTHEST = 5
DIMENSIONS = 64
"""onto which wide inputs are projected: distances survive that"""
ABOVE = 0.3
"""agreement of neighbours above chance from which inputs tell the label"""


@dataclass(frozen=True)
class _Pair:
    """Inputs and labels, row by row, in stretches of neighbouring rows."""

    name: str
    split: str
    inputs: tuple[Numbers, ...]
    labels: tuple[Numbers, ...]
    places: tuple[Citation, ...]
    lengths: tuple[int, int]


def detect(samples: Sequence[Samples], arrays: Sequence[ArrayInfo], targets: Collection[str] = ()) -> list[Signal]:
    """Inputs and labels of different number, or labels that fit their inputs only after a shift, or not at all."""
    pairs = [*_in_tables(samples, targets), *_in_arrays(samples, arrays)]
    for pair in pairs:
        inputs, labels = pair.lengths
        if inputs != labels:
            claim = f"{pair.name}: {inputs:,} inputs but {labels:,} labels"
            facts: dict[str, Fact] = {"align_what": pair.name, "align_how": f"{inputs} inputs, {labels} labels"}
            return [Signal(id="labels-misaligned", claim=claim, citations=list(pair.places), facts=facts)]
    agreements = {place: agreement for place, pair in enumerate(pairs) if (agreement := _agreement(pair)) is not None}
    for place, (now, shifted, by) in agreements.items():
        if now < 0.1 and shifted > ABOVE:
            return [_shifted(pairs[place], now, shifted, by)]
    return _noisy(pairs, {place: row[0] for place, row in agreements.items()})


def _shifted(pair: _Pair, now: float, shifted: float, by: int) -> Signal:
    rows = "row" if abs(by) == 1 else "rows"
    claim = (
        f"{pair.name}: neighbouring inputs share their label no more often than chance ({now:+.0%}),"
        f" but {shifted:+.0%} above it with the labels moved by {abs(by)} {rows}"
    )
    facts: dict[str, Fact] = {"align_what": pair.name, "align_by": by, "align_how": f"moved by {abs(by)} {rows}"}
    return Signal(id="labels-misaligned", claim=claim, citations=list(pair.places), facts=facts)


def _noisy(pairs: Sequence[_Pair], agreement: dict[int, float]) -> list[Signal]:
    trains = [place for place in agreement if pairs[place].split == "train"]
    held = [place for place in agreement if pairs[place].split == "val"]
    for train in trains:
        for val in held:
            if agreement[val] > ABOVE and agreement[train] < 0.5 * agreement[val]:
                claim = (
                    f"neighbouring inputs share their label {agreement[train]:.0%} more often than chance in"
                    f" {pairs[train].name}, {agreement[val]:.0%} in {pairs[val].name}"
                )
                facts: dict[str, Fact] = {
                    "align_what": pairs[train].name,
                    "align_how": "mixed up, wholly or in part",
                }
                places = [*pairs[train].places, *pairs[val].places]
                return [Signal(id="labels-noisy-in-train", claim=claim, citations=places, facts=facts)]
    return []


def _in_tables(samples: Sequence[Samples], targets: Collection[str]) -> list[_Pair]:
    found = []
    for row in samples:
        named = (place for place, name in enumerate(row.columns) if is_label(name) or name in targets)
        label = next(named, None)
        if label is None or not row.stretches:
            continue
        features = [place for place, name in enumerate(row.columns) if is_input(name) and name not in targets]
        features = [place for place in features if all(np.isfinite(block[:, place]).all() for block in row.stretches)]
        if not features:
            continue
        claim = "inputs and labels of the rows from here on"
        found.append(
            _Pair(
                row.path,
                split_of(row.path),
                tuple(block[:, features] for block in row.stretches),
                tuple(block[:, label] for block in row.stretches),
                (cite_line(row.path, 2, claim),),
                (row.prints.rows, row.prints.rows),
            )
        )
    return found


def _in_arrays(samples: Sequence[Samples], arrays: Sequence[ArrayInfo]) -> list[_Pair]:
    """Arrays that belong together: `x_train` and `y_train`, `images` and `labels` of one folder and split."""
    taken = {(row.path, row.member): row for row in samples}
    known = [(info, taken[info.path, info.member]) for info in arrays if (info.path, info.member) in taken]
    targets = [pair for pair in known if is_label(_named(pair[0])) and len(pair[0].shape) == 1]
    found = []
    for info, row in known:
        if is_label(_named(info)) or len(info.shape) < 2:
            continue
        mine = [pair for pair in targets if _together(info, pair[0])]
        rivals = [other for other, _ in known if other is not info and len(other.shape) > 1 and _together(info, other)]
        if len(mine) != 1 or rivals:
            continue
        label, beside = mine[0]
        name = f"{array_name(info)} and {array_name(label)}"
        places = (cite_array(info, f"{info.shape[0]:,} inputs"), cite_array(label, f"{label.shape[0]:,} labels"))
        lengths = (info.shape[0], label.shape[0])
        labels = tuple(block[:, 0] for block in beside.stretches)
        found.append(_Pair(name, split_of(f"{info.path}/{_named(info)}"), row.stretches, labels, places, lengths))
    return found


def _named(info: ArrayInfo) -> str:
    return info.member or info.path.rpartition("/")[2].rpartition(".")[0]


def _together(one: ArrayInfo, other: ArrayInfo) -> bool:
    folders = one.path.rpartition("/")[0] == other.path.rpartition("/")[0]
    same = one.path == other.path if one.member else folders
    return same and split_of(_named(one)) == split_of(_named(other))


def _agreement(pair: _Pair) -> tuple[float, float, int] | None:
    """How much more often than chance nearest neighbours share a label; now, and at the best shift."""
    if any(len(inputs) != len(labels) for inputs, labels in zip(pair.inputs, pair.labels, strict=False)):
        return None
    inputs, labels = np.concatenate(pair.inputs), np.concatenate(pair.labels)
    edges = np.cumsum([0, *map(len, pair.labels)])
    if not np.isfinite(inputs).all() or not np.isfinite(labels).all() or len(labels) < FEWEST_ROWS:
        return None
    different, counts = np.unique(labels, return_counts=True)
    if not 2 <= len(different) <= MOST_CLASSES or not (different == np.round(different)).all():
        return None
    if counts.max() > 0.9 * len(labels):
        return None
    inside = np.concatenate([np.arange(a + FURTHEST, b - FURTHEST) for a, b in pairwise(edges.tolist())])
    chosen = inside[:: max(1, len(inside) // MOST_ROWS)][:MOST_ROWS]
    if len(chosen) < FEWEST_ROWS // 2:
        return None
    nearest = chosen[_nearest(inputs[chosen])]
    chance = float(np.sum((counts / len(labels)) ** 2))
    shifts = [by for by in range(-FURTHEST, FURTHEST + 1) if by]
    shares = {by: float(np.mean(labels[chosen + by] == labels[nearest + by])) - chance for by in (0, *shifts)}
    best = max(shifts, key=shares.__getitem__)
    return shares[0], shares[best], best


def _nearest(inputs: Numbers) -> npt.NDArray[np.int64]:
    """The row that lies nearest to each row, itself aside."""
    spread = inputs.std(axis=0)
    scaled = (inputs - inputs.mean(axis=0))[:, spread > 0] / spread[spread > 0]
    if scaled.shape[1] > DIMENSIONS:
        mixing = np.random.default_rng(0).normal(size=(scaled.shape[1], DIMENSIONS)) / np.sqrt(DIMENSIONS)
        scaled = scaled @ mixing
    sizes = np.square(scaled).sum(axis=1)
    distances = sizes[:, None] + sizes[None, :] - 2 * scaled @ scaled.T
    np.fill_diagonal(distances, np.inf)
    nearest: npt.NDArray[np.int64] = np.argmin(distances, axis=1)
    return nearest
