"""The loss does not fit the task or the target encoding.

## What it finds
A cross-entropy over a single output, which is zero whatever the model says; in Keras a softmax over one unit, a binary
loss over a softmax of several classes, integer labels in a loss for one-hot rows and the reverse.

## Why it matters
The loss is constant, or compares with the wrong thing: nothing useful is learned.

## Silent
Losses that fit, and models and labels that are not known.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from traindx.program.analysis import Analysis
from traindx.program.finding import Finding
from traindx.program.library import keras
from traindx.program.queries import loss_made_at
from traindx.program.trace import Event
from traindx.program.values import Layer, Tensor

ID = "wrong-loss-function"
_SEVERAL = re.compile(
    r"multi[-_ ]?(?:label|hot)|sigmoid\([^()\n]*\)\s*>|\.sigmoid\(\)\s*>"
    r"|1\.?0?\s*/\s*\(1\.?0?\s*\+\s*np\.exp\(\s*-",
    re.IGNORECASE,
)
"""code that takes each class for itself: it says so, or decides by a sigmoid and a threshold"""


def check(analysis: Analysis) -> Iterator[Finding]:
    """Look at every loss and what it compares."""
    trace = analysis.trace
    for event in trace.of("loss"):
        given = event.facts.get("prediction")
        if event.facts["kind"] != "cross_entropy" or not isinstance(given, Tensor) or not event.grad:
            continue
        one = given.shape is None and given.act == "linear" and {"one-out", "out-1"} <= given.marks
        if given.graph and (one or (given.shape is not None and len(given.shape) == 2 and given.shape[-1] == 1)):
            yield _finding(event, "a cross-entropy over one output is zero whatever the model says", "one output")
        elif given.act == "linear" and (
            _is_multi_hot(event.facts.get("target"))
            or (_is_turned_float(event) and any(_SEVERAL.search(unit.text) for unit in analysis.units))
        ):
            yield _finding(
                event,
                "a cross-entropy lets the classes compete for one sample, and the targets are bits that are set"
                " independently of each other",
                "several labels at once",
            )
    for event in trace.of("compile"):
        yield from _compiled(event)
    for event in trace.of("fit-model"):
        yield from _fitted(event)


def _compiled(event: Event) -> Iterator[Finding]:
    if not isinstance(event.subject, Layer):
        return
    act, units, _ = keras.last_layer(event.subject)
    name, _ = keras.loss_name(event.facts.get("loss"))
    if act == "softmax" and units == 1:
        yield _finding(
            event, "softmax over one unit is always 1: the model predicts one class", "softmax over one unit"
        )
    elif act == "softmax" and units is not None and units > 2 and name == "binarycrossentropy":
        yield _finding(event, f"a binary loss over a softmax of {units} classes", "a binary loss")


def _fitted(event: Event) -> Iterator[Finding]:
    if not isinstance(event.subject, Layer):
        return
    name, _ = keras.loss_name(event.subject.fields.get("@loss"))
    one_hot = keras.is_one_hot(event.facts.get("y"))
    act, units, _ = keras.last_layer(event.subject)
    if one_hot is False and act == "softmax" and (units or 0) > 2 and name in keras.DISTANCES:
        yield _finding(event, f"`{name}` compares the {units} shares of a softmax with class numbers", "class numbers")
    if name == "categoricalcrossentropy" and one_hot is False:
        yield _finding(
            event, "`categorical_crossentropy` expects one-hot rows and gets integer labels", "integer labels"
        )
    elif name == "sparsecategoricalcrossentropy" and one_hot is True:
        yield _finding(
            event, "`sparse_categorical_crossentropy` expects integer labels and gets one-hot rows", "one-hot rows"
        )


def _finding(event: Event, claim: str, what: str) -> Finding:
    return Finding(
        ID, event.place, claim, facts={"loss_place": event.place.text, "loss_fault": what}, also=loss_made_at(event)
    )


def _is_turned_float(event: Event) -> bool:
    """`cross_entropy(logits, labels.float())`: labels that are no class numbers."""
    target = event.facts.get("target")
    node = event.place.node
    given = node.args[-1] if isinstance(node, ast.Call) and len(node.args) > 1 else None
    called = given.func if isinstance(given, ast.Call) else None
    turned = isinstance(called, ast.Attribute) and called.attr in {"float", "double", "type_as"}
    return turned or (isinstance(target, Tensor) and target.dtype in {"float", "double"} and "target" in target.marks)


def _is_multi_hot(value: object) -> bool:
    """Whether targets are rows of bits: comparisons turned into numbers, one column per class."""
    if not isinstance(value, Tensor) or "bits" not in value.marks or value.dtype not in {"float", "double"}:
        return False
    return value.shape is not None and len(value.shape) == 2 and value.shape[-1] not in {None, 1}
