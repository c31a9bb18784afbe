"""What a loop gets from the thing that it goes through."""

from __future__ import annotations

from typing import TYPE_CHECKING

from traindx.program.joining import join
from traindx.program.values import (
    UNKNOWN,
    Function,
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
    whole,
)

if TYPE_CHECKING:
    from traindx.program.machine import Machine


LOADER = "@loader"
"""the field of an object that is a loader by inheritance, with what it handed to `DataLoader`"""


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
        element = value.but(shape=shape)
        return Stream(element.marked("element") if shape == () else element, value)
    if isinstance(value, Parameters):
        return Stream(value, value)
    if isinstance(value, Made):
        return Stream(_of_made(m, value), value)
    if isinstance(value, Layer | Instance):
        return _of_object(m, value)
    return Stream(Guess(getattr(value, "name", "")), value)


def _of_object(m: Machine, value: Layer | Instance) -> Stream:
    from traindx.program.calling import call_method

    if isinstance(value, Instance) and value.cls is not None:
        function = value.cls.find("__iter__")
        if isinstance(function, Function):
            inner = call_method(m, value, function, [], {})
            return inner if isinstance(inner, Stream) else Stream(stream_of(m, inner).element, value)
        if isinstance(value.cls.find("__getitem__"), Function):
            return Stream(item_of(m, value), value)
    held = value.fields.get(LOADER)
    if isinstance(held, Made):
        return Stream(_of_made(m, held), held)
    children = [child for child in value.fields.values() if isinstance(child, Layer | Instance)]
    return stream_of(m, Items([*children], "list")) if children else Stream(UNKNOWN, value)


def _of_made(m: Machine, value: Made) -> Value:
    if value.kind in {"DataLoader", "loader"}:
        dataset = value.argument(0, "dataset")
        collated = value.keywords.get("collate_fn")
        if isinstance(collated, Function) and dataset is not None:
            return _collated(m, collated, dataset)
        if collated is not None and not isinstance(collated, Plain):
            return Guess("batch")
        size = whole(value.argument(1, "batch_size")) if value.argument(1, "batch_size") is not None else 1
        return batched(item_of(m, dataset), 1 if size == 1 else None) if dataset is not None else Guess("batch")
    if value.kind == "groups":
        return Items([Plain(None, "varies"), value.fields["@rows"]])  # `for name, rows in table.groupby(…)`
    return Guess(value.kind)


def item_of(m: Machine, dataset: Value | None) -> Value:
    """One sample of a data set."""
    from traindx.program.calling import call_method

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
                found = call_method(m, dataset, function, [Plain(0, "varies")], {})
            parts = tuple(found.entries.values()) if isinstance(found, Mapping) else ()
            m.event("paired", function.node, dataset, parts=tuple(found.items) if isinstance(found, Items) else parts)
            return found
    if isinstance(dataset, Items) and dataset.items:
        return stream_of(m, dataset).element
    return Guess("sample")


def batches(m: Machine, loader: Value) -> int | None:
    """How many batches a loader gives in an epoch, where its data set and its batch size are known."""
    if isinstance(loader, Stream):
        loader = loader.source
    if not isinstance(loader, Made) or loader.kind != "DataLoader" or "batch_sampler" in loader.keywords:
        return None
    rows = samples(m, loader.argument(0, "dataset"))
    size = whole(loader.argument(1, "batch_size")) if loader.argument(1, "batch_size") is not None else 1
    if rows is None or not size or "sampler" in loader.keywords:
        return None
    drop = loader.argument(8, "drop_last")
    return rows // size if isinstance(drop, Plain) and drop.value is True else -(-rows // size)


def samples(m: Machine, dataset: Value | None) -> int | None:
    """How many samples a data set has."""
    from traindx.program.calling import call_method

    if isinstance(dataset, Tensor):
        return dataset.shape[0] if dataset.shape else None
    if isinstance(dataset, Made) and dataset.kind == "TensorDataset":
        return next((rows for part in dataset.args if (rows := samples(m, part)) is not None), None)
    if isinstance(dataset, Items) and not dataset.more:
        return len(dataset.items)
    if isinstance(dataset, Instance) and dataset.cls is not None:
        function = dataset.cls.find("__len__")
        return whole(call_method(m, dataset, function, [], {})) if isinstance(function, Function) else None
    return None


def _collated(m: Machine, function: Function, dataset: Value) -> Value:
    """What a function of the program makes of a list of samples."""
    from traindx.program.calling import call_function

    item = item_of(m, dataset)
    if not isinstance(item, Tensor | Items | Mapping | Plain):
        return Guess("batch")
    with m.graded(False):
        made = call_function(m, function, [Items([item], "list", True)], {})
    parts = made.items if isinstance(made, Items) else [made]
    if any(isinstance(part, Guess) or type(part) is Value for part in parts):
        return Guess("batch")
    if isinstance(made, Items):
        return Items([part.marked("batched") if isinstance(part, Tensor) else part for part in parts], made.kind)
    return made.marked("batched") if isinstance(made, Tensor) else made


def batched(item: Value, size: int | None = None, depth: int = 4) -> Value:
    """What a loader makes of samples: one more dimension in front."""
    if isinstance(item, Tensor):
        shape: Shape | None = (size, *item.shape) if item.shape is not None else None
        return item.but(shape=shape).marked("batched")
    if isinstance(item, Plain) and isinstance(item.value, int | float) and depth:
        kind = "double" if isinstance(item.value, float) else "long"
        return Tensor(shape=(size,), dtype=kind, marks=frozenset({"batched"}))
    if isinstance(item, Items) and depth:
        return Items([batched(part, size, depth - 1) for part in item.items], "list", item.more)
    if isinstance(item, Mapping) and depth:
        return Mapping({key: batched(part, size, depth - 1) for key, part in item.entries.items()}, item.more)
    return item
