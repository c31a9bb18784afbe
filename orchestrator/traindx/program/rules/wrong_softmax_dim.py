"""Softmax or argmax over the wrong axis.

## What it finds
`softmax(dim=0)` or `argmax(0)` of a tensor whose first dimension is the batch; attention weights that add up to one
along another axis than the one they are summed over; a softmax over an axis of one element.

## Why it matters
Each sample's score then depends on the others in its batch; attention weights that do not add up to one over what they
weigh let nothing be selected; one element alone always has the weight 1.

## Silent
Tensors of one dimension, weights that are normalised again, and tensors whose dimensions are not known.
"""

from __future__ import annotations

from collections.abc import Iterator

from traindx.program.analysis import Analysis
from traindx.program.finding import Finding
from traindx.program.trace import Event
from traindx.program.values import Layer, Place, Tensor

ID = "wrong-softmax-dim"


def check(analysis: Analysis) -> Iterator[Finding]:
    """Look at every softmax and argmax of what a layer gives, and at what weighs something."""
    yield from _over_the_batch(analysis)
    yield from _weights(analysis)
    yield from _of_one(analysis)


def _weights(analysis: Analysis) -> Iterator[Finding]:
    for event in analysis.trace.of("weighted-sum"):
        weights = event.subject
        place = weights.act_at if isinstance(weights, Tensor) and weights.act_at is not None else event.place
        yield Finding(
            ID,
            place,
            f"the attention weights add up to one along {event.facts['along']}, but are summed over"
            f" {event.facts['over']} ({event.place.text})",
            facts={"dim_place": place.text, "operation": "softmax", "axis": str(event.facts.get("axis", -1))},
            also=(
                *((made, "the axis is chosen here") for made in _made_at(analysis, place)),
                (event.place, "the weights are summed here"),
            ),
        )


def _made_at(analysis: Analysis, place: Place) -> list[Place]:
    """Where the module is made that is called at a place: `nn.Softmax(dim=0)`."""
    for event in analysis.trace.of("softmax", "argmax"):
        layer = event.facts.get("module")
        if event.place.node is place.node and isinstance(layer, Layer) and layer.place is not None:
            return [layer.place] if layer.place.text != place.text else []
    return []


def _of_one(analysis: Analysis) -> Iterator[Finding]:
    deep = [event.place for event in analysis.trace.of("softmax") if _has_one(event)]
    for event in analysis.trace.of("weighs-alike"):
        place = event.subject.act_at if isinstance(event.subject, Tensor) else None
        deep += [place] if place is not None else []
    for place in {place.text: place for place in deep}.values():
        yield Finding(
            ID,
            place,
            "softmax over an axis that has one element: every weight is 1",
            facts={"dim_place": place.text, "operation": "softmax"},
        )


def _has_one(event: Event) -> bool:
    before, dim = event.facts.get("before"), event.facts.get("dim")
    if not isinstance(before, Tensor) or before.shape is None or dim is None or len(before.shape) < 3:
        return False
    return -len(before.shape) <= dim < len(before.shape) and before.shape[dim] == 1 and before.act == "linear"


def _over_the_batch(analysis: Analysis) -> Iterator[Finding]:
    for event in analysis.trace.of("softmax", "argmax"):
        before = event.facts.get("before", event.subject)
        if not isinstance(before, Tensor) or event.facts.get("dim") != 0:
            continue
        scores = before.act in {"linear", "softmax", "log_softmax"} or before.loss is not None
        size = before.shape
        if size is None or len(size) < 2 or not scores:
            continue
        # The batch comes first, and its size is not that of the layer's output.
        known = size[-1] not in {None, 1}
        batch_first = known and (size[0] is None or size[0] != size[-1])
        if not batch_first and "batched" not in before.marks:
            continue
        name = "softmax" if event.kind == "softmax" else "argmax"
        yield Finding(
            ID,
            event.place,
            f"{name} over dimension 0, which is the batch: each sample competes with the others of its batch",
            facts={"dim_place": event.place.text, "operation": name},
            also=tuple((made, "the axis is chosen here") for made in _made_at(analysis, event.place)),
        )
