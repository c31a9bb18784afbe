"""What a loop gets from the thing that it goes through."""

from __future__ import annotations

from typing import TYPE_CHECKING

from traindx.program.joining import join
from traindx.program.values import (
    UNKNOWN,
    Guess,
    Instance,
    Items,
    Layer,
    Made,
    Mapping,
    Parameters,
    Plain,
    Shape,
    Stream,
    Tensor,
    Value,
)

if TYPE_CHECKING:
    from traindx.program.machine import Machine


def stream_of(m: Machine, value: Value) -> Stream:
    """A value as something to go through."""
    if isinstance(value, Stream):
        return value
    if isinstance(value, Items):
        element: Value = value.items[0] if value.items else UNKNOWN
        for item in value.items[1:20]:
            element = join(element, item)
        return Stream(element, value)
    if isinstance(value, Mapping):
        return Stream(Plain("", "varies"), value)
    if isinstance(value, Tensor):
        shape = value.shape[1:] if value.shape else None
        return Stream(value.but(shape=shape), value)
    if isinstance(value, Parameters):
        return Stream(value, value)
    if isinstance(value, Made):
        return Stream(_of_made(m, value), value)
    if isinstance(value, Layer | Instance):
        return _of_object(m, value)
    return Stream(Guess(getattr(value, "name", "")), value)


def _of_object(m: Machine, value: Layer | Instance) -> Stream:
    from traindx.program.calling import call_method
    from traindx.program.values import Function

    if isinstance(value, Instance) and value.cls is not None:
        function = value.cls.find("__iter__")
        if isinstance(function, Function):
            inner = call_method(m, value, function, [], {})
            return inner if isinstance(inner, Stream) else Stream(stream_of(m, inner).element, value)
        if isinstance(value.cls.find("__getitem__"), Function):
            return Stream(item_of(m, value), value)
    children = [child for child in value.fields.values() if isinstance(child, Layer | Instance)]
    return stream_of(m, Items([*children], "list")) if children else Stream(UNKNOWN, value)


def _of_made(m: Machine, value: Made) -> Value:
    if value.kind in {"DataLoader", "loader"}:
        dataset = value.argument(0, "dataset")
        collated = value.keywords.get("collate_fn")
        if collated is not None and not isinstance(collated, Plain):
            return Guess("batch")
        return batched(item_of(m, dataset)) if dataset is not None else Guess("batch")
    return Guess(value.kind)


def item_of(m: Machine, dataset: Value | None) -> Value:
    """One sample of a data set."""
    from traindx.program.calling import call_method
    from traindx.program.values import Function

    if isinstance(dataset, Tensor):
        return dataset.but(shape=dataset.shape[1:] if dataset.shape else None)
    if isinstance(dataset, Made):
        if dataset.kind == "TensorDataset":
            return Items([item_of(m, part) for part in dataset.args], "tuple")
        if dataset.kind in {"Subset", "split"} and dataset.args:
            return item_of(m, dataset.args[0])
        if dataset.kind == "images":
            image = Tensor(marks=frozenset({"input"}), shape=None, origin=frozenset({dataset.number}))
            return Items([image, Tensor(shape=(), dtype="long", marks=frozenset({"target"}))], "tuple")
        return Guess("sample")
    if isinstance(dataset, Instance) and dataset.cls is not None:
        function = dataset.cls.find("__getitem__")
        if isinstance(function, Function):
            with m.graded(False):
                return call_method(m, dataset, function, [Plain(0, "varies")], {})
    if isinstance(dataset, Items) and dataset.items:
        return stream_of(m, dataset).element
    return Guess("sample")


def batched(item: Value, depth: int = 4) -> Value:
    """What a loader makes of samples: one more dimension in front."""
    if isinstance(item, Tensor):
        shape: Shape | None = (None, *item.shape) if item.shape is not None else None
        return item.but(shape=shape)
    if isinstance(item, Plain) and isinstance(item.value, int | float) and depth:
        return Tensor(shape=(None,), dtype="double" if isinstance(item.value, float) else "long")
    if isinstance(item, Items) and depth:
        return Items([batched(part, depth - 1) for part in item.items], "list", item.more)
    if isinstance(item, Mapping) and depth:
        return Mapping({key: batched(part, depth - 1) for key, part in item.entries.items()}, item.more)
    return item
