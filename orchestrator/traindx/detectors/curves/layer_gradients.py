"""The gradients of a network layer by layer: as series of their own, or as a list that a log prints."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from traindx.contract import Fact, Signal
from traindx.detectors.citing import cite, cite_line
from traindx.detectors.curves.series import by_layer, level
from traindx.readers.model import Excerpt, Series
from traindx.readers.quoting import LONGEST_QUOTE

SIGNALS = {
    "gradients-vanish-towards-input": "the first layers' gradients are orders of magnitude below the last ones'",
    "gradients-even-over-layers": "the gradients of the first and last layers are of the same order",
}

# AutoTrainer calls early layers vanished below a thousandth of the late ones.
VANISHED = 1e-3
EVEN = 0.01
GRADIENT_WORDS = ("grad", "grads", "gradient", "gradients", "gn", "gnorm", "gradnorm")
MOST_LINES = 4_000
FEWEST_LAYERS = 3
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


def gradients_by_layer(series: Sequence[Series]) -> list[Series]:
    """The series of gradients that were logged layer by layer, from input to output."""
    return by_layer(series, *GRADIENT_WORDS)


def logged(layers: Sequence[Series]) -> list[Signal]:
    """What the series of `gradients_by_layer` say, the first of them against the last."""
    layers = [row for row in layers if level(row) >= 0]
    if len(layers) < 2 or level(layers[-1]) <= 0:
        return []
    first, last = layers[0], layers[-1]
    ratio = level(first) / level(last)
    claim = f"`{first.original}` is {level(first):.2g} where `{last.original}` is {level(last):.2g} (ratio {ratio:.1g})"
    facts: dict[str, Fact] = {
        "early_layer": first.original,
        "late_layer": last.original,
        "early_norm": level(first),
        "late_norm": level(last),
        "layer_ratio": ratio,
    }
    places = [cite(row, len(row) // 2, f"the gradient of `{row.original}`") for row in (first, last)]
    if ratio < VANISHED:
        strength = float(np.clip(np.log10(ratio + 1e-30) / np.log10(VANISHED) / 1.5, 0.6, 1.0))
        name = "gradients-vanish-towards-input"
        return [Signal(id=name, claim=claim, strength=strength, citations=places, facts=facts)]
    if 0.01 < ratio < 100:
        return [Signal(id="gradients-even-over-layers", claim=claim, citations=places, facts=facts)]
    return []


def listed(log_heads: Iterable[Excerpt]) -> list[Signal]:
    """What a list of gradients says, from input to output."""
    found = _listing(log_heads)
    if found is None or found.sizes[-1] <= 0:
        return []
    first, last = found.sizes[0], found.sizes[-1]
    ratio = first / last
    early, late = found.names
    claim = f"{first:.2g} in `{early}`, the first of {len(found.sizes)} layers, {last:.2g} in `{late}`"
    facts: dict[str, Fact] = {
        "early_layer": early,
        "late_layer": late,
        "early_norm": first,
        "late_norm": last,
        "layer_ratio": ratio,
    }
    places = [cite_line(found.source, line, claim, text) for line, text in found.places]
    if ratio >= VANISHED and ratio <= EVEN:
        return []
    name = "gradients-vanish-towards-input" if ratio < VANISHED else "gradients-even-over-layers"
    return [Signal(id=name, claim=claim, citations=places, facts=facts)]


@dataclass(frozen=True)
class Listing:
    """The sizes of the layers' gradients, from input to output, and where the first and the last of them stand."""

    sizes: tuple[float, ...]
    names: tuple[str, str]
    source: str
    places: tuple[tuple[int, str], ...]
    """line and text"""


def _listing(log_heads: Iterable[Excerpt]) -> Listing | None:
    """The first list of gradients in the logs that names three layers or more."""
    for head in log_heads:
        lines = head.lines
        found = next((one for one in (*_in_a_line(head.source, lines), *_below_each_other(head.source, lines))), None)
        if found is not None:
            return found
    return None


def _in_a_line(source: str, lines: Sequence[str]) -> Iterator[Listing]:
    """`|grad| per layer: 1e-06 4e-06 0.5`."""
    for number, text in enumerate(lines, 1):
        named, _, numbers = text.partition(":")
        if "grad" not in named.lower() or "layer" not in named.lower():
            continue
        named_sizes = _NAMED_SIZE.findall(numbers)  # `L0=2.7e-11 L1=5.8e-11`
        sizes = tuple(float(size) for size in named_sizes or _SIZE.findall(numbers))
        if len(sizes) >= FEWEST_LAYERS:
            yield Listing(
                sizes, ("the first layer", "the last layer"), source, ((number, text.strip()[:LONGEST_QUOTE]),)
            )


def _below_each_other(source: str, lines: Sequence[str]) -> Iterator[Listing]:
    """A line for each layer, its gradient behind its name."""
    rows: list[tuple[str, float, int, str]] = []
    for number, text in enumerate([*lines, ""], 1):
        layer = _LAYER.match(text[:LONGEST_QUOTE])
        size = _GRADIENT.search(layer[2]) if layer else None
        if layer is not None and size is not None:
            rows.append((layer[1], float(size[1]), number, text.strip()[:LONGEST_QUOTE]))
            continue
        weights = [row for row in rows if not row[0].endswith("bias")]
        if len(weights) >= FEWEST_LAYERS:
            first, last = weights[0], weights[-1]
            sizes = tuple(row[1] for row in weights)
            yield Listing(sizes, (first[0], last[0]), source, ((first[2], first[3]), (last[2], last[3])))
        rows = []
