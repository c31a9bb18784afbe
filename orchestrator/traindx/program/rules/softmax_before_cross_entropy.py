"""Probabilities go into a loss that expects logits.

## What it finds
Softmax, sigmoid or another bounded activation as the last thing done to what `CrossEntropyLoss` gets.

## Why it matters
The loss applies log-softmax itself. On top of probabilities the loss cannot fall below about `ln(1 + (K-1)/e)`, its
gradients are tiny, and training crawls or stalls near chance.

## Silent
Logits; log-probabilities, which pass through log-softmax unchanged; a softmax that only metrics use.
"""

from __future__ import annotations

from collections.abc import Iterator

from traindx.program.analysis import Analysis
from traindx.program.finding import Finding
from traindx.program.library import keras
from traindx.program.queries import loss_made_at
from traindx.program.values import Layer, Place, Tensor

ID = "softmax-before-cross-entropy"


def check(analysis: Analysis) -> Iterator[Finding]:
    """Look at what every cross-entropy gets."""
    yield from _compiled(analysis)
    for event in analysis.trace.of("loss"):
        given = event.facts.get("prediction")
        if event.facts["kind"] != "cross_entropy" or not isinstance(given, Tensor) or not event.grad:
            continue
        if given.act not in {"softmax", "sigmoid"}:
            continue
        place: Place = given.act_at or event.place
        yield Finding(
            ID,
            place,
            f"{given.act} is applied before the cross-entropy at {event.place.text}, which applies log-softmax itself",
            proven=given.act == "softmax" or bool(given.graph),
            facts={"activation": given.act, "activation_place": place.text, "loss_place": event.place.text},
            also=((event.place, "expects logits"), *loss_made_at(event)),
        )


def _compiled(analysis: Analysis) -> Iterator[Finding]:
    """Keras: a softmax at the end and a loss with `from_logits=True`."""
    for event in analysis.trace.of("compile"):
        if not isinstance(event.subject, Layer):
            continue
        act, _, _ = keras.last_layer(event.subject)
        name, logits = keras.loss_name(event.facts.get("loss"))
        if act == "softmax" and logits and name in {"sparsecategoricalcrossentropy", "categoricalcrossentropy"}:
            yield Finding(
                ID,
                event.place,
                "the last layer has a softmax, and the loss is told to expect logits",
                facts={"activation": act, "activation_place": event.place.text, "loss_place": event.place.text},
            )
