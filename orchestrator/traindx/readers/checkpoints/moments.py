"""What an Adam-like optimizer remembers of every parameter, by the parameter's name, read without unpickling."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from traindx.readers.checkpoints.model import Checkpoint, TensorInfo, is_buffer
from traindx.readers.checkpoints.weights import READABLE, read_values
from traindx.runtime.scope import Scope

if TYPE_CHECKING:
    from traindx.readers.checkpoints.weights import Floats

MOST_BYTES = 128 << 20
_MOMENT = re.compile(r"^state\.(.+)\.exp_avg_sq$")


@dataclass(frozen=True, eq=False)
class Moments:
    """First and second moment of one parameter's gradient, its weights, and what its parameter group asks for."""

    index: str
    place: TensorInfo
    """the tensor of the second moments"""
    parameter: TensorInfo | None
    """None where names cannot be told: the optimizer knows its parameters by number only"""
    second: Floats
    first: Floats | None
    weights: Floats | None
    step: int | None
    lr: float
    initial_lr: float
    betas: tuple[float, float]
    eps: float

    @property
    def name(self) -> str:
        """The parameter's name, or its number."""
        return self.parameter.name if self.parameter is not None else f"parameter {self.index}"


def optimizer_with_moments(checkpoint: Checkpoint) -> str | None:
    """The way to the largest optimizer state with second moments; None where there is none that can be read."""
    if checkpoint.format not in READABLE:
        return None
    groups = [one.group for one in checkpoint.tensors if one.part == "optimizer" and _MOMENT.match(one.name)]
    return max(dict.fromkeys(groups), key=groups.count) if groups else None


def read_moments(scope: Scope, checkpoint: Checkpoint, group: str, others: Sequence[Checkpoint]) -> list[Moments]:
    """The moments in the order of the parameters; weights come from the same file, else from one in the same folder."""
    home, models = _models(checkpoint, others)
    own = {one.name: one for one in checkpoint.tensors if one.group == group and one.part == "optimizer"}
    found = sorted((match.group(1) for name in own if (match := _MOMENT.match(name))), key=_natural)
    parameters = _parameters([own[f"state.{index}.exp_avg_sq"].shape for index in found], found, models)
    numbers = _values(
        scope, checkpoint, [one for one in own.values() if one.name.endswith((".exp_avg", ".exp_avg_sq", ".step"))]
    )
    weights = _values(scope, home, [one for one in parameters if one is not None])
    return [
        _moments(checkpoint, group, position, index, own, numbers, parameter, weights)
        for position, (index, parameter) in enumerate(zip(found, parameters, strict=True))
        if own[f"state.{index}.exp_avg_sq"].path in numbers
    ]


def _moments(  # noqa: PLR0913, PLR0917 - one row of each list
    checkpoint: Checkpoint,
    group: str,
    position: int,
    index: str,
    own: dict[str, TensorInfo],
    numbers: dict[str, Floats],
    parameter: TensorInfo | None,
    weights: dict[str, Floats],
) -> Moments:
    def stored(name: str) -> Floats | None:
        tensor = own.get(f"state.{index}.{name}")
        return None if tensor is None else numbers.get(tensor.path)

    prefix = f"{group}." if group else ""
    asked = f"{prefix}param_groups[{_param_group(checkpoint, prefix, position)}]."
    step, said = stored("step"), checkpoint.scalars.get(f"{prefix}state.{index}.step")
    # A tensor since torch 1.12, a number before.
    count = float(step[0]) if step is not None and len(step) else said
    place = own[f"state.{index}.exp_avg_sq"]
    return Moments(
        index=index,
        place=place,
        parameter=parameter,
        second=numbers[place.path],
        first=stored("exp_avg"),
        weights=None if parameter is None else weights.get(parameter.path),
        step=int(count) if isinstance(count, int | float) and count >= 1 else None,
        lr=_said(checkpoint, f"{asked}lr", math.nan),
        initial_lr=_said(checkpoint, f"{asked}initial_lr", math.nan),
        betas=(_share(checkpoint, f"{asked}betas[0]", 0.9), _share(checkpoint, f"{asked}betas[1]", 0.999)),
        eps=_said(checkpoint, f"{asked}eps", 1e-8),
    )


def _said(checkpoint: Checkpoint, key: str, default: float) -> float:
    value = checkpoint.scalars.get(key, default)
    return float(value) if isinstance(value, int | float) else default


def _share(checkpoint: Checkpoint, key: str, default: float) -> float:
    """A number of which a damaged or hostile file may say anything."""
    value = _said(checkpoint, key, default)
    return value if 0 <= value < 1 else default


def _param_group(checkpoint: Checkpoint, prefix: str, position: int) -> int:
    """Parameters are numbered through the groups, one group after the other."""
    sizes: list[int] = []
    while isinstance(size := checkpoint.scalars.get(f"{prefix}param_groups[{len(sizes)}].params.length"), int):
        sizes.append(size)
    edges = [sum(sizes[:at]) for at in range(len(sizes) + 1)]
    return next((at for at, (first, last) in enumerate(pairwise(edges)) if first <= position < last), 0)


def _models(checkpoint: Checkpoint, others: Sequence[Checkpoint]) -> tuple[Checkpoint, list[list[TensorInfo]]]:
    """The models that the optimizer may belong to, each with its parameters in their order."""
    folder = PurePosixPath(checkpoint.path).parent
    beside = [row for row in others if PurePosixPath(row.path).parent == folder and row.format in READABLE]
    for row in [checkpoint, *(other for other in beside if other.path != checkpoint.path)]:
        models = [
            [one for one in row.tensors if one.part == "model" and one.group == group and not is_buffer(one)]
            for group in row.model_groups
        ]
        if models:
            return row, models
    return checkpoint, []


def _parameters(
    shapes: Sequence[tuple[int, ...]], indexes: Sequence[str], models: Sequence[list[TensorInfo]]
) -> list[TensorInfo | None]:
    """The parameter behind each state: of the model that agrees shape by shape, or by name where states have names."""
    for model in models:
        for order in _orders(model):
            if [one.shape for one in order] == list(shapes):
                return [*order]
    by_name = {one.name: one for model in models for one in model}
    return [by_name.get(index) for index in indexes]


def _orders(model: Sequence[TensorInfo]) -> list[list[TensorInfo]]:
    """The orders in which an optimizer may have been given a model's parameters.

    As they are registered; matrices before the rest, as where only they decay; and by number, since safetensors files
    are sorted by the alphabet. Words have no order: only names that are alike up to their first number are sorted.
    """
    orders = [list(model)]
    if len({re.split(r"\d", one.name, maxsplit=1)[0] for one in model}) == 1:
        orders.append(sorted(model, key=lambda one: (_natural(one.name.rpartition(".")[0]), one.name.endswith("bias"))))
    return [*orders, *(sorted(order, key=lambda one: len(one.shape) < 2) for order in orders)]


def _values(scope: Scope, checkpoint: Checkpoint, wanted: Sequence[TensorInfo]) -> dict[str, Floats]:
    with scope.open(checkpoint.path) as handle:
        return {tensor.path: values for tensor, values in read_values(handle, checkpoint, wanted, MOST_BYTES)}


def _natural(text: str) -> list[tuple[int, str]]:
    return [(int(part), "") if part.isdecimal() else (-1, part) for part in re.split(r"(\d{1,18})", text)]
