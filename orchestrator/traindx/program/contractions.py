"""Products that sum over an axis: which axis, and whether the weights were made to add up to one along it."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from traindx.program.values import Plain, Tensor, Value, text

if TYPE_CHECKING:
    from traindx.program.calling import Call
    from traindx.program.machine import Machine

SCORES = "scores"
"""the mark of a product of two things that the model computes, such as queries and keys"""
THREE_AXES = "three-axes"
"""the mark of a tensor with three axes at least, where its shape is not known, and of scores made from one"""
OF_ONE = "of-one"
"""the mark of a softmax over an axis of one element"""
_IF_FLAT = "of-one-if-flat"


def marks_of(left: Value, right: Value) -> frozenset[str]:
    """`scores` where both sides of a product are computed by layers."""
    both = isinstance(left, Tensor) and isinstance(right, Tensor) and bool(left.deps) and bool(right.deps)
    plain = both and not any("parameter" in side.marks for side in (left, right) if isinstance(side, Tensor))
    deep = any(THREE_AXES in side.marks for side in (left, right) if isinstance(side, Tensor))
    return frozenset({SCORES, THREE_AXES} if deep else {SCORES}) if plain else frozenset()


def product(m: Machine, node: ast.AST, left: Value, rank: int | None = None) -> None:
    """`left @ right` sums over the last axis of its left side."""
    if not _weighs(left) or not isinstance(left, Tensor) or left.act_dim is None:
        return
    known = len(left.shape) if left.shape else rank or (3 if THREE_AXES in left.marks else None)
    dim = left.act_dim if left.act_dim < 0 or known is None else left.act_dim - known
    if dim < -1:
        m.event("weighted-sum", node, left, over="the last axis", along=left.act_dim)


def along_one(owner: Tensor, dim: int | None) -> frozenset[str]:
    """The mark of what a softmax of scores gives: over one element for certain, or if there are two axes."""
    if dim is None or owner.act != "linear":
        return frozenset()
    if owner.shape is not None:
        one = -len(owner.shape) <= dim < len(owner.shape) and owner.shape[dim] == 1
        return frozenset({OF_ONE} if one else ())
    last = "one-out" in owner.marks
    return frozenset({OF_ONE} if last and dim == -1 else {_IF_FLAT} if last and dim == 1 else ())


def flat(owner: Tensor) -> frozenset[str]:
    """The marks of a tensor that is taken for a matrix: it has two axes."""
    return owner.marks - {_IF_FLAT} | {OF_ONE} if _IF_FLAT in owner.marks else owner.marks


def of_one(m: Machine, node: ast.AST, left: Value, right: Value) -> None:
    """Something is weighed by a softmax over an axis of one element: by ones."""
    for weights, other in ((left, right), (right, left)):
        mine = isinstance(weights, Tensor) and weights.act == "softmax" and OF_ONE in weights.marks
        number = isinstance(other, Plain) or (isinstance(other, Tensor) and other.shape == ())
        if mine and not number and not (isinstance(other, Tensor) and other.act == "softmax"):
            m.event("weighs-alike", node, weights, other=other)


def weighted(left: Value, right: Value, made: Tensor) -> Tensor:
    """A product with scores, one for each position, that a softmax has made: it remembers along which axis."""
    for weights, other in ((left, right), (right, left)):
        if not isinstance(weights, Tensor) or not isinstance(other, Tensor) or weights.act != "softmax":
            continue
        one, two = weights.shape, other.shape
        if weights.act_dim is None or one is None or two is None or not 3 == len(one) == len(two):
            continue
        if one[-1] == 1 and two[-1] != 1 and other.act != "softmax":
            return made.but(act="weighted", act_dim=weights.act_dim, act_at=weights.act_at)
    return made


def summed(m: Machine, node: ast.AST, owner: Tensor, dim: int | None) -> None:
    """A sum over an axis of positions along which the weights do not add up to one."""
    if owner.act != "weighted" or owner.act_dim is None or owner.shape is None or dim is None:
        return
    size = len(owner.shape)
    if -size <= dim < size and dim % size not in {owner.act_dim % size, size - 1}:
        m.event("weighted-sum", node, owner, over=f"axis {dim}", along=f"axis {owner.act_dim}", axis=dim)


def einsum(m: Machine, call: Call) -> frozenset[str]:
    """`einsum("b i j, b j d -> b i d", weights, values)`: `j` is what is summed over. Gives the marks of the result."""
    spec = text(call.args[0]) if call.args else ""
    operands, arrow, result = spec.partition("->")
    if not arrow or "." in spec:
        return frozenset()
    parts = [_axes(part) for part in operands.split(",")]
    values = call.args[1:]
    for axes, value in zip(parts, values, strict=False):
        if not isinstance(value, Tensor) or not _weighs(value) or value.act_dim is None or not axes:
            continue
        if not -len(axes) <= value.act_dim < len(axes):
            continue
        summed = [axis for axis in axes if axis not in _axes(result)]
        along = axes[value.act_dim]
        if summed and along not in summed:
            told = " and ".join(f"`{axis}`" for axis in summed)
            m.event("weighted-sum", call.node, value, over=told, along=f"`{along}`")
    return marks_of(values[0], values[1]) if len(values) == 2 else frozenset()


def _weighs(value: Value) -> bool:
    return isinstance(value, Tensor) and value.act == "softmax" and SCORES in value.marks


def _axes(part: str) -> list[str]:
    """`b i j` and `bij` alike."""
    return part.split() if " " in part.strip() else list(part.strip())
