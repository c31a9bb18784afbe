"""Layers: what they are made with, and what going forward through them does."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

from traindx.program.library import dropping, recurrent, shapes
from traindx.program.library.graphs import mixed
from traindx.program.library.initialising import first_value, initialised
from traindx.program.library.tensors import ACTIVATIONS, SQUASHING, activated
from traindx.program.ranges import FREE
from traindx.program.values import (
    LEAF,
    NOTHING,
    UNKNOWN,
    Class,
    Cut,
    Function,
    Guess,
    Instance,
    Items,
    Layer,
    Library,
    Made,
    Mapping,
    Place,
    Plain,
    Shape,
    Tensor,
    Value,
    whole,
)

if TYPE_CHECKING:
    from traindx.program.calling import Call
    from traindx.program.machine import Machine

LINEAR = frozenset(["Linear", "LazyLinear", "Bilinear", "Dense"])
SUNK = -5.0
"""a bias so far below zero that inputs of unit scale, through weights of the usual spread, hardly make up for it"""
CONVOLUTIONS = re.compile(r"^(?:Lazy)?Conv(?:Transpose)?[123]d$")
NORMS = re.compile(r"Norm(?:[123]d)?$")
DROPOUTS = re.compile(r"^(?:Alpha|Feature)?Dropout(?:[123]d)?$")
ACTIVATING = {
    "Softmax": "softmax", "LogSoftmax": "log_softmax", "Sigmoid": "sigmoid", "Tanh": "tanh", "ReLU": "relu",
    "LeakyReLU": "leaky", "GELU": "gelu", "ELU": "elu", "SiLU": "silu", "Softplus": "softplus", "PReLU": "leaky",
    "ReLU6": "relu", "SELU": "elu", "Hardtanh": "tanh", "LogSigmoid": "log_sigmoid", "Mish": "silu", "CELU": "elu",
    "Hardswish": "silu", "Softsign": "tanh", "Softmax2d": "softmax", "GLU": "glu", "Swish": "silu",
    "Hardsigmoid": "sigmoid",
}  # fmt: skip
CONTAINERS = frozenset(["Sequential", "ModuleList", "ModuleDict", "ParameterList", "ParameterDict"])
PASSING = frozenset(["Identity", "Flatten", "Unflatten", "Upsample", "ZeroPad2d", "PixelShuffle", "ConstantPad1d",
                     "ReflectionPad2d"])  # fmt: skip
_POOLS = re.compile(r"Pool[123]d$")
_WRAPPERS = frozenset(["DataParallel", "DistributedDataParallel", "FullyShardedDataParallel", "compile",
                       "script",
                       "SyncBatchNorm", "convert_sync_batchnorm", "get_peft_model", "trace",
                       "fully_shard"])  # fmt: skip
_NO_MODEL = re.compile(r"Tokenizer|Processor|Config|Extractor|Scheduler|Dataset|Transforms?$|Collator|^get_")
"""classes of libraries that are loaded like models"""
_OF_A_CONFIG = re.compile(r"^transformers\.(?:\w+\.)*[A-Z]\w*(?:Model|For[A-Z]\w+)(?:\.from_config)?$")
"""models of transformers, which a configuration makes with random weights"""
_PRETRAINED = re.compile(r"^(?:torchvision\.models|timm|segmentation_models_pytorch|efficientnet_pytorch|open_clip)\.")
_CLASSIFIERS = re.compile(
    r"^torchvision\.models\.(?:resnet|resnext|wide_resnet|densenet|vgg|mobilenet|efficientnet|shufflenet|squeezenet"
    r"|mnasnet|regnet|convnext|vit_|swin|alexnet|maxvit)\w*$"
)
"""models whose output is that of a linear layer, in training and in evaluation alike"""
_WITH_PARAMETERS = frozenset(
    ["MultiheadAttention", "Embedding", "EmbeddingBag", "PReLU", "Parameter", "?", "pretrained"]
)
_NOTHING_MORE = frozenset(["builtins.object", "abc.ABC", "typing.Protocol", "typing.Generic"])
_STATE = re.compile(r"hid\w*|\w*states?|h|hx|hc|c|cx|hn|h_\w|memory|carry|rnn_\w+", re.IGNORECASE)


def construct(m: Machine, full: str, last: str, call: Call) -> Value | None:
    """Make a layer, or a model of a library."""
    if last in _WRAPPERS and call.args and not full.startswith("builtins"):
        if last == "DistributedDataParallel":
            made = Made(kind="wrapper", keywords=call.keywords)
            m.event("data-parallel", call.node, call.args[0], wrapper=made)
        return call.args[-1] if last == "convert_sync_batchnorm" else call.args[0]
    if last == "Parameter" and full.startswith("torch"):
        return _parameter(m, call)
    if last == "from_pretrained" or _PRETRAINED.match(full):
        if _NO_MODEL.search(full.removesuffix(".from_pretrained").rpartition(".")[2]):
            return None
        layer = _layer(m, call, "pretrained")
        layer.fields["@training"] = Plain(
            last != "from_pretrained", "constant" if last != "from_pretrained" else "varies"
        )
        if _CLASSIFIERS.match(full):
            layer.fields["@logits"] = Plain(True)
        return layer
    if _OF_A_CONFIG.match(full) and call.args:
        layer = _layer(m, call, "pretrained")
        layer.fields.update({"@training": Plain(True), "@own": Plain(True)})
        return layer
    if full.startswith("torch.nn.init.") and call.args:
        initialised(m, last, call.args[0], call, call.args[1:])
        return call.args[0]
    if full.startswith(("torch.nn.functional", "torch.nn.utils", "torch.nn.init", "torch.nn.parallel")):
        return None
    if not (full.startswith("torch.nn.") or (full.startswith(("torch_geometric.nn", "apex")) and last[:1].isupper())):
        return None
    if not last[:1].isupper() or last.endswith("Loss") or last in {"Buffer"}:
        return None
    layer = _layer(m, call, last)
    if m.inside_modules:
        layer.fields["@inside"] = Plain(True)
    if last in CONTAINERS:
        _fill(m, layer, call)
    return layer


def _layer(m: Machine, call: Call, kind: str) -> Layer:
    layer = Layer(kind=kind, args=tuple(call.args), keywords=dict(call.keywords), place=m.place(call.node))
    layer.fields["@training"] = Plain(True)
    m.trace.layers[layer.number] = layer
    m.event("layer", call.node, layer)
    return layer


def _parameter(m: Machine, call: Call) -> Value:
    given = call.args[0] if call.args else None
    shape = given.shape if isinstance(given, Tensor) else None
    if isinstance(given, Tensor) and given.graph and m.grad and m.turns:
        # A new leaf in every iteration: nothing of what it was computed from, and of no optimizer.
        m.event("cut", call.node, given, by="`nn.Parameter`", rewrapped=True)
        return Tensor(graph=LEAF, shape=shape, marks=frozenset({"leaf"}))
    layer = _layer(m, call, "Parameter")
    if isinstance(given, Tensor) and "zeros" in given.marks:
        layer.fields["@weight"] = Plain(0.0)
    wants = call.argument(1, "requires_grad")
    if isinstance(wants, Plain) and wants.value is False:
        return Tensor(shape=shape, marks=frozenset({"buffer"}))
    return Tensor(graph=LEAF, deps=frozenset({layer.number}), shape=shape, marks=frozenset({"parameter"}))


def _fill(m: Machine, layer: Layer, call: Call) -> None:
    """The children of a container."""
    children: list[Value] = list(call.args)
    if len(children) == 1 and isinstance(children[0], Items):
        children = list(children[0].items)
    if len(children) == 1 and isinstance(children[0], Mapping):
        for name, child in children[0].entries.items():
            layer.fields[name] = child
        return
    for at, child in enumerate(children):
        layer.fields[str(at)] = child
    if any(child is UNKNOWN or isinstance(child, Guess) for child in children):
        layer.fields["@more"] = Plain(True)


def children(layer: Layer | Instance) -> list[Value]:
    """The modules inside a module, in order."""
    return [child for name, child in layer.fields.items() if not name.startswith("@")]


def apply(m: Machine, layer: Layer | Instance, call: Call) -> Value:
    """Go forward."""
    if m.inside_modules:
        return _applied(m, layer, call)
    from traindx.program.library.modules import modes

    m.passing = m.event("forward", call.node, layer, call=call, **modes(layer))
    made = _applied(m, layer, call)
    m.event("output", call.node, layer, value=made)
    return made


def _applied(m: Machine, layer: Layer | Instance, call: Call) -> Value:
    if isinstance(layer, Instance):
        return opaque(m, layer, call)
    kind = layer.kind
    if kind == "Sequential":
        return _through(m, layer, call)
    if kind in recurrent.KINDS:
        return recurrent.apply(m, layer, call)
    given = next((value for value in call.args if isinstance(value, Tensor)), None)
    if given is None:
        given = Tensor(marks=frozenset({"argument"}))
    if kind in ACTIVATING:
        dim = layer.keywords.get("dim", layer.args[0] if layer.args and kind.endswith("Softmax") else None)
        made = activated(m, ACTIVATING[kind], given, call, [])
        if ACTIVATING[kind] in SQUASHING:
            m.trace.events[-1].facts["layer"] = layer
        if ACTIVATING[kind].endswith("softmax"):
            m.trace.events[-1].facts |= {"dim": whole(dim), "module": layer}
            m.trace.events[-1].place = applied_at(m, layer, call)
        return made.but(act_dim=whole(dim), act_at=applied_at(m, layer, call))
    if kind in PASSING or DROPOUTS.match(kind):
        if DROPOUTS.match(kind) and layer.fields.get("@inside") is not None:
            dropping.made_in_the_pass(m, layer, given, call)
        return _flat(layer, given)
    if kind in LINEAR or CONVOLUTIONS.match(kind):
        return _linear(m, layer, given, call)
    if NORMS.search(kind):
        # In evaluation a batch norm is an affine map: what was linear stays so.
        linear = given.act == "linear" and kind.startswith(("BatchNorm", "SyncBatchNorm"))
        made = parametric(m, layer, [given], given.shape).but(states=given.states)
        return made.but(act="linear", act_at=given.act_at) if linear else made.but(act="norm")
    if _POOLS.search(kind):
        shape = (*given.shape[:2], *[None] * (len(given.shape) - 2)) if given.shape else None
        return mixed(m, [given], shape)
    if kind == "Embedding":
        size = whole(layer.args[1]) if len(layer.args) > 1 else None
        shape = (*given.shape, size) if given.shape is not None else None
        return parametric(m, layer, [given], shape)
    if kind == "MultiheadAttention":
        return Items([parametric(m, layer, call.tensors, given.shape), Tensor()])
    if kind.startswith("Transformer"):
        return parametric(m, layer, call.tensors, given.shape)
    return opaque(m, layer, call)


def parametric(m: Machine, layer: Layer | Instance, given: list[Tensor], shape: Shape | None) -> Tensor:
    """What a layer with parameters of its own gives."""
    made = mixed(m, given, shape)
    if not m.grad or frozen(layer):
        return made.but(cut=Cut("`no_grad`", m.off)) if not m.grad and m.off is not None else made
    return made.but(graph=made.graph - LEAF | {m.serial}, sure=True, deps=made.deps | leaves(m, layer), cut=None)


def frozen(layer: Layer | Instance) -> bool:
    """Whether the layer's parameters are frozen for certain."""
    told = layer.fields.get("@frozen")
    return isinstance(told, Plain) and told.value is True and told.sure == "constant"


