"""Units whose bias begins far below zero, before a ReLU.

## What it finds
A linear layer or convolution whose bias the program sets to -5 or less, straight before a ReLU.

## Why it matters
The output of such a unit is zero for almost every input, and so is its gradient: the layer passes nothing on and cannot
recover.

## Silent
Biases before a sigmoid (a rare class's prior), a normalization in between, leaky activations, inputs that are known to
be large.
"""

from __future__ import annotations

from collections.abc import Iterator

from traindx.program.analysis import Analysis
from traindx.program.finding import Finding
from traindx.program.library.initialising import first_value
from traindx.program.library.layers import SUNK
from traindx.program.values import Layer, Tensor

ID = "dead-relu"


def check(analysis: Analysis) -> Iterator[Finding]:
    """Look at every ReLU behind a sunken bias."""
    trace = analysis.trace
    told: set[str] = set()
    for event in trace.of("sunken"):
        deps = event.subject.deps if isinstance(event.subject, Tensor) else frozenset[int]()
        for row in trace.of("initialised"):
            layer = row.subject
            if row.facts["part"] != "bias" or not isinstance(layer, Layer) or layer.number not in deps:
                continue
            low = first_value(layer, "bias")
            if low is None or low > SUNK or row.facts["value"] != low or row.place.text in told:
                continue
            told.add(row.place.text)
            yield Finding(
                ID,
                row.place,
                f"the bias begins at {low:g}, and a ReLU follows: the units are silent from the first step on",
                facts={"bias_place": row.place.text, "bias": low},
                also=((event.place, "the ReLU behind it"),),
            )
