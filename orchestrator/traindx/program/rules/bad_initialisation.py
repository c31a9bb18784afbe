"""Both factors of a low-rank product begin at zero.

## What it finds
A product of two parameters, or of two linear layers one after the other, both of which the program sets to zeros.

## Why it matters
The gradient of each factor is a multiple of the other one. Where both are zero neither ever changes: the adapter adds
nothing, however long it trains. One of the two has to begin with random numbers.

## Silent
One factor at zero, as LoRA wants it; parameters that are set again or restored from a file afterwards.
"""

from __future__ import annotations

from collections.abc import Iterator

from traindx.program.analysis import Analysis
from traindx.program.finding import Finding
from traindx.program.queries import module_layers
from traindx.program.trace import Event, Trace
from traindx.program.values import Layer, Tensor

ID = "bad-initialisation"


def check(analysis: Analysis) -> Iterator[Finding]:
    """Look at products that are zero on both sides."""
    trace = analysis.trace
    done: set[str] = set()
    for event in trace.of("null-product"):
        layers = event.subject.deps if isinstance(event.subject, Tensor) else frozenset[int]()
        layer = event.subject if isinstance(event.subject, Layer) else trace.layers.get(next(iter(layers), 0))
        if event.place.text in done or layer is None or _restored(analysis, trace, layer):
            continue
        done.add(event.place.text)
        zeroing = [row.place for row in trace.of("initialised") if _zeroes(row, _factors(trace, event, layer))]
        zero = zeroing[0] if zeroing else layer.place or event.place
        yield Finding(
            ID,
            zero,
            f"both factors of the product at {event.place.text} begin at zero: neither ever gets a gradient",
            facts={"zero_place": zero.text, "product_place": event.place.text},
            also=(
                *((place, "sets a factor to zeros") for place in zeroing[1:2]),
                (event.place, "the product of two zeros"),
            ),
        )


def _factors(trace: Trace, event: Event, layer: Layer) -> list[Layer]:
    """The layers on both sides of the product."""
    left = event.facts.get("left")
    numbers = left.deps if isinstance(left, Tensor) else frozenset[int]()
    return [layer, *(trace.layers[number] for number in numbers if number in trace.layers)]


def _zeroes(event: Event, layers: list[Layer]) -> bool:
    return event.facts["value"] == 0.0 and event.subject in layers


def _restored(analysis: Analysis, trace: Trace, layer: Layer) -> bool:
    """Whether values are loaded into a model that holds the layer."""
    return any(
        row.at > _made(trace, layer) and layer.number in module_layers(analysis, row.subject)
        for row in trace.of("load-state-dict")
    )


def _made(trace: Trace, layer: Layer) -> int:
    return next((event.at for event in trace.of("layer") if event.subject is layer), 0)
