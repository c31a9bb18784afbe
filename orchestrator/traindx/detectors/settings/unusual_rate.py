"""The configured learning rate against what its optimizer is usually given."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from traindx.contract import Citation, Fact, Signal, SignalKind
from traindx.detectors.citing import cite, cite_setting
from traindx.detectors.settings.lookup import in_force, named, rates
from traindx.readers.model import Series, Setting

SIGNALS: dict[str, str | SignalKind] = {
    "lr-far-below-usual": "the configured learning rate is below the usual range for the optimizer",
    "lr-absurd": SignalKind(
        "the learning rate is thirty times above the usual range for the optimizer", group="lr-above-usual"
    ),
    "lr-far-above-usual": SignalKind(
        "the configured learning rate is above the usual range for the optimizer", group="lr-above-usual"
    ),
    "lr-modest": "the learning rate is in the lower half of the usual range for the optimizer",
}

# From fine-tuning recipes at the low end to the boldest that is usual for training from scratch.
USUAL = {
    "adam": (1e-5, 3e-3),
    "adamw": (1e-5, 3e-3),
    "nadam": (1e-5, 3e-3),
    "radam": (1e-5, 3e-3),
    "rmsprop": (1e-5, 3e-3),
    "lion": (1e-6, 1e-3),
    "sgd": (5e-4, 0.5),
}
_OF_A_GROUP = re.compile(r"\b(?:params|param_groups)\.\d+\.")
"""the rate of one group of parameters: `AdamW([dict(params=…, lr=…), …])`"""
_FOR_ALL = re.compile(
    r"(?:base|max|peak|init|initial|start|default|global)?_?(?:lr|learning_?rate)s?_?(?:max|peak|init|initial|start|0)?|eta0?|peak"
    r"|lernrate|tasa",
    re.IGNORECASE,
)
OF_ANY = (1e-6, 1.0)
"""what some optimizer is usually given"""
# Momentum of 0.9 makes each gradient count ten times.
WITH_MOMENTUM = 0.4
ABSURD = 30
"""times the boldest usual rate: no recipe goes there"""


@dataclass(frozen=True)
class _Rate:
    value: float
    key: str
    place: str
    cited: Callable[[str], Citation]


def detect(settings: Sequence[Setting], logged: Series | None, optimizer: str | None) -> list[Signal]:
    """The largest rate against the usual range of its optimizer; a decade outside is as clear as it gets."""
    kind, top = optimizer or "an optimizer", highest(settings, logged)
    if top is None or kind not in {*USUAL, "an optimizer"}:
        return []
    low, high = USUAL.get(kind, OF_ANY)
    momentum = named(settings, "momentum", "mom", "sgd_momentum")
    if kind == "sgd" and momentum is not None and float(momentum.value) >= 0.8:
        high *= WITH_MOMENTUM
    if top.value <= 0:
        return []
    if low <= top.value <= high:
        return _modest(top, kind, math.sqrt(low * high)) if kind in USUAL else []
    below = top.value < low
    claim = f"`{top.key}` = {top.value:g}; the usual range for {kind} is {low:g} to {high:g}"
    facts: dict[str, Fact] = {
        "lr": top.value,
        "lr_key": top.key,
        "lr_place": top.place,
        "optimizer": kind,
        "lr_proposed": float(f"{math.sqrt(low * high):.1g}"),
    }
    outside, name = (low / top.value, "lr-far-below-usual") if below else (top.value / high, "lr-far-above-usual")
    places = [top.cited(claim)]
    found = [
        Signal(id=name, claim=claim, strength=min(1.0, math.log10(outside)), citations=places, facts=facts),
    ]
    if below:
        found += _modest(top, kind, low)
    if not below and outside >= ABSURD:
        said = f"`{top.key}` = {top.value:g} is {outside:.0f} times the usual maximum for {kind}"
        found.append(Signal(id="lr-absurd", claim=said, citations=places, facts=facts))
    return found


def highest(settings: Sequence[Setting], logged: Series | None) -> _Rate | None:
    """The largest rate that ran: as configured or printed, as logged, and last what the code has for a default.

    Where groups of parameters have rates of their own (`embed_lr`), only the one for all of them is judged.
    """
    found = in_force(rates(settings))
    told = [row for row in found if not row.coded]
    if not told and logged is not None and np.isfinite(logged.values).any():
        at = int(np.nanargmax(np.where(np.isfinite(logged.values), logged.values, np.nan)))
        return _Rate(float(logged.values[at]), logged.original, logged.source, lambda claim: cite(logged, at, claim))
    for_all = [
        row
        for row in told or found
        if _FOR_ALL.fullmatch(row.key.rsplit(".", 1)[-1]) and not _OF_A_GROUP.search(row.key)
    ]
    top = max(for_all or (told or found)[:1], key=lambda row: float(row.value), default=None)
    if top is None or (not for_all and len(told or found) > 1):
        return None
    return _Rate(float(top.value), top.key, f"{top.source}:{top.line}", lambda claim: cite_setting(top, claim))


def _modest(top: _Rate, kind: str, middle: float) -> list[Signal]:
    """A rate in the lower half of what is usual does not break a run by itself."""
    if top.value > middle:
        return []
    claim = f"`{top.key}` = {top.value:g} is moderate for {kind}"
    return [Signal(id="lr-modest", claim=claim, citations=[top.cited(claim)])]
