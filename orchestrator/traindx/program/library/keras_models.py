"""Keras models as chains of layers: what follows what, what is linear, what trains."""

from __future__ import annotations

from collections.abc import Sequence

from traindx.program.trace import Trace
from traindx.program.values import Items, Layer, Plain, Tensor, Value

MARK = "keras "
"""before the number of the layer that gave a tensor"""
CONTAINERS = frozenset(["keras Sequential", "keras Model", "keras Functional"])
_WEIGHTED = frozenset(["Dense", "LSTM", "GRU", "SimpleRNN", "Embedding", "BatchNormalization", "LayerNormalization",
                       "MultiHeadAttention", "Conv1D", "Conv2D", "Conv3D", "Conv2DTranspose", "SeparableConv2D",
                       "DepthwiseConv2D", "PReLU"])  # fmt: skip
_LINEAR = frozenset(["Dense", "Conv1D", "Conv2D", "Conv3D"])
_TRANSPARENT = frozenset(["Dropout", "SpatialDropout1D", "SpatialDropout2D", "Flatten", "Reshape", "Permute",
                          "Input", "InputLayer", "Rescaling", "Normalization", "GaussianNoise", "ZeroPadding2D",
                          "GlobalAveragePooling1D", "GlobalAveragePooling2D", "AveragePooling2D",
                          "BatchNormalization"])  # fmt: skip
"""layers through which a linear map stays one"""


def chain(model: Value, trace: Trace) -> list[Layer] | None:
    """The layers of a model in the order in which data goes through them, containers opened; None where not known."""
    if not isinstance(model, Layer):
        return None
    if model.kind == "keras Sequential":
        held = model.fields.get("@layers")
        if not isinstance(held, Items) or held.more or not all(isinstance(part, Layer) for part in held.items):
            return None
        return _opened([part for part in held.items if isinstance(part, Layer)], trace)
    if model.kind in CONTAINERS:
        ends = model.keywords.get("outputs", model.args[1] if len(model.args) > 1 else None)
        back = _back(ends, trace)
        return None if back is None else _opened(back, trace)
    return None


def _opened(parts: Sequence[Layer], trace: Trace) -> list[Layer] | None:
    found: list[Layer] = []
    for part in parts:
        if part.kind not in CONTAINERS:
            found.append(part)
            continue
        inner = chain(part, trace)
        if inner is None:
            return None
        found += inner
    return found


def _back(ends: Value | None, trace: Trace) -> list[Layer] | None:
    """From a tensor to where it came from; None where two ways meet, or where a step is not known."""
    found: list[Layer] = []
    tensor = ends
    while isinstance(tensor, Tensor):
        layer = layer_of(tensor, trace)
        if layer is None or layer in found:
            return None
        found.insert(0, layer)
        inputs = layer.fields.get("@inputs")
        if not isinstance(inputs, Items) or inputs.more or len(inputs.items) > 1:
            return None
        tensor = inputs.items[0] if inputs.items else None
    return found or None


def layer_of(tensor: Tensor, trace: Trace) -> Layer | None:
    """The layer that gave a tensor."""
    number = next((int(mark.removeprefix(MARK)) for mark in tensor.marks if mark.startswith(MARK)), None)
    return None if number is None else trace.blocks.get(number)


def parts(model: Layer, trace: Trace) -> list[Layer]:
    """The direct parts of a model, as `model.layers` lists them; none where they are not known."""
    if model.kind == "keras Sequential":
        held = model.fields.get("@layers")
        known = isinstance(held, Items) and not held.more
        return [part for part in held.items if isinstance(part, Layer)] if known else []  # type: ignore[union-attr]
    ends = model.keywords.get("outputs", model.args[1] if len(model.args) > 1 else None)
    return _back(ends, trace) or []


def within(model: Layer, trace: Trace) -> list[Layer]:
    """A model with every layer and container in it."""
    found = [model]
    for part in parts(model, trace):
        found += within(part, trace) if part.kind in CONTAINERS else [part]
    return found


def weighted(layer: Layer) -> bool:
    """Whether a layer has weights."""
    return layer.kind.removeprefix(MARK) in _WEIGHTED or "@weights" in layer.fields


def all_frozen(model: Layer, trace: Trace) -> bool:
    """Whether nothing of a model trains, for certain."""
    if _off(model):
        return True
    inner = parts(model, trace) if model.kind in CONTAINERS else []
    with_weights = [part for part in inner if part.kind in CONTAINERS or weighted(part)]
    unknown = [part for part in inner if part not in with_weights and not _weightless(part)]
    return (
        bool(with_weights) and not unknown and all(_off(part) or _frozen_inside(part, trace) for part in with_weights)
    )


def _frozen_inside(part: Layer, trace: Trace) -> bool:
    return part.kind in CONTAINERS and all_frozen(part, trace)


def _off(layer: Layer) -> bool:
    told = layer.fields.get("trainable", layer.keywords.get("trainable"))
    return isinstance(told, Plain) and told.value is False and told.sure == "constant"


def _weightless(layer: Layer) -> bool:
    name = layer.kind.removeprefix(MARK)
    return name in _TRANSPARENT or "Pooling" in name or name in {"Activation", "ReLU", "LeakyReLU", "Softmax", "Add"}


def linear_run(layers: Sequence[Layer], activation_of: dict[int, str]) -> list[Layer]:
    """The layers with weights of a chain, where nothing but linear maps stands before the last of them; else none."""
    maps = [layer for layer in layers if layer.kind.removeprefix(MARK) in _LINEAR]
    if len(maps) < 2:
        return []
    before = layers[: layers.index(maps[-1])]
    if any(layer not in maps and layer.kind.removeprefix(MARK) not in _TRANSPARENT for layer in before):
        return []
    return maps if all(activation_of.get(layer.number) == "linear" for layer in maps[:-1]) else []
