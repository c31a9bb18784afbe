"""From the symbols of a pickle to what a person asks about: keys, tensors, numbers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from traindx.contract import Fact
from traindx.readers.checkpoints.model import Layout, Part, TensorInfo, part_of
from traindx.readers.checkpoints.rebuild import ITEM_SIZES
from traindx.readers.checkpoints.symbols import Made, Row, Table, Tensor
from traindx.readers.configs.values import Path, bounded, dotted, is_secret

MOST_TENSORS = 200_000
MOST_SCALARS = 2_000
_MOST_VISITS = 1_000_000
_DEEPEST = 30
# A list of this many numbers is a curve or a list of indices, not a setting.
_LONGEST_LIST = 12
_LONGEST_KEY = 300
_MODULE_PARTS = ("_parameters", "_buffers", "_modules")


@dataclass
class Description:
    """What a walk over the symbols collects."""

    keys: tuple[str, ...] = ()
    tensors: list[TensorInfo] = field(default_factory=list)
    scalars: dict[str, Fact] = field(default_factory=dict)
    full: bool = False
    """whether something was left out"""


@dataclass(frozen=True)
class _Place:
    """Where the walk stands: the way here, and the state dict it is inside."""

    path: Path = ()
    group: Path = ()
    part: Part | None = None

    def into(self, key: str | int) -> _Place:
        """One step further in."""
        return _Place((*self.path, key), self.group, self.part)


def describe(root: object) -> Description:
    """Walk over everything a pickle would build."""
    found = Description(keys=tuple(_key(key) for key, _ in _pairs(root)[:200]) if isinstance(root, Table) else ())
    # Iterators, not lists of what is to come: a list that holds itself a million times costs no memory.
    open_values: list[Iterator[tuple[object, _Place]]] = [iter([(root, _Place())])]
    visits = 0
    while open_values:
        step = next(open_values[-1], None)
        if step is None:
            open_values.pop()
            continue
        value, place = step
        visits += 1
        if visits > _MOST_VISITS or len(found.tensors) >= MOST_TENSORS:
            found.full = True
            break
        if isinstance(value, Tensor):
            found.tensors.append(_tensor(value, place))
        elif isinstance(value, (Table, Row, Made)):
            if len(place.path) < _DEEPEST:
                open_values.append(_inside(value, place, found))
        else:
            _scalar(value, place.path, found)
    return found


def _inside(value: Table | Row | Made, place: _Place, found: Description) -> Iterator[tuple[object, _Place]]:
    if isinstance(value, Row):
        plain = sum(1 for item in value.items[: _LONGEST_LIST + 1] if not isinstance(item, (Table, Row, Made, Tensor)))
        if plain > _LONGEST_LIST or (plain and place.path[-1:] == ("params",)):
            # Numbers of a curve, or of the parameters of an optimizer's group: how many there are says enough.
            _scalar(len(value.items), (*place.path, "length"), found)
            return
        for index, item in enumerate(value.items):
            yield item, place.into(index)
        return
    pairs = _pairs(value)
    module = isinstance(value, Made) and _is_module(pairs)
    if isinstance(value, Made) and not module:
        yield from ((item, place.into(index)) for index, item in enumerate(value.arguments.items[:100]) if _holds(item))
    here = _entered(place, pairs)
    for key, item in pairs:
        name = _key(key)
        if not module:
            yield item, here.into(name)
        elif name in _MODULE_PARTS:
            # A pickled module keeps its tensors under these three; the names of a state dict leave them out.
            for inner, part in _pairs(item):
                if part is not None:
                    yield part, here.into(_key(inner))


def _entered(place: _Place, pairs: list[tuple[object, object]]) -> _Place:
    """The place inside a mapping: a mapping of tensors, or an optimizer's state, is a state dict of its own."""
    if place.part is not None:
        return place
    keys = {key for key, _ in pairs[:50] if isinstance(key, str)}
    if {"state", "param_groups"} <= keys:
        return _Place(place.path, place.path, "optimizer")
    tensors = sum(1 for _, item in pairs[:50] if isinstance(item, Tensor))
    if keys >= set(_MODULE_PARTS) or tensors > len(pairs[:50]) / 2:
        return _Place(place.path, place.path, part_of((*place.path, "")))
    return place


def _pairs(value: object) -> list[tuple[object, object]]:
    if isinstance(value, Table):
        return value.items if value.rows is None else list(value.pairs())
    if isinstance(value, Made):
        state = value.state
        if isinstance(state, Row) and len(state.items) == 2:  # (dict, slots)
            state = state.items[0]
        own = list(state.pairs()) if isinstance(state, Table) else []
        return own + value.items.items
    return []


def _is_module(pairs: list[tuple[object, object]]) -> bool:
    keys = {key for key, _ in pairs[:200] if isinstance(key, str)}
    return keys >= set(_MODULE_PARTS)


def _holds(value: object) -> bool:
    return isinstance(value, (Tensor, Table, Row, Made))


def _tensor(tensor: Tensor, place: _Place) -> TensorInfo:
    if place.part is not None:
        inside = place.path[len(place.group) :] if place.path[: len(place.group)] == place.group else place.path
    else:
        inside = place.path
    storage = tensor.storage
    dtype = storage.dtype if storage is not None and tensor.dtype == "bytes" else tensor.dtype
    elements = 1
    for size in tensor.shape:
        elements *= size
    return TensorInfo(
        name=dotted(inside),
        shape=tensor.shape,
        dtype=dtype,
        group=dotted(place.group),
        size=elements * ITEM_SIZES.get(dtype, 0),
        storage=storage.key if storage is not None else "",
        trainable=tensor.trainable,
        part=place.part or "other",
        offset=tensor.offset,
        layout=_layout(tensor),
    )


def _layout(tensor: Tensor) -> Layout:
    if tensor.strides is None or len(tensor.strides) != len(tensor.shape):
        return "rows"
    steps = [(stride, size) for stride, size in zip(tensor.strides, tensor.shape, strict=True) if size != 1]
    for order, layout in ((steps, "rows"), (sorted(steps, reverse=True), "dense")):
        expected = 1
        for stride, size in reversed(order):
            if stride != expected:
                break
            expected *= size
        else:
            return "rows" if layout == "rows" else "dense"
    return "strided"


def _scalar(value: object, path: Path, found: Description) -> None:
    if value is None or not isinstance(value, (bool, int, float, str)) or not path:
        return
    if isinstance(value, int) and abs(value) >> 63:
        return
    key = dotted(path)[:_LONGEST_KEY]
    if len(found.scalars) >= MOST_SCALARS:
        found.full = True
    elif not is_secret(key, value):
        found.scalars.setdefault(key, bounded(value))


def _key(key: object) -> str:
    if isinstance(key, str):
        return key[:_LONGEST_KEY]
    return str(key) if isinstance(key, (bool, float)) or (isinstance(key, int) and not abs(key) >> 63) else "?"
