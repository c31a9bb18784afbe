"""Indexing: elements of lists and dictionaries, parts of tensors, layers of containers."""

from __future__ import annotations

import ast
from dataclasses import replace
from typing import TYPE_CHECKING

from traindx.program.joining import join
from traindx.program.marks import tells_of_splits
from traindx.program.values import (
    UNKNOWN,
    Guess,
    Instance,
    Items,
    Layer,
    Library,
    Made,
    Mapping,
    Parameters,
    Plain,
    Shape,
    Stream,
    Tensor,
    Value,
    number,
    text,
)
from traindx.program.windowing import OVERLAPPING, overlaps

if TYPE_CHECKING:
    from traindx.program.machine import Machine


def subscript(m: Machine, node: ast.Subscript) -> Value:
    """`owner[key]`."""
    from traindx.program.expressions import evaluate

    owner = evaluate(m, node.value)
    if isinstance(owner, Tensor):
        return _of_tensor(m, owner, node)
    if isinstance(node.slice, ast.Slice):
        return owner if isinstance(owner, Made) and owner.kind == "frame" else _sliced(m, owner, node.slice)
    key = evaluate(m, node.slice)
    if isinstance(owner, Items):
        return _of_items(owner, key)
    if isinstance(owner, Mapping):
        return _of_mapping(m, owner, key, node)
    if isinstance(owner, Layer | Instance):
        return _of_module(m, owner, key)
    if isinstance(owner, Made):
        from traindx.program.streams import item_of

        if owner.kind == "config":
            if not isinstance(key, Plain):
                return Guess("config")
            told = str(key.value)
            return owner.fields[told] if told in owner.fields else configured(m, told, "", "@text" in owner.fields)
        if owner.kind == "frame":
            return _of_frame(owner, key)
        return item_of(m, owner)
    if isinstance(owner, Stream):
        return owner.element
    if isinstance(owner, Library):
        return owner  # `list[int]`
    if isinstance(owner, Parameters):
        return owner
    if isinstance(owner, Guess):
        return Guess(f"{owner.name}[{key.value}]" if isinstance(key, Plain) else owner.name, owner.range)
    return UNKNOWN


def _of_frame(owner: Made, key: Value) -> Tensor:
    """A column of a table, or several of them."""
    from traindx.program.library import permutations, tables

    chosen = "@loc" in owner.fields
    key = key.items[-1] if chosen and isinstance(key, Items) and key.items else key
    shape: Shape | None = (None,) if text(key) else (None, len(key.items)) if isinstance(key, Items) else None
    shape = None if chosen else shape
    marks = tables.marks(owner, key)
    return Tensor(origin=permutations.origin(owner), order=permutations.order(owner), marks=marks, shape=shape)


def configured(m: Machine, name: str, path: str = "", worded: bool = False) -> Value:
    """A value of the configuration: in its section, else where the run's settings hold exactly one under that name.

    `worded`: everything is text, as a `ConfigParser` has it.
    """
    from traindx.program.machine import SECTION

    whole = f"{path}.{name}".strip(".").lower()
    found = m.settings.get(f"/{whole}", m.settings.get(name.lower()))
    if found is SECTION:
        return Mapping(section(m, whole, worded), True)
    if found is None:
        return Guess(name)
    return Plain(str(found) if worded else found, "config", name)


def is_elsewhere(m: Machine, name: str) -> bool:
    """Whether the run's settings have a name in a section and not at their top, where it is asked for."""
    told = name.lower()
    return f"/{told}" not in m.settings and any(key.endswith(f".{told}") and key[0] == "/" for key in m.settings)


def section(m: Machine, path: str = "", worded: bool = False) -> dict[str, Value]:
    """The values of a section of the configuration, or of all of it, by their keys."""
    start = f"{path}." if path else ""
    keys = [key[1:].removeprefix(start) for key in m.settings if key.startswith(f"/{start}")]
    return {
        str(m.settings.get(f"={start}{key}", key)): configured(m, key, path, worded)
        for key in keys
        if "." not in key and "[" not in key
    }


