"""Opening what is cited of a checkpoint again: a tensor, a value beside it, a global of its pickle, its damage."""

from __future__ import annotations

import re
from collections.abc import Sequence

from traindx.contract import Citation
from traindx.diagnosis.evidence.numbers import Known, readings_of, spaced, values_in
from traindx.diagnosis.evidence.verify import Opened
from traindx.readers.checkpoints import Checkpoint

TENSOR = re.compile(r"\btensor `?([^`,\s]+)`?")
KEY = re.compile(r"\bkey `?([^`,\s]+)`?")
PICKLE = re.compile(r"\b(?:global|whole file)\b")


def names_checkpoint(citation: Citation) -> bool:
    """Whether a locator names a part of a checkpoint."""
    return any(place.search(citation.locator) for place in (TENSOR, KEY, PICKLE))


def in_checkpoint(citation: Citation, checkpoints: Sequence[Checkpoint]) -> tuple[Opened, Known]:
    """The verdict on the place, and the numbers that stand there."""
    files = [row for row in checkpoints if row.path == citation.source]
    if not files:
        return _refuted(f"`{citation.source}` is not a checkpoint of this run"), Known()
    tensor, key = TENSOR.search(citation.locator), KEY.search(citation.locator)
    if tensor:
        return _at_tensor(citation, tensor.group(1), files)
    if key:
        return _at_key(citation, key.group(1), files)
    quote = citation.quote.strip()
    said = [text for row in files for text in (*row.problems, *row.globals, *row.calls)]
    if quote and any(quote == text for text in said):
        return Opened(verified=True), Known(readings_of(quote))
    return _refuted(f"nothing of the kind was found in `{citation.source}`"), Known()


def _at_tensor(citation: Citation, name: str, files: Sequence[Checkpoint]) -> tuple[Opened, Known]:
    found = [tensor for row in files for tensor in row.tensors if name in {tensor.name, tensor.path}]
    if not found:
        return _refuted(f"`{citation.source}` has no tensor `{name}`"), Known()
    shape = found[0].shape
    known = Known([*(float(size) for size in shape), float(found[0].elements)])
    asked = [int(value) for value in values_in(spaced(citation.quote))]
    if asked == list(shape) or citation.quote.strip() in {found[0].dtype, str(shape)}:
        return Opened(verified=True), known
    if not citation.quote.strip():
        return Opened(verified=False, why="nothing is quoted"), known
    return _refuted(f"`{name}` has the shape {list(shape)}"), known


def _at_key(citation: Citation, name: str, files: Sequence[Checkpoint]) -> tuple[Opened, Known]:
    values = [row.scalars[name] for row in files if name in row.scalars]
    if not values:
        return _refuted(f"`{citation.source}` has no value `{name}`"), Known()
    known = Known([float(value) for value in values if isinstance(value, int | float)])
    if citation.quote.strip() in {str(value) for value in values}:
        return Opened(verified=True), known
    return _refuted(f"`{name}` is {values[0]} in `{citation.source}`"), known


def _refuted(why: str) -> Opened:
    return Opened(verified=False, why=why, refuted=True)
