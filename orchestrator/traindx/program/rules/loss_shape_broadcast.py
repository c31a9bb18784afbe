"""Prediction and target have shapes that broadcast.

## What it finds
A prediction of shape (N, 1) against a target of shape (N,), or the reverse, in a loss or a difference that is squared.

## Why it matters
Broadcasting makes an N by N matrix: every prediction is compared with every target, and the best the model can do is to
predict the mean.

## Silent
Equal shapes, squeezed or unsqueezed ones, shapes that are not known.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from traindx.program.analysis import Analysis
from traindx.program.finding import Finding
from traindx.program.library.tensors import ENDS_IN_ONE, FLAT
from traindx.program.values import Shape, Tensor, Value
from traindx.readers.code.syntax import name_of

ID = "loss-shape-broadcast"
_ELEMENTWISE = {"mse", "l1", "smooth_l1", "gaussian", "poisson"}


def check(analysis: Analysis) -> Iterator[Finding]:
    """Look at the shapes in every element-wise loss."""
    for event in analysis.trace.of("loss", "difference"):
        if event.kind == "loss":
            if event.facts["kind"] not in _ELEMENTWISE or not event.grad:
                continue
            one, other = event.facts.get("prediction"), event.facts.get("target")
        else:
            one, other = event.facts["left"], event.facts["right"]
            if _is_meant(event.place.node):
                continue
        shapes = _clash(one, other)
        if shapes is None:
            continue
        told = f"{_said(shapes[0])} against {_said(shapes[1])}"
        yield Finding(
            ID,
            event.place,
            f"the shapes {told} broadcast to a matrix: every prediction is compared with every target",
            facts={"loss_place": event.place.text, "shapes": told, "prediction_shape": _said(shapes[0])},
        )


def _is_meant(node: ast.AST) -> bool:
    """Whether a side of a difference is given its new axis right there: `d.unsqueeze(-1) - centres`."""
    for part in ast.walk(node):
        if isinstance(part, ast.Call) and name_of(part.func) in {"unsqueeze", "expand_dims", "expand"}:
            return True
        if isinstance(part, ast.Subscript):
            index = part.slice.elts if isinstance(part.slice, ast.Tuple) else [part.slice]
            if any(isinstance(one, ast.Constant) and one.value is None for one in index):
                return True
    return False


def _clash(one: Value | None, other: Value | None) -> tuple[Shape, Shape] | None:
    if not isinstance(one, Tensor) or not isinstance(other, Tensor):
        return None
    one, other = _as_column(one, other), _as_column(other, one)
    one, other = (
        side.but(shape=(None,)) if side.shape is None and FLAT in side.marks else side for side in (one, other)
    )
    if one.shape is None or other.shape is None:
        return None
    if not (one.graph or other.graph):
        return None
    longer, shorter = (one.shape, other.shape) if len(one.shape) > len(other.shape) else (other.shape, one.shape)
    if len(longer) != 2 or len(shorter) != 1:
        return None
    # (N, 1) against (1,) is a number; against (N,) it is a matrix.
    if longer[1] == 1 and shorter[0] != 1 and longer[0] != 1:
        return one.shape, other.shape
    return None


def _as_column(value: Tensor, beside: Tensor) -> Tensor:
    """The output of a layer of one unit, with whatever dimensions before it, ends in a 1 until something takes it away;
    so does what was picked with an index that ends in a 1.
    """
    if value.shape is not None or FLAT in value.marks:
        return value
    many = "batched" in value.marks or "listed" in beside.marks
    of_one_unit = value.act == "linear" and "one-out" in value.marks and many
    return value.but(shape=(None, 1)) if of_one_unit or ENDS_IN_ONE in value.marks else value


def _said(shape: Shape) -> str:
    inner = ", ".join("N" if size is None else str(size) for size in shape)
    return f"({inner},)" if len(shape) == 1 else f"({inner})"