def opaque(m: Machine, layer: Layer | Instance, call: Call) -> Value:
    """A module that nobody knows: whatever it returns depends on its parameters and on what goes in."""
    given = [part for value in [*call.args, *call.keywords.values()] for part in recurrent.parts_of(value)]
    state = _handed_on(layer, call)
    if state is not None:
        m.event("recurrent", call.node, layer, input=given[0], state=state, length=None)
    made = parametric(m, layer, given, None)
    act = "linear" if isinstance(layer, Layer) and _gives_logits(layer) else ""
    return made.marked("opaque", "state").but(states=made.states | {(layer.number, m.serial)}, act=act)


def _gives_logits(layer: Layer) -> bool:
    """Whether a model of a library ends in its own linear classifier, which nothing has replaced."""
    return "@logits" in layer.fields and not any(not name.startswith("@") for name in layer.fields)


def leaves(m: Machine, value: Value, depth: int = 12) -> frozenset[int]:
    """The layers with parameters that a module registers: those in plain lists and dictionaries are not among them."""
    if not depth:
        return NOTHING
    if isinstance(value, Tensor):
        return value.deps if "parameter" in value.marks else NOTHING
    if isinstance(value, Layer):
        inner = [child for child in children(value) if isinstance(child, Layer | Instance | Tensor)]
        if value.kind in CONTAINERS or inner:
            found = frozenset().union(*(leaves(m, child, depth - 1) for child in inner))
            return found if value.kind in CONTAINERS else found | {value.number}
        return frozenset({value.number}) if _has_parameters(value.kind) else NOTHING
    if isinstance(value, Instance):
        inner = [child for child in children(value) if isinstance(child, Layer | Instance | Tensor)]
        found = frozenset().union(*(leaves(m, child, depth - 1) for child in inner if not is_plain(child)))
        if not found and _is_opaque(value):
            m.trace.layers.setdefault(value.number, Layer(kind="?", number=value.number, fields=value.fields))
            return frozenset({value.number})
        return found
    return NOTHING


