"""Inputs far from zero mean and unit scale go into the model.

## What it finds
Pixels of 0 to 255, as images and `uint8` arrays hold them, that reach the first layer without having been divided or
standardised.

## Why it matters
Activations and gradients are hundreds of times too large: plain SGD diverges or kills its ReLUs, Adam starts slowly.

## Silent
Anything that divides, standardises or normalizes on the way, `ToTensor`, batch normalization as the first layer.
"""

from __future__ import annotations

from collections.abc import Iterator

from traindx.program.analysis import Analysis
from traindx.program.finding import Finding
from traindx.program.trace import Trace
from traindx.program.values import Items, Layer, Tensor, Value

ID = "unnormalised-inputs"


def check(analysis: Analysis) -> Iterator[Finding]:
    """Look at what the first layer of every model gets."""
    trace: Trace = analysis.trace
    for event in trace.of("fit-model"):
        if (
            isinstance(given := event.facts.get("x"), Tensor)
            and "pixels" in given.marks
            and not _rescales(event.subject)
        ):
            yield Finding(
                ID,
                event.place,
                "pixels of 0 to 255 are fitted as they are: nothing divides or standardises them",
                facts={"input_place": event.place.text},
            )
    done: set[int] = set()
    for event in trace.of("linear"):
        given = event.facts["before"]
        if not isinstance(given, Tensor) or "pixels" not in given.marks or id(event.subject) in done or not event.grad:
            continue
        done.add(id(event.subject))
        yield Finding(
            ID,
            event.calls[0] if event.calls else event.place,
            "pixels of 0 to 255 go into the first layer as they are: nothing divides or standardises them",
            facts={"input_place": event.place.text},
            also=(
                *(((given.made, "they become floats here, unscaled"),) if given.made is not None else ()),
                (event.place, "the first layer that gets them"),
            ),
        )
        return


def _rescales(model: Value) -> bool:
    """Whether a Keras model scales its inputs itself, or may."""
    if not isinstance(model, Layer) or model.kind != "keras Sequential":
        return True
    held = model.fields.get("@layers")
    kinds = {layer.kind for layer in held.items if isinstance(layer, Layer)} if isinstance(held, Items) else set()
    return not kinds or bool(
        kinds & {"keras Rescaling", "keras Normalization", "keras BatchNormalization", "keras Lambda"}
    )
