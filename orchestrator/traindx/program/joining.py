"""What a variable holds where two paths of a program meet."""

from __future__ import annotations

from traindx.program.ranges import joined
from traindx.program.values import NOTHING, UNKNOWN, Guess, Items, Layer, Mapping, Plain, Tensor, Value, is_none


def join(one: Value, other: Value, depth: int = 4) -> Value:
    """A value that is true of both; where nothing is, one of them if the other says nothing."""
    if one is other or one == other:
        return one
    if isinstance(one, Tensor) and isinstance(other, Tensor):
        return _tensors(one, other)
    if isinstance(one, Items) and isinstance(other, Items) and depth:
        if len(one.items) == len(other.items):
            both = [join(a, b, depth - 1) for a, b in zip(one.items, other.items, strict=True)]
            return Items(both, one.kind, one.more or other.more)
        longer = one if len(one.items) > len(other.items) else other
        return Items(longer.items, longer.kind, True)
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        return Mapping({**one.entries, **other.entries}, True)
    for value, rest in ((one, other), (other, one)):
        if is_none(value):
            return maybe_fresh(rest)
        if isinstance(value, Guess) or value is UNKNOWN:
            return rest.but(sure=False) if isinstance(rest, Tensor) and rest.graph else rest
        if isinstance(value, Tensor) and isinstance(rest, Plain):
            return value.but(sure=False) if value.graph else value
        if isinstance(value, Tensor) and isinstance(rest, Items):
            return value.but(sure=False, graph=NOTHING)
    if isinstance(one, Layer) and isinstance(other, Layer) and _wraps(one, other):
        return Layer(kind="?", fields={"0": one, "1": other}, guessed=True)
    if isinstance(one, Plain) and isinstance(other, Plain):
        return Plain(one.value, "varies", one.name) if one.value != other.value else one
    return other


def _wraps(one: Layer, other: Layer) -> bool:
    """Whether one module is a part of the other: a last layer that only one path adds."""
    return any(part is one for part in other.fields.values()) or any(part is other for part in one.fields.values())


def maybe_fresh(value: Value, depth: int = 3) -> Value:
    """A value that is None, or a new state, on some paths."""
    if isinstance(value, Tensor):
        marked = value.marked("maybe-fresh") if value.states else value
        return marked.but(sure=False) if value.graph else marked
    if isinstance(value, Items) and depth:
        return Items([maybe_fresh(part, depth - 1) for part in value.items], value.kind, value.more)
    return value


def _tensors(one: Tensor, other: Tensor) -> Tensor:
    same = one.act == other.act
    fresh = {"maybe-fresh"} if bool(one.states) != bool(other.states) else frozenset[str]()
    fresh = fresh | ((one.marks | other.marks) & {"maybe-fresh"})
    # What both paths share is certain; where they share nothing, neither is.
    shared = one.graph & other.graph
    neither = not one.graph and not other.graph
    return Tensor(
        graph=shared or one.graph | other.graph,
        sure=one.sure and other.sure and (bool(shared) or neither),
        deps=one.deps | other.deps,
        act=one.act if same else "",
        act_at=one.act_at if same else None,
        act_dim=one.act_dim if same else None,
        shape=one.shape if one.shape == other.shape else None,
        dtype=one.dtype if one.dtype == other.dtype else "",
        loss=one.loss or other.loss,
        sign=one.sign if one.sign == other.sign else 0,
        divided=one.divided or other.divided,
        states=one.states | other.states,
        marks=(one.marks & other.marks) | fresh,
        cut=one.cut if one.cut == other.cut else None,
        origin=one.origin | other.origin,
        order=one.order | other.order,
        range=joined(one.range, other.range) if one.range is not None and other.range is not None else None,
    )
