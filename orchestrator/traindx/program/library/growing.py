"""Containers of modules that grow (`append`, `insert`, `extend`, `+=` and `+` keep what was put in registered), and
parts of them."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from traindx.program.library.layers import CONTAINERS, children
from traindx.program.values import Instance, Items, Layer, Mapping, Parameters, Plain, Tensor, Value

if TYPE_CHECKING:
    from traindx.program.machine import Machine

_REGISTERED = Layer | Instance | Tensor


def is_container(value: Value) -> bool:
    """Whether a value is a `ModuleList`, a `Sequential` or another container of torch."""
    return isinstance(value, Layer) and value.kind in CONTAINERS


def extended(m: Machine, owner: Layer, given: Value) -> Layer:
    """`owner` with everything in another container, a list, a dictionary put in."""
    if isinstance(given, Mapping):
        for name, child in given.entries.items():
            m.journal.set(owner.fields, name, child)
        more = given.more
    else:
        parts, more = _parts(given)
        for child in parts:
            m.journal.set(owner.fields, str(len(children(owner))), child)
    if more:
        m.journal.set(owner.fields, "@more", Plain(True))
    return owner


def inserted(m: Machine, owner: Layer, at: Value, child: Value) -> Layer:
    """`owner.insert(at, child)`; a place that nobody knows counts as the end."""
    held = children(owner)
    place = at.value if isinstance(at, Plain) and isinstance(at.value, int) else len(held)
    held.insert(place, child)
    for number, part in enumerate(held):
        m.journal.set(owner.fields, str(number), part)
    return owner


def together(m: Machine, left: Layer, right: Value) -> Layer:
    """`left + right`: a new container with the modules of both."""
    made = Layer(kind=left.kind, place=left.place, fields=dict(left.fields))
    m.trace.layers[made.number] = made
    return extended(m, made, right)


def part_of(m: Machine, owner: Layer, part: ast.Slice) -> Layer:
    """`net[:3]`: a container with some of the modules; the whole one, as a guess, where nobody knows which."""
    from traindx.program.expressions import evaluate

    if not is_container(owner):
        return owner
    bounds = [evaluate(m, bound) if bound is not None else Plain(None) for bound in (part.lower, part.upper, part.step)]
    known = [b.value for b in bounds if isinstance(b, Plain) and isinstance(b.value, int | None) and b.sure != "varies"]
    made = Layer(kind=owner.kind, place=owner.place)
    m.trace.layers[made.number] = made
    rows = [(name, child) for name, child in owner.fields.items() if not name.startswith("@")]
    if len(known) < 3 or "@more" in owner.fields:
        made.guessed = True
        made.fields.update(rows)
    else:
        made.fields.update({str(at): child for at, (_, child) in enumerate(rows[slice(*known)])})
    made.fields["@training"] = owner.fields.get("@training", Plain(True))
    return made


def _parts(given: Value) -> tuple[list[Value], bool]:
    """What is in a container or a list, and whether there is more that is not known."""
    if isinstance(given, Layer) and is_container(given):
        return children(given), "@more" in given.fields
    if isinstance(given, Items):
        unknown = any(not isinstance(part, _REGISTERED) for part in given.items)
        return [part for part in given.items if isinstance(part, _REGISTERED)], given.more or unknown
    return [], not isinstance(given, Parameters)