def is_plain(value: Value) -> bool:
    """Whether an object's class extends nothing of a library: a module does not register what is in it."""
    if not isinstance(value, Instance) or value.cls is None or not _all_known(value.cls):
        return False
    return value.cls.library_bases() <= _NOTHING_MORE


def _all_known(cls: Class, depth: int = 8) -> bool:
    """Whether it is known what a class extends."""
    bases = cls.bases if depth else ()
    return all(isinstance(one, Library) or (isinstance(one, Class) and _all_known(one, depth - 1)) for one in bases)


def _has_parameters(kind: str) -> bool:
    return (
        kind in LINEAR
        or kind in recurrent.KINDS
        or kind in _WITH_PARAMETERS
        or CONVOLUTIONS.match(kind) is not None
        or (NORMS.search(kind) is not None and not kind.startswith("InstanceNorm"))
        or kind.startswith(("Transformer", "keras"))
    )


def _handed_on(layer: Layer | Instance, call: Call) -> Value | None:
    """The state that an unknown module gets back from itself, told by its name."""
    named = [*zip(call.node.args, call.args, strict=False)]
    named += [(key.value, call.keywords[key.arg]) for key in call.node.keywords if key.arg in call.keywords]
    for node, value in named:
        mine = any(number == layer.number for part in recurrent.parts_of(value) for number, _ in part.states)
        if mine and _STATE.fullmatch(ast.unparse(node).partition("[")[0].rpartition(".")[2]):
            return value
    return None


