"""Probabilities go into a loss that expects logits.

## What it finds
Softmax, sigmoid or another bounded activation as the last thing done to what `CrossEntropyLoss` gets, or a softmax
before the log-softmax whose result goes into `CrossEntropyLoss` or `NLLLoss`.

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
    yield from _normalised_twice(analysis)
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


def _normalised_twice(analysis: Analysis) -> Iterator[Finding]:
    """A log-softmax of probabilities, which a loss gets."""
    for event in analysis.trace.of("softmax"):
        before, made = event.facts.get("before"), event.subject
        if not isinstance(before, Tensor) or not isinstance(made, Tensor) or before.act_at is None:
            continue
        if (made.act, before.act) != ("log_softmax", "softmax") or not event.grad:
            continue
        for loss in analysis.trace.of("loss"):
            given = loss.facts.get("prediction")
            if loss.facts["kind"] not in {"nll", "cross_entropy"} or not isinstance(given, Tensor):
                continue
            if given.act == "log_softmax" and given.act_at is not None and given.act_at.text == event.place.text:
                yield Finding(
                    ID,
                    before.act_at,
                    f"softmax is applied before the log-softmax at {event.place.text}: what the loss at"
                    f" {loss.place.text} gets was normalised twice",
                    facts={
                        "activation": "softmax",
                        "activation_place": before.act_at.text,
                        "loss_place": loss.place.text,
                    },
                    also=((event.place, "normalises again"), (loss.place, "expects logits behind one log-softmax")),
                )
                break


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
