"""The same samples are in training and validation data.

## What it finds
Slices of one array that overlap and become training and validation data; data that is repeated or resampled before it
is split; overlapping windows of one series that are split at random; a loss over the labels of all rows, of which a
mask holds some out; a model that is made once and trained on through the folds of a cross-validation.

## Why it matters
Validation then measures what was memorised, and looks too good.

## Silent
Slices that meet at one index, splits before resampling, slices whose bounds are not known; windows that are split by
time, or that do not overlap; models that are made, copied or put back in each fold.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from itertools import combinations

from traindx.program.analysis import Analysis
from traindx.program.finding import Finding
from traindx.program.folding import kept_models
from traindx.program.held_rows import losses_over_held_rows
from traindx.program.library.tables import holds_copies
from traindx.program.parting import hand_splits
from traindx.program.queries import spelled
from traindx.program.trace import Event
from traindx.program.values import Instance, Items, Made, Place, Tensor, Value
from traindx.program.windowing import OVERLAPPING, windowed

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
        if any("repeated" in part.marks for part in _tensors(arrays)) or any(map(holds_copies, arrays)):
            yield Finding(
                ID,
                event.place,
                "the data is repeated or resampled before it is split: copies of one sample end up on both sides",
                facts={"split_place": event.place.text},
                also=_copied_at(arrays, event),
            )

    yield from _windows(analysis)
    for row in losses_over_held_rows(analysis):
        yield Finding(
            ID,
            row.loss,
            f"the loss takes `{row.labels}` whole, while `{row.mask}` holds rows of it out ({row.held.text}): their"
            " labels are trained on",
            facts={"split_place": row.loss.text},
            also=((row.held, "evaluates on rows that the loss has seen"),),
        )
    for trained, model_made in kept_models(analysis):
        yield Finding(
            ID,
            trained,
            "one model is trained through all folds: each is tested on rows that it learned from in a fold before",
            facts={"folds_place": trained.text},
            also=((model_made, "made once, before the folds"),),
        )
    for event, array in hand_splits(analysis):
        if "oversampled" in array.marks:
            yield Finding(
                ID,
                event.place,
                f"`{spelled(event.place.node)}` is a part of data that holds copies of its own rows: one sample ends up"
                " on both sides of the split",
                facts={"split_place": event.place.text},
                also=((joined, "puts the copies in"),) if (joined := _joined_at(event)) is not None else (),
            )


def _copied_at(arrays: tuple[Value, ...], split: Event) -> tuple[tuple[Place, str], ...]:
    """Where the copies of a table's rows were put in."""
    made = next((part for part in arrays if isinstance(part, Made) and holds_copies(part)), None)
    if made is None or made.place is None or made.place.text == split.place.text:
        return ()
    return ((made.place, "puts the copies in"),)


def _windows(analysis: Analysis) -> Iterator[Finding]:
    """Overlapping windows of one series that are dealt out at random: most have a neighbour on the other side."""
    for event in analysis.trace.of("split"):
        arrays = event.facts.get("arrays") or (event.subject,)
        whole = event.subject
        cut = windowed(whole.cls) if isinstance(whole, Instance) and whole.cls is not None else None
        if not _at_random(event) or not (cut or any(OVERLAPPING in part.marks for part in _tensors(arrays))):
            continue
        yield Finding(
            ID,
            event.place,
            "overlapping windows of one series are split at random: most validation windows share their values with"
            " training windows",
            facts={"split_place": event.place.text, "windows": "overlapping windows of one series"},
            also=((cut, "neighbouring samples overlap"),) if cut is not None else (),
        )


def _at_random(event: Event) -> bool:
    node = event.place.node
    if not isinstance(node, ast.Call):
        return False
    name = getattr(node.func, "attr", getattr(node.func, "id", ""))
    ordered = any(
        word.arg == "shuffle" and not (isinstance(word.value, ast.Constant) and word.value.value is True)
        for word in node.keywords
    )
    return name in {"random_split", "train_test_split"} and not ordered


def _joined_at(event: Event) -> Place | None:
    """The assignment that put an array and copies of its rows together."""
    node = event.place.node
    name = ast.unparse(node.value) if isinstance(node, ast.Subscript) else ""
    for part in event.place.unit.nodes.of(ast.Assign):
        if any(ast.unparse(target) == name for target in part.targets):
            return Place(event.place.unit, part)
    return None


def _tensors(values: tuple[Value, ...]) -> Iterator[Tensor]:
    for value in values:
        if isinstance(value, Tensor):
            yield value
        elif isinstance(value, Made) and value.kind == "TensorDataset":
            yield from _tensors(value.args)
        elif isinstance(value, Instance):
            yield from (
                part for part in value.fields.values() if isinstance(part, Tensor) and OVERLAPPING in part.marks
            )
        elif isinstance(value, Items):
            yield from (part for part in value.items if isinstance(part, Tensor))


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
