"""Series that measure the same thing layer by layer, in the order from input to output."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from traindx.contract import SeriesSummary
from traindx.detectors.curves.loss import is_loss
from traindx.detectors.curves.objective import words_of
from traindx.readers import Run, Series

_NUMBERS = re.compile(r"(\d+)")
_AT_THE_INPUT = {
    "embed",
    "embedding",
    "embeddings",
    "input",
    "stem",
    "first",
    "early",
    "in",
    "bottom",
    "encoder",
    "enc",
}
_AT_THE_OUTPUT = {"head", "output", "out", "last", "late", "top", "classifier", "logits", "decoder", "dec", "final"}
_STATISTICS = {"bias", "max", "min", "std", "total", "scale", "clip", "clipped"}


def by_layer(series: Sequence[Series], *words: str) -> list[Series]:
    """The largest group of series of one file whose names hold one of the words, ordered from input to output."""
    groups: dict[str, list[Series]] = {}
    for row in series:
        measured = bool(words_of(row) & set(words)) or row.original.startswith("|g|")
        if len(row) and measured and not words_of(row) & _STATISTICS and row.name != "grad_norm":
            groups.setdefault(row.source, []).append(row)
    largest = max(groups.values(), key=len, default=[])
    return sorted(largest, key=_depth) if len(largest) > 1 else []


def level(row: Series) -> float:
    """The usual size over the whole run, NaN aside."""
    finite = np.abs(row.values[np.isfinite(row.values)])
    return float(np.median(finite)) if len(finite) else float("nan")


def _depth(row: Series) -> tuple[int, list[float]]:
    words = words_of(row)
    end = -1 if words & _AT_THE_INPUT else 1 if words & _AT_THE_OUTPUT else 0
    return end, [float(number) for number in _NUMBERS.findall(row.original)]


MOST_LINES = 4_000
FEWEST_LAYERS = 3
LONGEST = 240
_SIZE = re.compile(r"(?<![\w.])\d+(?:\.\d+)?(?:[eE][-+]?\d+)?(?![\w.])")
_NAMED_SIZE = re.compile(r"=\s{0,3}(\d+(?:\.\d+)?(?:[eE][-+]?\d+)?)(?![\w.])")
# `blocks.0.weight    |w| 4.002  |grad| 1.07e-08`, `fc1.weight grad_norm=0.003`.
_LAYER = re.compile(
    r"\s{0,40}[-*]?\s?"
    r"([A-Za-z_]\w{0,40}(?:\.\w{1,40}){1,8}|(?:layer|block|fc|conv|linear|hidden)[_ .]?\d{1,3})\b(.{1,200})$",
    re.IGNORECASE,
)
_GRADIENT = re.compile(
    r"\|?(?<![a-z])(?:grad(?:ient)?s?|g)(?:[_ .]?norm)?(?:\(\))?\|?\s{0,4}[:=]?\s{0,8}"
    r"(\d{1,20}(?:\.\d{1,20})?(?:e[-+]?\d{1,4})?)(?![\w.])",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Listing:
    """The sizes of the layers' gradients, from input to output, and where the first and the last of them stand."""

    sizes: tuple[float, ...]
    names: tuple[str, str]
    source: str
    places: tuple[tuple[int, str], ...]
    """line and text"""


def listed_gradients(run: Run) -> Listing | None:
    """The first list of gradients in the logs that names three layers or more."""
    for file in run.files:
        if file.role != "log":
            continue
        lines = run.lines(file.path, 1, MOST_LINES)
        found = next((one for one in (*_in_a_line(file.path, lines), *_below_each_other(file.path, lines))), None)
        if found is not None:
            return found
    return None


def _in_a_line(source: str, lines: list[str]) -> Iterator[Listing]:
    """`|grad| per layer: 1e-06 4e-06 0.5`."""
    for number, text in enumerate(lines, 1):
        named, _, numbers = text.partition(":")
        if "grad" not in named.lower() or "layer" not in named.lower():
            continue
        named_sizes = _NAMED_SIZE.findall(numbers)  # `L0=2.7e-11 L1=5.8e-11`
        sizes = tuple(float(size) for size in named_sizes or _SIZE.findall(numbers))
        if len(sizes) >= FEWEST_LAYERS:
            yield Listing(sizes, ("the first layer", "the last layer"), source, ((number, text.strip()[:LONGEST]),))


def _below_each_other(source: str, lines: list[str]) -> Iterator[Listing]:
    """A line for each layer, its gradient behind its name."""
    rows: list[tuple[str, float, int, str]] = []
    for number, text in enumerate([*lines, ""], 1):
        layer = _LAYER.match(text[:LONGEST])
        size = _GRADIENT.search(layer[2]) if layer else None
        if layer is not None and size is not None:
            rows.append((layer[1], float(size[1]), number, text.strip()[:LONGEST]))
            continue
        weights = [row for row in rows if not row[0].endswith("bias")]
        if len(weights) >= FEWEST_LAYERS:
            first, last = weights[0], weights[-1]
            sizes = tuple(row[1] for row in weights)
            yield Listing(sizes, (first[0], last[0]), source, ((first[2], first[3]), (last[2], last[3])))
        rows = []


def summarise(row: Series, judged: bool = False) -> SeriesSummary:
    """Where it begins, ends, is lowest and highest; NaN where no value is finite. The run may be `judged` by it."""
    finite = row.values[np.isfinite(row.values)]
    lowest, highest = (float(finite.min()), float(finite.max())) if len(finite) else (float("nan"), float("nan"))
    return SeriesSummary(
        name=row.name,
        original=row.original,
        source=row.source,
        axis=row.axis,
        points=len(row),
        start=float(row.at[0]),
        end=float(row.at[-1]),
        first=float(row.values[0]),
        last=float(row.values[-1]),
        lowest=lowest,
        highest=highest,
        non_finite=len(row) - len(finite),
        restarts=len(row.restarts),
        thinned=row.thinned,
        duplicate_of=row.duplicate_of,
        loss=judged or is_loss(row.name),
    )