def whole_config(m: Machine, owner: Made) -> dict[str, Value]:
    """Everything that a loaded configuration holds by name; `**` where nothing is known of it."""
    own = {name: value for name, value in owner.fields.items() if not name.startswith("@")}
    return {**(section(m) if "@loaded" in owner.fields else {}), **own} or {"**": owner}


def _of_items(owner: Items, key: Value) -> Value:
    at = key.value if isinstance(key, Plain) else None
    if isinstance(at, int) and -len(owner.items) <= at < len(owner.items) and (not owner.more or at >= 0):
        return owner.items[at]
    found = owner.items[0] if owner.items else UNKNOWN
    if isinstance(found, Tensor) and "batched" in found.marks and isinstance(at, int):
        return Tensor(marks=frozenset({"batched"}))  # another part of the batch need not be like the one that is known
    return found


def _of_mapping(m: Machine, owner: Mapping, key: Value, node: ast.Subscript) -> Value:
    from traindx.program.calling import Call, call_value

    name = str(key.value) if isinstance(key, Plain) and key.value is not None else "?"
    if name in owner.entries:
        return owner.entries[name]
    if owner.factory is not None:
        made = call_value(m, owner.factory, Call(ast.Call(func=node.value, args=[], keywords=[]), [], {}))
        m.journal.put(owner, "entries", {**owner.entries, name: made})
        return made
    if owner.entries and (not isinstance(key, Plain) or key.sure == "varies"):
        return any_of(list(owner.entries.values()))
    return Guess(name) if owner.more or name == "?" else UNKNOWN


def any_of(values: list[Value]) -> Value:
    """One of several values, nobody knows which: what they share, or the first of several modules."""
    found = values[0]
    for value in values[1:]:
        if isinstance(found, Layer | Instance):
            break
        found = join(found, value)
    return found


def _of_module(m: Machine, owner: Layer | Instance, key: Value) -> Value:
    from traindx.program.calling import call_method
    from traindx.program.values import Function

    if isinstance(owner, Instance) and owner.cls is not None:
        function = owner.cls.find("__getitem__")
        if isinstance(function, Function):
            return call_method(m, owner, function, [key], {})
    at = str(key.value) if isinstance(key, Plain) else ""
    children = [child for name, child in owner.fields.items() if not name.startswith("@")]
    if at in owner.fields:
        return owner.fields[at]
    if at.lstrip("-").isdigit() and -len(children) <= int(at) < len(children):
        return children[int(at)]
    return children[0] if children else UNKNOWN


def _sliced(m: Machine, owner: Value, part: ast.Slice) -> Value:
    from traindx.program.expressions import evaluate

    if isinstance(owner, Items) and not owner.more:
        bounds = [evaluate(m, bound) if bound is not None else None for bound in (part.lower, part.upper)]
        known = [bound.value if isinstance(bound, Plain) else None for bound in bounds]
        if all(bound is None or isinstance(bound.value if isinstance(bound, Plain) else "", int) for bound in bounds):
            low, high = (value if isinstance(value, int) else None for value in known)
            return Items(owner.items[low:high], owner.kind)
    if isinstance(owner, Layer):
        from traindx.program.library.growing import part_of

        return part_of(m, owner, part)
    if isinstance(owner, Items):
        return Items(list(owner.items), owner.kind, True)
    return replace(owner) if isinstance(owner, Stream) else owner