def _is_opaque(value: Instance) -> bool:
    """A module of the program whose parameters come from a library class that it extends."""
    bases = value.cls.library_bases() if value.cls is not None else set()
    return any(not name.startswith(("torch.nn.Module", "lightning", "builtins")) for name in bases)


def _through(m: Machine, layer: Layer, call: Call) -> Value:
    from traindx.program.calling import Call as Inner
    from traindx.program.calling import call_value

    value: Value = call.args[0] if call.args else UNKNOWN
    m.inside_modules += 1
    m.in_sequence += 1
    try:
        for child in children(layer):
            if isinstance(child, Layer | Instance | Function):
                value = call_value(m, child, Inner(call.node, [value], {}))
            else:
                value = opaque(m, layer, Inner(call.node, [value], {}))
    finally:
        m.inside_modules -= 1
        m.in_sequence -= 1
    return value


def _linear(m: Machine, layer: Layer, given: Tensor, call: Call) -> Tensor:
    out = layer.keywords.get("out_features", layer.keywords.get("out_channels"))
    at = 0 if layer.kind.startswith("Lazy") else 1
    size = whole(out if out is not None else layer.args[at] if len(layer.args) > at else None)
    shape: Shape | None = None
    if layer.kind in LINEAR:
        shape = (*given.shape[:-1], size) if given.shape else None
        if given.shape is None and size is not None:
            shape = None
    elif given.shape and len(given.shape) > 1:
        shape = (given.shape[0], size, *[None] * (len(given.shape) - 2))
    m.event("linear", call.node, layer, before=given)
    made = parametric(m, layer, [given], shape)
    if "pixels" not in given.marks and (first_value(layer, "bias") or 0.0) <= SUNK and _has_bias(layer):
        made = made.marked("sunk")
    if first_value(layer, "weight") == 0.0:
        if "null" in given.marks and m.grad:
            m.event("null-product", call.node, layer)
        if not _has_bias(layer) or first_value(layer, "bias") == 0.0:
            made = made.marked("null")
    marks = made.marks | {"affine"} | ({"one-out"} if size == 1 else NOTHING) | ({f"out-{size}"} if size else NOTHING)
    return made.but(act="linear", act_at=applied_at(m, layer, call), marks=marks, range=FREE)


def _has_bias(layer: Layer) -> bool:
    told = layer.keywords.get("bias", layer.args[2] if layer.kind in LINEAR and len(layer.args) > 2 else Plain(True))
    return not (isinstance(told, Plain) and told.value is False)


def applied_at(m: Machine, layer: Layer, call: Call) -> Place:
    """Where a layer is applied: its own call, or its place in the container that calls it."""
    return layer.place if m.in_sequence and layer.place is not None else m.place(call.node)


def _flat(layer: Layer, given: Tensor) -> Tensor:
    """What a layer gives that keeps the values: `Flatten` with the bounds that it was made with."""
    if layer.kind != "Flatten":
        return given if layer.kind != "Unflatten" else given.but(shape=None)
    start, end = (_bound(layer, at, name, plain) for at, name, plain in ((0, "start_dim", 1), (1, "end_dim", -1)))
    shape = shapes.merged(given.shape, start, end) if given.shape and start is not None and end is not None else None
    return given.but(shape=shape, marks=given.marks - {"one-out"} - (NOTHING if start else {"batched"}))


def _bound(layer: Layer, at: int, name: str, plain: int) -> int | None:
    given = layer.keywords.get(name, layer.args[at] if len(layer.args) > at else Plain(plain))
    return whole(given)


__all__ = ["ACTIVATIONS", "apply", "children", "construct", "frozen", "leaves", "opaque", "parametric"]
