"""Giving values to targets: names, tuples, attributes, subscripts."""

from __future__ import annotations

import ast
from dataclasses import replace
from typing import TYPE_CHECKING

from traindx.program.joining import join
from traindx.program.library.initialising import written_out
from traindx.program.streams import LOADER
from traindx.program.values import (
    LEAF,
    UNKNOWN,
    Guess,
    Imported,
    Instance,
    Items,
    Layer,
    Made,
    Mapping,
    Object,
    Parameters,
    Plain,
    Stream,
    Tensor,
    Value,
    is_none,
)

if TYPE_CHECKING:
    from traindx.program.machine import Machine


def bind(m: Machine, target: ast.expr, value: Value, node: ast.AST) -> None:
    """Assign a value to a target."""
    if isinstance(target, ast.Name | ast.Attribute) and _is_blank(value):
        m.event("fresh", node, value, name=target.id if isinstance(target, ast.Name) else target.attr)
    if isinstance(value, Tensor) and value.made is not None and isinstance(target, ast.Name | ast.Attribute):
        written_out(m, target, value, node)
    if isinstance(target, ast.Name):
        _name(m, target.id, value)
    elif isinstance(target, ast.Tuple | ast.List):
        _unpack(m, target.elts, value, node)
    elif isinstance(target, ast.Attribute):
        _attribute(m, target, value, node)
    elif isinstance(target, ast.Subscript):
        _subscript(m, target, value, node)
    elif isinstance(target, ast.Starred):
        bind(m, target.value, Items([value], "list", True), node)


def _is_blank(value: Value) -> bool:
    """Zeros, or a tuple of them: what a recurrent state begins with."""
    if isinstance(value, Items):
        return bool(value.items) and all(_is_blank(part) for part in value.items)
    return isinstance(value, Tensor) and "zeros" in value.marks and not value.states


def _name(m: Machine, name: str, value: Value) -> None:
    if isinstance(value, Plain) and not value.name:
        value = replace(value, name=name)
    named = value.fields.get(LOADER) if isinstance(value, Instance) else value
    if isinstance(named, Made) and "@name" not in named.fields:
        named.fields["@name"] = Plain(name)
    if f"@outer {name}" in m.scope.names:
        scope = m.scope.outer
        while scope is not None and name not in scope.names and scope.outer is not None:
            scope = scope.outer
        if scope is not None:
            m.journal.set(scope.names, name, value)
            return
    m.bind(name, value)


def _unpack(m: Machine, targets: list[ast.expr], value: Value, node: ast.AST) -> None:
    starred = next((at for at, target in enumerate(targets) if isinstance(target, ast.Starred)), None)
    parts = elements(m, value, len(targets), [_spelled(target) for target in targets])
    if starred is not None and isinstance(value, Items) and not value.more:
        tail = len(targets) - starred - 1
        middle = value.items[starred : len(value.items) - tail]
        parts = [*value.items[:starred], Items(middle, "list"), *value.items[len(value.items) - tail :]]
        if len(parts) != len(targets):
            parts = [UNKNOWN] * len(targets)
        targets = [target.value if isinstance(target, ast.Starred) else target for target in targets]
    for target, part in zip(targets, parts, strict=False):
        bind(m, target, part, node)


def _spelled(target: ast.expr) -> str:
    return target.id if isinstance(target, ast.Name) else getattr(target, "attr", "")


def elements(m: Machine, value: Value, wanted: int, names: list[str] | None = None) -> list[Value]:
    """What unpacking a value into so many parts gives."""
    if isinstance(value, Items) and (len(value.items) == wanted or (value.items and not value.more)):
        return [*value.items, *[UNKNOWN] * (wanted - len(value.items))][:wanted]
    if isinstance(value, Items) and len(value.items) == 1:
        return value.items * wanted  # one element that stands for all
    if isinstance(value, Stream):
        return [value.element] * wanted
    if isinstance(value, Tensor):
        if "opaque" in value.marks:
            return _opaque(value, names or [""] * wanted)
        shape = value.shape[1:] if value.shape else None
        return [value.but(shape=shape)] * wanted
    if isinstance(value, Guess):
        return [Guess(f"{value.name}[{at}]") for at in range(wanted)]
    return [UNKNOWN] * wanted


