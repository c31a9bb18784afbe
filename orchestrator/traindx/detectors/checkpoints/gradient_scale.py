"""What a checkpoint alone says about gradients: Adam's moments as gradient scale per layer, and the size of updates."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from traindx.contract import Citation, Fact, Signal
from traindx.detectors.curves import layer_gradients
from traindx.detectors.settings.lookup import rates
from traindx.readers.checkpoints import Checkpoint, Moments
from traindx.readers.model import Series, Setting

SIGNALS = {
    **layer_gradients.SIGNALS,
    "updates-tiny": "the optimizer changes the weights by less than a hundred-thousandth per step",
    "updates-large": "the optimizer changes the weights by more than a twentieth per step",
}

# AutoTrainer calls early layers vanished below a thousandth of the late ones.
VANISHED = 1e-3
# Updates of a thousandth of the weight are how healthy runs look; a hundredth of that, or fifty times it, are not.
TINY, LARGE = -5.0, -1.3
# Below a hundredth of Adam's full step the gradients have faded: the run is done, whatever the rate.
FADED = 0.01
ANNEALED = 0.1
FEWEST_LAYERS = 3
# Rows of an embedding that no batch used have no gradient: their mean says nothing about depth.
_EMBEDDING = re.compile(r"embed|(?:^|\.)(?:wte|wpe|tok|pos)(?:\.|_|$)", re.IGNORECASE)


@dataclass(frozen=True)
class Measured:
    """One weight matrix."""

    moments: Moments
    scale: float
    """RMS of its recent gradients"""
    push: float
    """RMS of the update in units of the learning rate: one is a gradient that always points the same way"""
    ratio: float
    """RMS of the update over RMS of the weights"""

    @property
    def name(self) -> str:
        """The parameter."""
        return self.moments.name


def measure(rows: Sequence[Moments]) -> list[Measured]:
    """The weight matrices whose moments are sound: finite, and never below zero."""
    sound = [row for row in rows if len(row.second) and np.isfinite(row.second).all() and float(row.second.min()) >= 0]
    return [_measured(row) for row in sound if len(row.place.shape) > 1]


def _measured(row: Moments) -> Measured:
    step = row.step or 10**9
    second = row.second.astype(np.float64) / (1 - row.betas[1] ** step)
    scale = math.sqrt(float(np.mean(second)))
    if row.first is None or len(row.first) != len(second) or not np.isfinite(row.first).all():
        return Measured(row, scale, math.nan, math.nan)
    full = np.sqrt(second) + max(row.eps, 1e-30)
    update = row.first.astype(np.float64) / (1 - row.betas[0] ** step) / full
    push = float(np.sqrt(np.mean(update**2)))
    size = 0.0 if row.weights is None else float(np.sqrt(np.mean(row.weights.astype(np.float64) ** 2)))
    return Measured(row, scale, push, row.lr * push / size if size > 0 else math.nan)


def over_depth(checkpoint: Checkpoint, layers: Sequence[Measured]) -> list[Signal]:
    """The first against the last weight matrix; without names nothing tells which is which."""
    inner = [row for row in layers if not _EMBEDDING.search(row.name)]
    if len(inner) < FEWEST_LAYERS or inner[-1].scale <= 0 or any(row.moments.parameter is None for row in inner):
        return []
    first, last = inner[0], inner[-1]
    ratio = first.scale / last.scale
    claim = (
        f"by Adam's second moments the gradients of `{first.name}` are {first.scale:.2g} where those of"
        f" `{last.name}` are {last.scale:.2g} (ratio {ratio:.1g})"
    )
    facts: dict[str, Fact] = {
        "early_layer": first.name,
        "late_layer": last.name,
        "early_norm": first.scale,
        "late_norm": last.scale,
        "layer_ratio": ratio,
    }
    places = [_cite(checkpoint, row) for row in (first, last)]
    if ratio < VANISHED:
        strength = float(np.clip(np.log10(ratio + 1e-30) / np.log10(VANISHED) / 1.5, 0.6, 1.0))
        name = "gradients-vanish-towards-input"
        return [Signal(id=name, claim=claim, strength=strength, citations=places, facts=facts)]
    if 0.01 < ratio < 100:
        return [Signal(id="gradients-even-over-layers", claim=claim, citations=places, facts=facts)]
    return []


def updates(
    checkpoint: Checkpoint, layers: Sequence[Measured], settings: Sequence[Setting], series: Sequence[Series]
) -> list[Signal]:
    """One update against the weights it changes: the median of the layers."""
    sized = [row for row in layers if row.ratio > 0]
    if not sized:
        return []
    middle = sorted(sized, key=lambda row: row.ratio)[len(sized) // 2]
    usual = math.log10(middle.ratio)
    if TINY <= usual <= LARGE:
        return []
    asked = middle.moments
    claim = (
        f"at the rate {asked.lr:.3g} of `{checkpoint.path}` one update changes a weight by {middle.ratio:.1g} of"
        f" its size (`{middle.name}`, the median of {len(sized)} layers)"
    )
    facts: dict[str, Fact] = {"update_ratio": middle.ratio, "update_rate": asked.lr, "update_layer": middle.name}
    place = _cite(checkpoint, middle)
    if usual > LARGE:
        strength = min(1.0, 0.5 + (usual - LARGE) / 2)
        return [Signal(id="updates-large", claim=claim, strength=strength, citations=[place], facts=facts)]
    if middle.push < FADED or _annealed(asked, settings, series):
        return []
    strength = min(1.0, 0.5 + (TINY - usual) / 2)
    return [Signal(id="updates-tiny", claim=claim, strength=strength, citations=[place], facts=facts)]


def _annealed(asked: Moments, settings: Sequence[Setting], series: Sequence[Series]) -> bool:
    """Whether the rate has come down from a higher one, as at the end of any schedule."""
    peaks = [asked.initial_lr, *(float(row.value) for row in rates(settings))]
    logged = [float(np.nanmax(row.values)) for row in series if row.name == "lr" and np.isfinite(row.values).any()]
    return any(asked.lr < ANNEALED * peak for peak in [*peaks, *logged] if math.isfinite(peak))


def _cite(checkpoint: Checkpoint, row: Measured) -> Citation:
    """The tensor that the moments were read from; its shape is what a second look compares."""
    place = row.moments.place
    claim = f"the second moments of `{row.name}` put its gradients at {row.scale:.2g}"
    return Citation(claim=claim, source=checkpoint.path, locator=f"tensor {place.name}", quote=str(place.shape))