def _of_tensor(m: Machine, owner: Tensor, node: ast.Subscript) -> Value:
    from traindx.program.expressions import evaluate

    index = node.slice
    parts = index.elts if isinstance(index, ast.Tuple) else [index]
    shape: list[int | None] | None = list(owner.shape) if owner.shape is not None else None
    at = 0
    marks = set(owner.marks)
    order = owner.order
    for part in parts:
        if isinstance(part, ast.Slice):
            for bound in (part.lower, part.upper):
                evaluate(m, bound) if bound is not None else None
            if shape is not None and at < len(shape) and (part.lower or part.upper or part.step):
                shape[at] = _length(m, part)
            at += 1
        elif isinstance(part, ast.Constant) and part.value is None:
            if shape is not None:
                shape.insert(at, 1)
            at += 1
        elif isinstance(part, ast.Constant) and part.value is Ellipsis:
            at = max(0, len(shape) - (len(parts) - parts.index(part) - 1)) if shape is not None else at
        else:
            key = evaluate(m, part)
            if isinstance(key, Tensor):
                marks -= {"sorted", "in-classes"} if "shuffled" in key.marks else set()
                marks |= {"sorted"} if "order" in key.marks else set()
                marks |= {"repeated", "oversampled"} if "with-copies" in key.marks else set()
                order |= key.order
                for permutation in key.order:
                    m.event("ordered", node, owner, order=permutation)
            if isinstance(part, ast.Name) and _counts_up(m, part.id):
                marks.add("time-step")
            at = _picked(key, shape, at)
    if tells_of_splits(owner):
        m.event("picked", node, owner)
    graph, sure, deps = m.attached([owner])
    marks -= {"saved", "one-out", "ends-in-one", "flat", "listed"}
    if len(parts) > 1 and isinstance(parts[-1], ast.Constant) and parts[-1].value is None:
        marks.add("ends-in-one")
    if isinstance(parts[0], ast.Slice) and not owner.graph and overlaps(m, parts[0]):
        marks.add(OVERLAPPING)
    rows = _rows(m, owner, parts[0])
    if isinstance(parts[0], ast.Slice) and rows is None:
        marks.add("some-rows")
    if not isinstance(parts[0], ast.Slice) and not (isinstance(parts[0], ast.Constant) and parts[0].value is Ellipsis):
        marks.discard("batched")
    return owner.but(
        graph=graph,
        sure=sure,
        deps=deps,
        shape=tuple(shape) if shape is not None else None,
        marks=frozenset(marks),
        rows=rows,
        order=order,
    )


def _rows(m: Machine, owner: Tensor, part: ast.expr) -> tuple[float, float] | None:
    """The rows that a slice with known bounds chooses; None where they are not known."""
    from traindx.program.expressions import evaluate

    if not isinstance(part, ast.Slice) or part.step is not None or owner.rows is not None:
        return None
    low = number(evaluate(m, part.lower)) if part.lower is not None else 0.0
    high = number(evaluate(m, part.upper)) if part.upper is not None else float("inf")
    if low is None or high is None or low < 0 or high < 0:
        return None
    return (low, high)


def _counts_up(m: Machine, name: str) -> bool:
    """Whether a name is the counter of the innermost loop, which goes through a range."""
    loop = m.turns[-1].loop if m.turns else None
    if loop is None or loop.variable != name:
        return False
    source = loop.source.source if isinstance(loop.source, Stream) else loop.source
    return isinstance(source, Made) and source.kind == "range"


def _picked(key: Value, shape: list[int | None] | None, at: int) -> int:
    """Leave out the dimension that an integer picks from; a mask or a list of indices keeps it."""
    if isinstance(key, Tensor):
        if shape is not None and at < len(shape):
            if key.shape is not None and key.dtype != "bool":
                shape[at : at + 1] = list(key.shape)
                return at + len(key.shape)
            shape[at] = None
        return at + 1
    if (isinstance(key, Plain) and isinstance(key.value, int | None)) or isinstance(key, Plain):
        if shape is not None and at < len(shape):
            del shape[at]
        return at
    if isinstance(key, Items):
        return at + 1
    if shape is not None:
        shape.clear()
        shape.extend(())
    return at


def _length(m: Machine, part: ast.Slice) -> int | None:
    from traindx.program.expressions import evaluate
    from traindx.program.values import whole

    if part.step is not None:
        return None
    low = whole(evaluate(m, part.lower)) if part.lower is not None else 0
    high = whole(evaluate(m, part.upper)) if part.upper is not None else None
    if low is None or high is None or low < 0 or high < 0:
        if isinstance(part.lower, ast.UnaryOp) and part.upper is None and low == -1:
            return 1
        return None
    return max(0, high - low)


def shape_of(value: Value) -> Shape | None:
    """The shape of a tensor; None for anything else."""
    return value.shape if isinstance(value, Tensor) else None