def _opaque(value: Tensor, names: list[str]) -> list[Value]:
    """Parts of what a module returned that nobody knows."""
    return [value.but(marks=value.marks - {"opaque"}) for _ in names]


def _attribute(m: Machine, target: ast.Attribute, value: Value, node: ast.AST) -> None:
    from traindx.program.expressions import evaluate

    owner = evaluate(m, target.value)
    name = target.attr
    if isinstance(owner, Parameters):
        if name == "requires_grad":
            _freeze(m, owner, value, node)
        elif name == "grad":
            m.event("zero" if _clears(value) else "gradient-set", node, owner)
        elif name == "data":
            m.event("overwritten", node, owner)
    elif isinstance(owner, Imported):
        m.journal.set(owner.scope.names, name, value)
    elif isinstance(owner, Object):
        if name == "requires_grad" and isinstance(owner, Instance | Layer):
            m.event("useless-freeze", node, owner, value=value)
        if isinstance(owner, Made) and name in {"grad", "data"}:
            return
        if name == "trainable" and isinstance(owner, Layer):
            m.event("trainable", node, owner, value=value)
        if isinstance(value, Plain) and not value.name:
            value = replace(value, name=name)
        if isinstance(owner, Instance | Layer) and isinstance(value, Instance | Layer):
            m.event("module-set", node, owner, name=name, value=value)
        m.journal.set(owner.fields, name, value)
    elif isinstance(owner, Tensor) and name == "grad" and not _clears(value):
        m.event("gradient-set", node, owner)
    elif isinstance(owner, Tensor) and name in {"requires_grad", "grad"}:
        _tensor_attribute(m, target, owner, name, node)


def _clears(value: Value) -> bool:
    """Whether a gradient that is set to this is cleared: None, or zeros."""
    return is_none(value) or (isinstance(value, Tensor) and "zeros" in value.marks)


def _tensor_attribute(m: Machine, target: ast.Attribute, owner: Tensor, name: str, node: ast.AST) -> None:
    if name == "requires_grad" and not owner.graph:
        bind(m, target.value, owner.but(graph=LEAF).marked("leaf"), node)
    elif name == "grad":
        m.event("zero", node, owner)


def _freeze(m: Machine, owner: Parameters, value: Value, node: ast.AST) -> None:
    on = value.value if isinstance(value, Plain) and isinstance(value.value, bool) else None
    if on is None:
        return
    m.event("freeze", node, owner, on=not on, guarded=bool(m.guards))
    for number in owner.layers:
        layer = m.trace.layers.get(number)
        if layer is not None:
            sure = "constant" if not m.guards and owner.known else "varies"
            m.journal.set(layer.fields, "@frozen", Plain(not on, sure))


def _subscript(m: Machine, target: ast.Subscript, value: Value, node: ast.AST) -> None:
    from traindx.program.expressions import evaluate

    owner = evaluate(m, target.value)
    key = evaluate(m, target.slice) if not isinstance(target.slice, ast.Slice) else UNKNOWN
    if isinstance(owner, Mapping):
        spelled = str(key.value) if isinstance(key, Plain) and key.value is not None else "?"
        m.journal.put(owner, "entries", {**owner.entries, spelled: value})
    elif isinstance(owner, Items):
        at = key.value if isinstance(key, Plain) else None
        items = list(owner.items)
        if isinstance(at, int) and -len(items) <= at < len(items):
            items[at] = value
        elif items:
            items[-1] = join(items[-1], value)
        m.journal.put(owner, "items", items)
    elif isinstance(owner, Layer | Instance):
        if isinstance(key, Plain):
            m.journal.set(owner.fields, str(key.value), value)
            if isinstance(value, Layer | Instance):
                m.event("module-set", node, owner, name=str(key.value), value=value)
    elif isinstance(owner, Tensor):
        m.event("written-into", node, owner, value=value)
        if isinstance(value, Tensor) and value.graph:
            graph, sure, deps = m.attached([owner, value])
            bind(m, target.value, owner.but(graph=graph, sure=sure, deps=deps, act=""), node)
