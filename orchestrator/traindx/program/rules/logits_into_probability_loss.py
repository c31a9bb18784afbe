"""Raw logits go into a loss that expects probabilities or log-probabilities.

## What it finds
The output of a linear layer or convolution, with no activation behind it, in `BCELoss`, `NLLLoss` or `KLDivLoss`; also
probabilities without their logarithm in the last two.

## Why it matters
`BCELoss` fails on values outside 0 to 1. `NLLLoss` simply takes the negated value of the right class: it falls without
bound and teaches nothing about the others.

## Silent
A sigmoid, softmax or log-softmax anywhere between the layer and the loss.
"""

from __future__ import annotations

from collections.abc import Iterator

from traindx.program.analysis import Analysis
from traindx.program.finding import Finding
from traindx.program.library import keras
from traindx.program.queries import loss_made_at
from traindx.program.values import Layer, Tensor

ID = "logits-into-probability-loss"
_WANTS = {
    "bce": "probabilities",
    "probabilities": "probabilities",
    "nll": "log-probabilities",
    "kl": "log-probabilities",
}
_WRONG = {
    "bce": {"linear", "relu", "leaky", "gelu", "tanh", "log_sigmoid", "log_softmax"},
    "nll": {"linear", "softmax", "relu", "sigmoid"},
    "kl": {"linear", "softmax", "sigmoid"},
    "probabilities": {"linear", "log_softmax", "tanh"},
}
_CLASS = {"bce": "BCELoss", "nll": "NLLLoss", "kl": "KLDivLoss",
          "probabilities": "NeuralNetClassifier"}  # fmt: skip


def check(analysis: Analysis) -> Iterator[Finding]:
    """Look at what every loss of probabilities gets."""
    yield from _compiled(analysis)
    for event in analysis.trace.of("loss"):
        kind, given = event.facts["kind"], event.facts.get("prediction")
        if kind not in _WANTS or not isinstance(given, Tensor) or not event.grad or given.act not in _WRONG[kind]:
            continue
        what = "raw logits" if given.act == "linear" else f"the output of {given.act}"
        also = ((given.act_at, f"the last thing done to it: {given.act}"),) if given.act_at else ()
        yield Finding(
            ID,
            event.place,
            f"`{_CLASS[kind]}` expects {_WANTS[kind]} and gets {what}",
            proven=bool(given.graph),
            facts={
                "loss_class": _CLASS[kind],
                "expects": _WANTS[kind],
                "gets": what,
                "loss_place": event.place.text,
                "activation_place": given.act_at.text if given.act_at else event.place.text,
            },
            also=(*also, *loss_made_at(event)),
        )


def _compiled(analysis: Analysis) -> Iterator[Finding]:
    """Keras: no activation at the end, and a cross-entropy that is not told to expect logits."""
    for event in analysis.trace.of("compile"):
        if not isinstance(event.subject, Layer):
            continue
        act, _, _ = keras.last_layer(event.subject)
        name, logits = keras.loss_name(event.facts.get("loss"))
        if act in {"linear", "relu", "tanh"} and logits is False and name.endswith("crossentropy"):
            what = "raw logits" if act == "linear" else f"the output of {act}"
            facts = {"loss_class": name, "expects": "probabilities", "gets": what, "loss_place": event.place.text}
            yield Finding(
                ID,
                event.place,
                f"`{name}` expects probabilities and gets {what}: the last layer has no softmax or sigmoid",
                facts={**facts, "activation_place": event.place.text},
            )
