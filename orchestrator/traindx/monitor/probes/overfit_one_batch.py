"""Whether the model learns a single batch by heart: what it cannot do with one, it cannot do with many.

## What it does
Gives the training the same first batch again and again, and follows its loss. With objects: trains a copy of the model
on the batch with Adam.

## How to read it
A loss that falls to a tenth shows that model, loss and optimizer work together, so the cause lies in data, in
regularisation, or in how long and how fast is trained. One that stays above half of its start shows that they do not:
look for a cut gradient, a wrong loss, an optimizer without the parameters, or too small a model.

## Limits
Needs a `DataLoader` in the script. Dropout and augmentation keep some of the loss; a loss that can be negative is not
judged.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from pydantic import Field

from traindx.monitor.probing.declaration import ProbeOutput, finding, measured
from traindx.monitor.probing.training import LossFunction, copied, loss_of, number, same_randomness
from traindx.monitor.probing.watching import Bounds, Watch
from traindx.runtime import NoData

SETTLES = {"underfitting", "plateau-at-chance"}
ASKED_ABOUT = {"not-learning"}
SIGNALS = {
    "probed-one-batch-learnt": measured("the model learns a single batch by heart"),
    "probed-one-batch-not-learnt": measured("the model does not even learn a single batch"),
}
STEPS = 200
LEARNT, STUCK = 0.1, 0.5
"""of the first loss: by then it is learnt, or has not begun to be"""
FEWEST = 20
MOST_KEPT = 400


class OneBatch(ProbeOutput):
    """The loss of the batch, step by step."""

    losses: list[float] = Field(default_factory=list)
    first: float = 0.0
    last: float = 0.0


class BatchWatch(Watch):
    """Repeats the first batch."""

    cuts_epochs = False

    def __init__(self, bounds: Bounds | None = None) -> None:
        self.bounds = bounds or Bounds(steps=STEPS)
        self.losses: list[float] = []
        self.loaders: dict[int, tuple[Any, Any]] = {}
        self.repeated = False

    def batch(self, loader: Any, number: int, given: Any) -> Any:  # noqa: ARG002 - the first one is kept
        """The first batch of this loader, always."""
        self.repeated = True
        return self.loaders.setdefault(id(loader), (loader, given))[1]

    def backward_begins(self, roots: Sequence[Any], *, retained: bool) -> None:  # noqa: ARG002 - as it comes
        """Write the loss down."""
        if roots and roots[0].numel() == 1:
            self.losses.append(number(roots[0]))

    def answer(self) -> OneBatch:
        """Judge the course of the loss."""
        if not self.repeated:
            raise NoData("the script takes its batches from no `DataLoader`: give the objects with `--target`")
        return judged(self.losses)


WATCH = BatchWatch


def probe_overfit_one_batch(
    model: Any, batch: Any, loss_fn: LossFunction | None = None, steps: int = STEPS, lr: float = 1e-3
) -> OneBatch:
    """Train a copy of the model on one batch."""
    import torch

    with same_randomness():
        twin = copied(model)
        optimizer = torch.optim.Adam([one for one in twin.parameters() if one.requires_grad], lr=lr)
        losses = []
        for _ in range(steps):
            optimizer.zero_grad(set_to_none=True)
            loss = loss_of(twin, batch, loss_fn)
            if loss.requires_grad:
                loss.backward()
                optimizer.step()
            losses.append(number(loss))
    return judged(losses)


def judged(losses: Sequence[float]) -> OneBatch:
    """Whether the batch was learnt."""
    if len(losses) < FEWEST:
        raise NoData(f"only {len(losses)} losses were seen; {FEWEST} are needed")
    tenth = max(1, len(losses) // 10)
    first, last = losses[0], sum(losses[-tenth:]) / tenth
    said = f"the loss of one batch goes from {first:.4g} to {last:.4g} in {len(losses)} steps"
    signals = []
    if first > 0 and not last <= STUCK * first:
        signals = [finding("probed-one-batch-not-learnt", f"{said}: it is not learnt", loss_first=first)]
    elif first > 0 and math.isfinite(last) and 0 <= last <= LEARNT * first:
        signals = [finding("probed-one-batch-learnt", f"{said}: it is learnt", loss_first=first)]
    kept = list(losses[:: max(1, len(losses) // MOST_KEPT)])
    return OneBatch(
        summary=signals[0].claim if signals else f"{said}, which decides nothing",
        steps=len(losses),
        losses=kept,
        first=first,
        last=last,
        signals=signals,
    )
