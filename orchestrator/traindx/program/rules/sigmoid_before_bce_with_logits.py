"""Sigmoid is applied twice.

## What it finds
A sigmoid (or softmax) as the last thing done to what `BCEWithLogitsLoss` gets.

## Why it matters
The loss applies a sigmoid itself: predictions are squeezed into 0.5 to 0.73, gradients are small, and the positive
class can never be excluded.

## Silent
Logits; a sigmoid that only metrics use.
"""

from __future__ import annotations

from collections.abc import Iterator

from traindx.program.analysis import Analysis
from traindx.program.finding import Finding
from traindx.program.library import keras
from traindx.program.queries import loss_made_at
from traindx.program.values import Layer, Tensor

ID = "sigmoid-before-bce-with-logits"


def check(analysis: Analysis) -> Iterator[Finding]:
    """Look at what every binary cross-entropy with logits gets."""
    yield from _compiled(analysis)
    for event in analysis.trace.of("loss"):
        given = event.facts.get("prediction")
        if event.facts["kind"] != "bce_logits" or not isinstance(given, Tensor) or not event.grad:
            continue
        if given.act in {"sigmoid", "softmax"}:
            place = given.act_at or event.place
            yield Finding(
                ID,
                place,
                f"{given.act} is applied before the loss at {event.place.text}, which applies a sigmoid itself",
                facts={"activation": given.act, "activation_place": place.text, "loss_place": event.place.text},
                also=((event.place, "expects logits"), *loss_made_at(event)),
            )


def _compiled(analysis: Analysis) -> Iterator[Finding]:
    """Keras: a sigmoid at the end and a loss with `from_logits=True`."""
    for event in analysis.trace.of("compile"):
        if not isinstance(event.subject, Layer):
            continue
        act, _, _ = keras.last_layer(event.subject)
        name, logits = keras.loss_name(event.facts.get("loss"))
        if act == "sigmoid" and logits and name == "binarycrossentropy":
            yield Finding(
                ID,
                event.place,
                "the last layer has a sigmoid, and the loss is told to expect logits",
                facts={"activation": act, "activation_place": event.place.text, "loss_place": event.place.text},
            )
