"""Softmax or argmax over the batch instead of the classes.

## What it finds
`softmax(dim=0)` or `argmax(0)` of a tensor whose first dimension is the batch.

## Why it matters
Each sample's score then depends on the others in its batch; a batch of one gives probability 1 for everything.

## Silent
Tensors of one dimension, attention weights, and tensors whose dimensions are not known.
"""

from __future__ import annotations

from collections.abc import Iterator

from traindx.program.analysis import Analysis
from traindx.program.finding import Finding
from traindx.program.values import Tensor

ID = "wrong-softmax-dim"


def check(analysis: Analysis) -> Iterator[Finding]:
    """Look at every softmax and argmax of what a layer gives."""
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
        )
