"""The objective is maximised.

## What it finds
A backward pass on the negative of a loss that is to be minimised, or on a log-probability that is to be maximised,
while an optimizer descends; `maximize=True` with such a loss.

## Why it matters
Every step makes the model worse: the loss falls without bound (negated) or the likelihood of the data does.

## Silent
Losses that are part of a difference or of several players' games (GAN, adversarial examples, gradient reversal), policy
gradients and negated similarities.
"""

from __future__ import annotations

from collections.abc import Iterator

from traindx.program.analysis import Analysis
from traindx.program.finding import Finding
from traindx.program.queries import class_of, is_true, steps, surely_reaches
from traindx.program.trace import tensor_of
from traindx.program.values import Made

ID = "loss-sign-flipped"
SAYS = ("proven", "suspected")
_MINIMISED = {"cross_entropy", "mse", "bce", "bce_logits", "l1", "smooth_l1", "nll", "ctc", "gaussian", "poisson"}


def check(analysis: Analysis) -> Iterator[Finding]:
    """Look at the sign of what every backward starts from."""
    trace = analysis.trace
    trains = [made for events in steps(trace).values() if isinstance(made := events[0].subject, Made)]
    alone = len({made.number for made in trains}) == 1
    for event in trace.of("backward"):
        value = tensor_of(event)
        if value is not None and value.loss is None and "logprob" in value.marks and value.sign > 0 and trains:
            yield Finding(
                ID,
                event.place,
                "the optimizer descends on a log-probability: every step makes the data less likely",
                proven=alone and not any(is_true(made.keywords.get("maximize")) for made in trains),
                facts={"loss_place": event.place.text, "backward_place": event.place.text},
            )
        if value is None or value.loss is None or value.loss.kind not in _MINIMISED:
            continue
        turned = any(is_true(made.keywords.get("maximize")) for made in trains)
        flipped = value.sign < 0
        if flipped == turned or not trains:
            continue
        place = value.loss.place if flipped else next(made.place for made in trains if made.place) or event.place
        what = f"the {value.loss.kind.replace('_', ' ')} loss is negated" if flipped else "`maximize=True` is set"
        reached = any(surely_reaches(event, made) for made in trains)
        yield Finding(
            ID,
            place,
            f"{what} before the optimizer descends on it: every step makes the model worse",
            proven=alone and reached,
            facts={
                "loss_place": value.loss.place.text,
                "backward_place": event.place.text,
                "optimizer": class_of(trains[0]),
            },
            also=((event.place, "the backward pass of it"),),
        )
