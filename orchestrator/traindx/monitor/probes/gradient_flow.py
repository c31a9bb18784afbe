"""Which layers the gradient of the loss reaches, and how strong it is in each.

## What it does
Measures the gradient of every parameter right before the optimizer's first steps: its root mean square, and whether
there is one at all. With objects: one backward pass through a copy of the model.

## How to read it
A layer that was called and has no gradient is cut off. A factor of more than a thousand between the first and the last
layer is vanishing (the first is the weaker) or exploding, as is a gradient a thousand times its weights. Parameters
that no optimizer holds never learn.

## Limits
The gradient is seen as the optimizer gets it: after clipping, and with the scale of mixed precision where the script
has not removed it. A layer that only some batches use may be silent in the first steps.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import pairwise
from statistics import median
from typing import Any

from pydantic import Field

from traindx.contract import Signal, Value
from traindx.monitor.probing.declaration import ProbeOutput, finding, measured, proven
from traindx.monitor.probing.training import LossFunction, copied, loss_of, parameter_names, same_randomness
from traindx.monitor.probing.watching import Bounds, ModuleCall, Watch
from traindx.runtime import NoData

SETTLES = {"vanishing-gradients", "exploding-gradients", "broken-gradient-path", "optimizer-missing-parameters"}
ASKED_ABOUT = {"vanishing-gradients", "exploding-gradients"}
SIGNALS = {
    "probed-gradient-cut": proven("a layer that was called has no gradient"),
    "probed-gradient-zero": measured("the gradient of a layer is exactly zero"),
    "probed-gradient-vanishing": measured("the gradient of the first layers is lost on its way back"),
    "probed-gradient-exploding": measured("the gradient grows on its way back, or is not finite"),
    "probed-parameters-left-out": measured("trainable parameters that no optimizer holds"),
    "probed-gradients-flow": measured("every layer gets a gradient of the same order"),
}
STEPS = 6
FACTOR = 1_000.0
"""between layers; a healthy network of some twenty layers stays below a hundred"""
LARGE = 1.0
"""root mean square of a gradient: a head that begins near zero has one far above its weights, and all is well"""
FEWEST_LAYERS = 4
"""matrices in a row: a policy's or a classifier's head often has a scale of its own"""
MOSTLY = 0.8
"""of the steps from layer to layer that have to go the same way"""
ONE_JUMP = 0.6
"""of the whole change: more of it between two layers is a matter of these two"""
MOST_NAMES = 5


class LayerGradient(Value):
    """The gradient of one parameter, over the steps."""

    name: str
    rms: float | None = Field(description="the median of its root mean square; null where there was none")
    weights: float = Field(description="root mean square of the parameter itself")
    used: bool = Field(description="whether its module was called")
    model: str = Field(default="", description="the outermost module that it belongs to")


class GradientFlow(ProbeOutput):
    """Every trainable parameter in the order of the model."""

    layers: list[LayerGradient] = Field(default_factory=list)


class _Course:
    """What was measured of one parameter."""

    def __init__(self, parameter: Any) -> None:
        self.parameter = parameter
        self.seen: list[float | None] = []

    def measure(self) -> None:
        """The gradient as it is now."""
        grad = self.parameter.grad
        if grad is None:
            self.seen.append(None)
            return
        values = grad.detach().float().coalesce().values() if grad.is_sparse else grad.detach().float()
        self.seen.append(float(values.pow(2).mean().sqrt()))

    @property
    def rms(self) -> float | None:
        """The middle of what was measured; not finite where it ever was not."""
        known = [one for one in self.seen if one is not None]
        broken = [one for one in known if not math.isfinite(one)]
        return broken[0] if broken else median(known) if known else None


class GradientWatch(Watch):
    """Looks at the gradients that optimizers get."""

    def __init__(self, bounds: Bounds | None = None) -> None:
        self.bounds = bounds or Bounds(steps=STEPS)
        self.roots: dict[int, Any] = {}
        self.used: dict[int, Any] = {}
        self.courses: dict[int, _Course] = {}
        self.held: set[int] = set()
        self.optimizer: Any = None
        self.steps = 0

    def called(self, call: ModuleCall) -> None:
        """Note which modules take part."""
        import torch

        if torch.is_grad_enabled():
            self.used[id(call.module)] = call.module
            if call.depth == 0 and any(True for _ in call.module.parameters()):
                self.roots[id(call.module)] = call.module

    def step_begins(self, optimizer: Any) -> None:
        """Measure."""
        self.optimizer = optimizer
        held = [parameter for group in optimizer.param_groups for parameter in group["params"]]
        self.held |= {id(parameter) for parameter in held}
        self.measure([*(parameter for root in self.roots.values() for parameter in root.parameters()), *held])

    def step_ended(self, optimizer: Any) -> None:  # noqa: ARG002 - every optimizer counts
        """Count."""
        self.steps += 1

    def measure(self, parameters: list[Any]) -> None:
        """The gradient of each parameter once."""
        for parameter in {id(one): one for one in parameters if one.requires_grad}.values():
            self.courses.setdefault(id(parameter), _Course(parameter)).measure()

    def answer(self) -> GradientFlow:
        """Judge the layers."""
        if not self.courses:
            raise NoData("no optimizer step was seen")
        names = parameter_names(self.roots, self.optimizer)
        owners = {id(parameter): module for module in self.used.values() for parameter in module._parameters.values()}
        models = {id(one): str(place) for place, root in enumerate(self.roots.values()) for one in root.parameters()}
        layers = [
            LayerGradient(
                name=names.get(key, "parameter"),
                rms=course.rms,
                weights=float(course.parameter.detach().float().pow(2).mean().sqrt()),
                used=key in owners,
                model=models.get(key, ""),
            )
            for key, course in self.courses.items()
        ]
        left_out = [names.get(key, "") for key in self.courses if self.held and key not in self.held]
        matrices = [names.get(key, "") for key, course in self.courses.items() if course.parameter.dim() > 1]
        signals = [*_faults(layers, matrices), *_left_out([name for name in left_out if name])]
        spread = _spread(layers, matrices)
        said = f"all {len(layers)} parameters get a gradient, within a factor of {spread:.3g}"
        if not signals and spread <= FACTOR:
            signals = [finding("probed-gradients-flow", said)]
        return GradientFlow(
            summary="; ".join(signal.claim for signal in signals) or said,
            steps=self.steps,
            layers=layers,
            signals=signals,
        )


WATCH = GradientWatch


def probe_gradient_flow(model: Any, batch: Any, loss_fn: LossFunction | None = None) -> GradientFlow:
    """One backward pass through a copy of the model: the gradient of each parameter."""
    from traindx.monitor.probing.instruments import Instruments

    with same_randomness():
        twin = copied(model)
        twin.zero_grad(set_to_none=True)
        watch = GradientWatch()
        with Instruments(watch).installed():
            loss_of(twin, batch, loss_fn).backward()
        watch.measure(list(twin.parameters()))
    return watch.answer()


def _faults(layers: list[LayerGradient], matrices: list[str]) -> Iterator[Signal]:
    cut = [one.name for one in layers if one.rms is None and one.used]
    if cut:
        said = f"no gradient reaches {_listed(cut)}, although the forward pass goes through"
        yield finding("probed-gradient-cut", said, layer=cut[0])
    zero = [one.name for one in layers if one.rms == 0.0]
    if zero:
        yield finding("probed-gradient-zero", f"the gradient of {_listed(zero)} is exactly zero", layer=zero[0])
    broken = [one.name for one in layers if one.rms is not None and not math.isfinite(one.rms)]
    if broken:
        yield finding("probed-gradient-exploding", f"the gradient of {_listed(broken)} is not finite", layer=broken[0])
        return
    sizes = [(one.name, one.rms / one.weights) for one in layers if one.rms and one.weights and one.name in matrices]
    large = {one.name for one in layers if one.rms and one.rms > LARGE}
    thrown = next((row for row in sizes if row[1] > FACTOR and row[0] in large), None)
    if thrown is not None:
        said = f"the gradient of `{thrown[0]}` is {thrown[1]:.3g} times its weights"
        yield finding("probed-gradient-exploding", said, layer=thrown[0])
        return
    yield from _along(_chain(layers, matrices))


def _chain(layers: list[LayerGradient], matrices: list[str]) -> list[tuple[str, float]]:
    """The matrices of the model with most of them, in its order: two models side by side are no chain."""
    chains: dict[str, list[tuple[str, float]]] = {}
    for one in layers:
        if one.name in matrices and one.rms:
            chains.setdefault(one.model, []).append((one.name, one.rms))
    return max(chains.values(), key=len, default=[])


def _along(chain: list[tuple[str, float]]) -> Iterator[Signal]:
    """A gradient that is lost, or grows, from layer to layer, and not only at a head with a scale of its own."""
    if len(chain) < FEWEST_LAYERS:
        return
    (first, early), (last, late) = chain[0], chain[-1]
    steps = [math.log(after / before) for (_, before), (_, after) in pairwise(chain)]
    falls = [step > 0 for step in steps]
    if max(map(abs, steps)) > ONE_JUMP * abs(sum(steps)):
        return
    if late > FACTOR * early and sum(falls) >= MOSTLY * len(falls):
        said = f"the gradient of `{first}` ({early:.2g}) is {late / early:.3g} times smaller than that of `{last}`"
        yield finding("probed-gradient-vanishing", said, layer=first, gradient_ratio=late / early)
    elif early > FACTOR * late and len(falls) - sum(falls) >= MOSTLY * len(falls):
        said = f"the gradient of `{first}` ({early:.2g}) is {early / late:.3g} times larger than that of `{last}`"
        yield finding("probed-gradient-exploding", said, layer=first, gradient_ratio=early / late)


def _left_out(names: list[str]) -> Iterator[Signal]:
    if names:
        said = f"{len(names)} trainable parameters are in no optimizer: {_listed(names)}"
        yield finding("probed-parameters-left-out", said, layer=names[0])


def _spread(layers: list[LayerGradient], matrices: list[str]) -> float:
    known = [one.rms for one in layers if one.rms and one.name in matrices]
    return max(known) / min(known) if known else 1.0


def _listed(names: list[str]) -> str:
    more = f" and {len(names) - MOST_NAMES} more" if len(names) > MOST_NAMES else ""
    return ", ".join(f"`{name}`" for name in names[:MOST_NAMES]) + more
