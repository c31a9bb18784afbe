"""Containers of modules that grow: `append`, `insert`, `extend`, `+=` and `+` keep what was put in registered."""

from __future__ import annotations

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


def _parts(given: Value) -> tuple[list[Value], bool]:
    """What is in a container or a list, and whether there is more that is not known."""
    if isinstance(given, Layer) and is_container(given):
        return children(given), "@more" in given.fields
    if isinstance(given, Items):
        unknown = any(not isinstance(part, _REGISTERED) for part in given.items)
        return [part for part in given.items if isinstance(part, _REGISTERED)], given.more or unknown
    return [], not isinstance(given, Parameters)
