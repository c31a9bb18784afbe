"""The graph behind a tensor: what an operation passes on, and what a backward pass spends."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import TYPE_CHECKING

from traindx.program.values import (
    LEAF,
    NOTHING,
    Cut,
    Guess,
    Items,
    Plain,
    Shape,
    Tensor,
    Value,
    number,
)

if TYPE_CHECKING:
    from traindx.program.calling import Call
    from traindx.program.machine import Machine

_LASTING = frozenset({"batched", "input", "logprob", "fitted-on-all", "grows", "ratio"})
"""marks that an operation on several tensors passes on"""


def mixed(
    m: Machine, parts: Sequence[Tensor], shape: Shape | None = None, marks: frozenset[str] = NOTHING, act: str = ""
) -> Tensor:
    """What an operation on tensors gives that keeps their graph and nothing else."""
    graph, sure, deps = m.attached(parts)
    return Tensor(
        graph=graph,
        sure=sure,
        deps=deps,
        shape=shape,
        act=act,
        marks=marks | (frozenset().union(*(part.marks for part in parts)) & _LASTING),
        states=frozenset().union(*(part.states for part in parts)),
        cut=next((part.cut for part in parts if part.cut), None) if not deps else None,
        origin=frozenset().union(*(part.origin for part in parts)),
        order=frozenset().union(*(part.order for part in parts)),
        loss=next((part.loss for part in parts if part.loss), None),
        sign=next((part.sign for part in parts if part.loss), 1),
        divided=any(part.divided for part in parts),
    )


def backward(m: Machine, owner: Tensor, call: Call) -> Value:
    """A backward pass: the graph behind the tensor is spent."""
    retain = call.keywords.get("retain_graph", call.keywords.get("create_graph"))
    kept = isinstance(retain, Plain) and retain.value is True
    path = tuple(turn.serial for turn in m.turns)
    again = [serial for serial in owner.graph if serial in m.spent and not _within(m.spent[serial], path)]
    m.event(
        "backward",
        call.node,
        owner,
        value=owner,
        retain=kept,
        again=tuple(again),
        autocast=m.autocast,
        keeps=keeps_graph(call),
    )
    for serial in owner.graph - LEAF:
        m.spent.setdefault(serial, path)
    return Plain(None)


def clears_gradient(name: str, args: Sequence[Value]) -> bool:
    """Whether a method of a gradient leaves nothing of it: `zero_()`, `fill_(0)`, `mul_(0)`."""
    return name == "zero_" or (name in {"fill_", "mul_"} and bool(args) and number(args[0]) == 0)


def keeps_graph(call: Call) -> bool:
    """Whether a backward is told to keep the graph: `retain_graph=True`."""
    told = call.keywords.get("retain_graph", call.args[1] if len(call.args) > 1 else None)
    return isinstance(told, Plain) and told.value is True


def gradients(m: Machine, call: Call) -> Value:
    """`autograd.grad`: gradients that have a graph of their own only with `create_graph=True`."""
    of, by = call.argument(0, "outputs"), call.argument(1, "inputs")
    create = call.argument(4, "create_graph")
    m.event("autograd-grad", call.node, of or Guess(""))
    value = of if isinstance(of, Tensor) else Tensor()
    keeps = create is not None and not (isinstance(create, Plain) and create.value is False)
    parts = by.items if isinstance(by, Items) else [by]
    place = m.place(call.node)
    told = next((part.value for part in call.node.keywords if part.arg == "create_graph"), None)
    if isinstance(told, ast.Name) and m.calls:
        place = m.calls[-1]  # the caller has chosen
    cut = Cut("`autograd.grad` without `create_graph=True`", place) if value.deps else value.cut
    found: list[Value] = []
    for part in parts:
        shape = part.shape if isinstance(part, Tensor) else None
        made = mixed(m, [value], shape) if keeps else Tensor(shape=shape, cut=cut)
        found.append(made.but(loss=None, act="").marked("gradient"))
    return Items(found, "tuple", not isinstance(by, Tensor | Items))


def _within(outer: tuple[int, ...], inner: tuple[int, ...]) -> bool:
    """Whether one place in the loops lies in the same iteration as another."""
    return inner[: len(outer)] == outer
