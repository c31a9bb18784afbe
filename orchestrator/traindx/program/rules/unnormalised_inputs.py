"""Inputs far from zero mean and unit scale go into the model.

## What it finds
Pixels of 0 to 255, as images and `uint8` arrays hold them, that reach the first layer without having been divided or
standardised; a scaler that is fitted and whose `transform` is called for nothing: what it returns is dropped.

## Why it matters
Activations and gradients are hundreds of times too large: plain SGD diverges or kills its ReLUs, Adam starts slowly.

## Silent
Anything that divides, standardises or normalizes on the way, `ToTensor`, batch normalization as the first layer.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from traindx.program.analysis import Analysis
from traindx.program.finding import Finding
from traindx.program.trace import Event, Trace
from traindx.program.values import Items, Layer, Made, Tensor, Value

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
    yield from _for_nothing(trace)
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


def _for_nothing(trace: Trace) -> Iterator[Finding]:
    """`scaler.transform(x)` as a statement: it returns the scaled data and changes nothing in place."""
    dropped = {id(event.place.node.value) for event in trace.of("discarded") if isinstance(event.place.node, ast.Expr)}
    rows = trace.of("transformed")
    lost = [event for event in rows if id(event.place.node) in dropped and not _in_place(event)]
    kept = [event.subject for event in rows if id(event.place.node) not in dropped]
    for event in lost[:1]:
        if any(event.subject is one for one in kept) or not trace.of("backward", "fit-model", "fit-estimator"):
            continue
        fitted = next((row.place for row in trace.of("fit") if row.subject is event.subject), None)
        yield Finding(
            ID,
            event.place,
            "the scaled data is thrown away here: `transform` returns it and changes nothing in place, so the model"
            " gets the data as it was",
            facts={"input_place": event.place.text, "dropped_place": event.place.text},
            also=((fitted, "the scaler is fitted here"),) if fitted is not None else (),
        )


def _in_place(event: Event) -> bool:
    """Whether the scaler was told to write into what it is given (`copy=False`)."""
    own, call = event.subject, event.place.node
    words = own.keywords if isinstance(own, Made) else {}
    told = isinstance(call, ast.Call) and any(part.arg == "copy" for part in call.keywords)
    return told or "copy" in words


def _rescales(model: Value) -> bool:
    """Whether a Keras model scales its inputs itself, or may."""
    if not isinstance(model, Layer) or model.kind != "keras Sequential":
        return True
    held = model.fields.get("@layers")
    kinds = {layer.kind for layer in held.items if isinstance(layer, Layer)} if isinstance(held, Items) else set()
    return not kinds or bool(
        kinds & {"keras Rescaling", "keras Normalization", "keras BatchNormalization", "keras Lambda"}
    )
