"""At which learning rates the loss falls, and from which on it breaks.

## What it does
Raises the learning rate from step to step, from a ten-millionth to 1, over whatever schedule the script has, and
follows the loss. With objects: does so on a copy of the model.

## How to read it
The loss breaks at the rate where its smoothed value is four times its lowest. A rate that works is about a tenth of the
one at which it was lowest. The script's own rate is held against both.

## Limits
A short test says nothing about decay, and little about losses that hardly move in a hundred steps; groups with rates of
their own all get the same one.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import cycle, islice
from typing import Any

from pydantic import Field

from traindx.contract import Signal
from traindx.monitor.probing.declaration import ProbeOutput, finding, measured
from traindx.monitor.probing.training import LossFunction, copied, loss_of, number, same_randomness
from traindx.monitor.probing.watching import Bounds, Watch
from traindx.runtime import NoData

SETTLES = {"learning-rate-too-high", "learning-rate-too-low"}
ASKED_ABOUT = {"oscillation"}
SIGNALS = {
    "probed-lr-too-high": measured("the run's learning rate lies where the loss breaks"),
    "probed-lr-too-low": measured("the loss takes a learning rate a hundred times the run's"),
    "probed-lr-fits": measured("the loss falls at the run's learning rate"),
}
STEPS = 100
LOW, HIGH = 1e-7, 1.0
SMOOTHING = 0.8
BROKEN = 4.0
"""times the lowest smoothed loss: where range tests are stopped by custom"""
FAR = 100.0
FELL = 0.98
"""the smoothed loss has to fall to this part of its start for the test to say anything"""
FEWEST = 20


class RateRange(ProbeOutput):
    """The loss at each rate."""

    rates: list[float] = Field(default_factory=list)
    losses: list[float] = Field(default_factory=list)
    own: float | None = Field(default=None, description="the rate that the script has set")
    lowest_at: float | None = None
    breaks_at: float | None = None
    proposed: float | None = None


class RateWatch(Watch):
    """Sets the rate before each step."""

    cuts_epochs = False

    def __init__(self, bounds: Bounds | None = None) -> None:
        self.bounds = bounds or Bounds(steps=STEPS)
        self.rates: list[float] = []
        self.losses: list[float] = []
        self.own: float | None = None
        self._optimizer: Any = None
        self._pending: float | None = None

    def backward_begins(self, roots: Sequence[Any], *, retained: bool) -> None:  # noqa: ARG002 - as it comes
        """Keep the loss for the step that follows."""
        if roots and roots[0].numel() == 1:
            self._pending = number(roots[0])

    def step_begins(self, optimizer: Any) -> None:
        """The next rate, in the first optimizer that steps."""
        self._optimizer = self._optimizer or optimizer
        if optimizer is not self._optimizer:
            return
        if self.own is None:
            self.own = float(optimizer.param_groups[0].get("initial_lr", optimizer.param_groups[0]["lr"]))
        rate = rate_at(len(self.rates), self.bounds.steps)
        for group in optimizer.param_groups:
            group["lr"] = rate
        self.rates.append(rate)
        self.losses.append(self._pending if self._pending is not None else math.nan)

    def answer(self) -> RateRange:
        """Judge the curve."""
        return judged(self.rates, self.losses, self.own)


WATCH = RateWatch


def probe_lr_range(
    model: Any, batches: Any, loss_fn: LossFunction | None = None, lr: float | None = None, steps: int = STEPS
) -> RateRange:
    """Raise the rate of plain SGD with momentum on a copy of the model; `lr` is the rate to be judged.

    `batches` is a loader or a list of batches, gone through again as often as needed.
    """
    import torch

    with same_randomness():
        twin = copied(model)
        optimizer = torch.optim.SGD([one for one in twin.parameters() if one.requires_grad], lr=LOW, momentum=0.9)
        rates, losses = [], []
        for place, batch in enumerate(islice(cycle(batches), steps)):
            optimizer.param_groups[0]["lr"] = rate_at(place, steps)
            optimizer.zero_grad(set_to_none=True)
            loss = loss_of(twin, batch, loss_fn)
            loss.backward()
            rates.append(rate_at(place, steps))
            losses.append(number(loss))
            if not math.isfinite(losses[-1]):
                break
            optimizer.step()
    return judged(rates, losses, lr)


def rate_at(place: int, steps: int) -> float:
    """Evenly spaced on a logarithmic scale."""
    return float(LOW * (HIGH / LOW) ** (min(place, steps - 1) / max(1, steps - 1)))


def judged(rates: Sequence[float], losses: Sequence[float], own: float | None) -> RateRange:
    """Where the loss is lowest, where it breaks, and what that says of the run's own rate."""
    if len(rates) < FEWEST:
        raise NoData(f"only {len(rates)} optimizer steps were seen; {FEWEST} are needed")
    smooth = list(_smoothed(losses))
    finite = [place for place, value in enumerate(smooth) if math.isfinite(value)]
    if not finite:
        raise NoData("no step had a finite loss")
    lowest = min(finite, key=lambda place: smooth[place])
    after = range(lowest + 1, len(smooth))
    bar = smooth[lowest] + (BROKEN - 1) * abs(smooth[lowest])
    broke = next((at for at in after if not math.isfinite(smooth[at]) or smooth[at] > bar), None)
    fell = smooth[lowest] < FELL * smooth[finite[0]]
    found = RateRange(
        summary="",
        steps=len(rates),
        rates=list(rates),
        losses=list(losses),
        own=own,
        lowest_at=rates[lowest] if fell else None,
        breaks_at=rates[broke] if broke is not None else None,
        proposed=rates[lowest] / 10 if fell else None,
    )
    signals = list(_signals(found))
    where = f"the loss is lowest at {rates[lowest]:.2g}" if fell else "the loss falls at no rate"
    where += f" and breaks at {rates[broke]:.2g}" if broke is not None else " and does not break up to the highest rate"
    summary = signals[0].claim if signals else where
    return found.model_copy(update={"summary": summary, "signals": signals})


def _smoothed(losses: Sequence[float]) -> Iterator[float]:
    """The running average, corrected for its beginning."""
    average = 0.0
    for place, loss in enumerate(losses, 1):
        average = SMOOTHING * average + (1 - SMOOTHING) * loss
        yield average / (1 - SMOOTHING**place)


def _signals(found: RateRange) -> Iterator[Signal]:
    own = found.own
    if own is None or own <= 0:
        return
    if found.breaks_at is not None and own >= found.breaks_at:
        said = f"the run's rate {own:.2g} lies at or above {found.breaks_at:.2g}, where the loss breaks"
        signal = finding("probed-lr-too-high", said, lr=own)
        more = {"lr_proposed": found.proposed} if found.proposed else {}
        yield signal.model_copy(update={"facts": {**signal.facts, **more}})
    elif found.lowest_at is not None and own * FAR < found.lowest_at:
        said = f"the loss still falls at {found.lowest_at:.2g}; the run's rate is {own:.2g}"
        yield finding("probed-lr-too-low", said, lr=own, lr_proposed=found.lowest_at / 10)
    elif found.lowest_at is not None and own <= found.lowest_at:
        said = f"the loss falls at the run's rate {own:.2g}, up to {found.lowest_at:.2g}"
        yield finding("probed-lr-fits", said, lr=own)
