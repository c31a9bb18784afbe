"""Losses over all rows of one table or graph, of which the same function holds some out by a mask."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import NamedTuple

from traindx.program.analysis import Analysis
from traindx.program.trace import Event
from traindx.program.values import Place
from traindx.readers.code.syntax import all_nodes, name_of

_HELD = re.compile(r"(?:^|_)(?:val|valid|validation|test|dev|heldout|holdout)(?:_|$)", re.IGNORECASE)
_TRAIN = re.compile(r"(?:^|_)(?:train|tr|trn|training)(?:_|$)", re.IGNORECASE)


class HeldRows(NamedTuple):
    """A loss over the labels of all rows."""

    loss: Place
    held: Place
    """where rows of the same labels are picked to evaluate on"""
    labels: str
    mask: str


def losses_over_held_rows(analysis: Analysis) -> Iterator[HeldRows]:
    """Losses that a backward starts from whose labels are taken whole, beside picks of them by a mask of other rows."""
    learning = {turn.loop.node for event in analysis.trace.of("backward") for turn in event.turns}
    done: set[int] = set()
    for event in analysis.trace.of("loss"):
        node = event.place.node
        if (
            not isinstance(node, ast.Call)
            or id(node) in done
            or not event.grad
            or event.facts.get("reduction") == "none"
        ):
            continue
        if not any(turn.loop.node in learning for turn in event.turns) or _is_cut_later(event):
            continue
        done.add(id(node))
        for given in node.args:
            if isinstance(given, ast.Name) and (held := _picks(event, given.id)) is not None:
                yield HeldRows(event.place, Place(event.place.unit, held), given.id, ast.unparse(held.slice))
                break


def _function(event: Event) -> ast.AST:
    """The innermost function around a loss; the file where there is none."""
    unit, line = event.place.unit, event.place.line
    around = [node for node in unit.nodes.of(ast.FunctionDef) if node.lineno <= line <= (node.end_lineno or 0)]
    return max(around, key=lambda node: node.lineno) if around else unit.tree


def _picks(event: Event, labels: str) -> ast.Subscript | None:
    """Where the labels of held-out rows are picked, if those of the training rows are picked too."""
    found = [
        node
        for node in all_nodes(_function(event))
        if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Load) and name_of(node.value) == labels
    ]
    if not any(_TRAIN.search(name_of(node.slice)) for node in found):
        return None
    return next((node for node in found if _HELD.search(name_of(node.slice))), None)


def _is_cut_later(event: Event) -> bool:
    """Whether the loss of each row is picked or weighed behind it: `loss[mask].mean()`, `(loss * mask).sum()`."""
    function, call = _function(event), event.place.node
    names = {
        name_of(target)
        for row in all_nodes(function)
        if isinstance(row, ast.Assign) and any(part is call for part in all_nodes(row.value))
        for target in row.targets
    }
    for node in all_nodes(function):
        if isinstance(node, ast.Subscript) and (name_of(node.value) in names or node.value is call):
            return True
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult):
            sides = (node.left, node.right)
            if any(side is call or name_of(side) in names for side in sides) and not any(
                isinstance(side, ast.Constant) for side in sides
            ):
                return True
    return False
