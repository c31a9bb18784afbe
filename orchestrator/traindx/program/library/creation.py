"""New tensors: zeros and random numbers, tensors made from values, several joined into one."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from traindx.program.library import permutations, shapes
from traindx.program.library.graphs import mixed
from traindx.program.values import (
    LEAF,
    NOTHING,
    Cut,
    Items,
    Plain,
    Shape,
    Tensor,
    Value,
    whole,
)

if TYPE_CHECKING:
    from traindx.program.calling import Call
    from traindx.program.machine import Machine

MADE = frozenset(["zeros", "ones", "randn", "rand", "empty", "full", "new_zeros", "new_ones", "new_full", "randint",
                   "new_empty", "normal", "uniform"])  # fmt: skip
LIKE = frozenset(["zeros_like", "ones_like", "randn_like", "rand_like", "full_like", "empty_like"])
JOINED = frozenset(["cat", "stack", "concat", "concatenate", "vstack", "hstack", "pad_sequence"])


def created(name: str, call: Call) -> Tensor:
    """A new tensor: zeros, random numbers, a copy of a shape."""
    if name in LIKE:
        like = call.args[0] if call.args else None
        shape = like.shape if isinstance(like, Tensor) else None
    else:
        shape = shapes.given(call, skip=2 if name == "randint" and len(call.args) > 2 else 0)
        if name == "randint":
            shape = shapes.of_sizes(call.argument(2, "size")) or shapes.of_sizes(call.argument(1, "size"))
        elif name in {"normal", "uniform"}:
            shape = shapes.of_sizes(call.keywords.get("size"))
        elif name.endswith("full"):
            shape = shapes.of_sizes(call.args[0]) if call.args else None
    zero = "zeros" in name
    wants = call.keywords.get("requires_grad")
    leaf = isinstance(wants, Plain) and wants.value is True
    constant = {"constant"} if "ones" in name or "full" in name else set()
    marks = frozenset({"zeros"} if zero else constant) | frozenset({"leaf"} if leaf else ())
    dtype = "long" if name == "randint" else ""
    return Tensor(shape=shape, marks=marks, graph=LEAF if leaf else NOTHING, dtype=dtype)


def rebuilt(m: Machine, name: str, call: Call) -> Value:
    """A tensor made from values: what they came from no longer counts."""
    given = call.args[0] if call.args else None
    wants = call.keywords.get("requires_grad")
    leaf = isinstance(wants, Plain) and wants.value is True
    inner = call.tensors
    shape: Shape | None = None
    if isinstance(given, Tensor):
        shape = given.shape
    elif isinstance(given, Plain) and isinstance(given.value, int | float):
        shape = ()
    elif isinstance(given, Items):
        shape = (None if given.more else len(given.items), *(inner[0].shape or () if inner else ()))
    graphed = [part for part in inner if part.graph]
    cut = next((part.cut for part in inner if part.cut), None)
    if graphed and name not in {"as_tensor", "asarray"}:
        cut = Cut(f"`{name}(…)`", m.place(call.node))
    marks = frozenset().union(*(part.marks for part in inner)) - {"leaf", "opaque", "zeros"}
    if isinstance(given, Items) and given.more and not inner:
        marks |= {"listed"}
    if leaf:
        marks |= {"leaf"}
    dtype = next((part.dtype for part in inner if part.dtype), "")
    loss = next((part.loss for part in inner if part.loss), None)
    origin: frozenset[int] = frozenset().union(*(part.origin for part in inner))
    order: frozenset[int] = frozenset().union(*(part.order for part in inner))
    if cut is not None:
        marks |= {"rebuilt", "cut-leaf"} if leaf else {"rebuilt"}
    return Tensor(
        shape=shape,
        marks=marks,
        graph=LEAF if leaf else NOTHING,
        cut=cut,
        dtype=dtype,
        loss=loss,
        origin=origin,
        order=order,
        made=m.place(call.node) if leaf and cut is not None else None,
    )


def joined(m: Machine, name: str, call: Call) -> Value:
    """Several tensors as one: `cat`, `stack` and their like."""
    given = call.args[0] if call.args else call.keywords.get("tensors")
    parts = call.tensors
    first = next((part.shape for part in parts), None)
    dim = whole(call.argument(1, "dim")) or 0
    shape: Shape | None = None
    if first is not None and name == "stack":
        at = dim if dim >= 0 else len(first) + 1 + dim
        size = len(given.items) if isinstance(given, Items) and not given.more else None
        shape = (*first[:at], size, *first[at:])
    elif first is not None:
        at = dim if dim >= 0 else len(first) + dim
        shape = tuple(None if place == at else size for place, size in enumerate(first))
    made = mixed(m, parts, shape)
    acts = {part.act for part in parts}
    marks = made.marks | frozenset().union(*(part.marks for part in parts)) & {
        "pixels",
        "zeros",
        "reduced-squared",
        "overlapping",
        permutations.AGAIN,
    }
    index = all(part.shape is not None and len(part.shape) == 1 and not part.deps for part in parts)
    if permutations.AGAIN in marks and len(parts) > 1 and (index or parts[0].origin & parts[-1].origin):
        marks |= {"with-copies"}
    deep = [part for part in parts if part.deps]
    if deep and all("affine" in part.marks for part in deep):
        marks |= {"affine"}
    constants = [part for part in parts if part.marks & {"zeros", "constant"}]
    several = len(parts) > 1 or _one_of_each(call.node)
    if name in {"cat", "concatenate", "concat", "hstack"} and several and constants and len(constants) == len(parts):
        marks |= {"in-classes"}
    # Samples that are picked from one array and stacked, or slices of it, are not copies of its rows.
    picked = name == "stack" or all("some-rows" in part.marks for part in parts) or bool(parts and parts[0].rows)
    if len(parts) > 1 and len({part.origin for part in parts if part.origin}) == 1 and not picked:
        marks |= {"repeated"}
        along = whole(call.keywords.get("axis", call.argument(1, "dim")))
        if name in {"cat", "concatenate", "concat", "vstack"} and along in {None, 0} and not parts[0].graph:
            marks |= {"oversampled"}
    return made.but(act=acts.pop() if len(acts) == 1 else "", act_at=parts[0].act_at if parts else None, marks=marks)


def _one_of_each(node: ast.Call) -> bool:
    """`concatenate([np.full(len(rows), label) for label, rows in …])`: each part holds its own number."""
    given = node.args[0] if node.args else None
    if not isinstance(given, ast.ListComp | ast.GeneratorExp) or not isinstance(given.elt, ast.Call):
        return False
    names = {part.id for part in ast.walk(given.generators[0].target) if isinstance(part, ast.Name)}
    filled = [*given.elt.args[1:], *(part.value for part in given.elt.keywords)]
    return any(isinstance(part, ast.Name) and part.id in names for part in filled)
