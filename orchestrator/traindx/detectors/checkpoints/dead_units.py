"""Units that get no gradient any more, as Adam's first moments remember: dead ReLUs."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from traindx.contract import Fact, Signal
from traindx.detectors.checkpoints.citing import cite_tensor
from traindx.readers.checkpoints import Checkpoint, Moments

SIGNALS = {"units-without-gradient": "most units of a hidden layer have had no gradient for hundreds of steps"}
SHARE = 0.5
FEWEST_UNITS = 8
ENOUGH_STEPS = 200
"""Adam's first moment falls to 7e-10 in as many steps without a gradient, with the usual 0.9"""
GONE = 1e-8
# Rows of these get a gradient only when their token, expert or pair comes up.
_SPARSE = re.compile(
    r"embed|(?:^|\.)(?:wte|wpe|tok|pos|emb)(?:\.|_|$)|expert|router|lora|table|codebook|position", re.I
)


def detect(checkpoint: Checkpoint, rows: Sequence[Moments]) -> list[Signal]:
    """The hidden layer with the largest share of dead units; the first and the last parameter are in- and output."""
    found = [(share, row) for row in rows[:-2] if (share := _dead_share(row)) >= SHARE]
    if not found:
        return []
    share, row = max(found, key=lambda one: one[0])
    units = row.place.shape[0]
    claim = (
        f"{round(share * units):,} of {units:,} units of `{row.name}` have had no gradient for hundreds of steps"
        f" (Adam's first moments, step {row.step:,})"
    )
    facts: dict[str, Fact] = {"dead_series": row.name, "dead_share": f"{share:.0%}", "checkpoint": checkpoint.path}
    place = cite_tensor(checkpoint, row.place, claim)
    return [Signal(id="units-without-gradient", claim=claim, citations=[place], facts=facts)]


def _dead_share(row: Moments) -> float:
    """The share of rows that are nothing beside the others; nought where the layer as a whole has no gradient."""
    first, shape = row.first, row.place.shape
    if first is None or len(shape) < 2 or shape[0] < FEWEST_UNITS or len(first) != row.place.elements:
        return 0.0
    if (row.step or 0) < ENOUGH_STEPS or row.betas[0] > 0.95 or row.parameter is None or _SPARSE.search(row.name):
        return 0.0
    sizes = np.abs(first.reshape(shape[0], -1)).max(axis=1)
    alive = sizes[sizes > GONE * sizes.max()] if np.isfinite(sizes).all() and sizes.max() > 0 else sizes
    return 1.0 - len(alive) / len(sizes)
