"""The names that a model's tensors have in its state dict, as far as its code tells: `net.0.weight`, `head.bias`.

A part of unknown make (a library's model, a name that a loop computes) is open: any name may follow.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from traindx.readers.code.codeunit import CodeUnit
from traindx.readers.code.syntax import name_of

_NORM = ("weight", "bias", "running_mean", "running_var", "num_batches_tracked")
_TENSORS: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(("Linear", "Bilinear", "LayerNorm", "GroupNorm", "RMSNorm"), ("weight", "bias")),
    **dict.fromkeys((f"Conv{n}d" for n in "123"), ("weight", "bias")),
    **dict.fromkeys((f"ConvTranspose{n}d" for n in "123"), ("weight", "bias")),
    **dict.fromkeys(("Embedding", "EmbeddingBag", "PReLU"), ("weight",)),
    **dict.fromkeys((f"BatchNorm{n}d" for n in "123"), _NORM),
    "SyncBatchNorm": _NORM,
}
_EMPTY = frozenset(
    [
        "ReLU",
        "ReLU6",
        "LeakyReLU",
        "GELU",
        "SiLU",
        "ELU",
        "SELU",
        "Sigmoid",
        "Tanh",
        "Softmax",
        "LogSoftmax",
        "Softplus",
        "Hardswish",
        "Mish",
        "Identity",
        "Flatten",
        "Unflatten",
        "Dropout",
        "Dropout1d",
        "Dropout2d",
        "Dropout3d",
        "MaxPool1d",
        "MaxPool2d",
        "MaxPool3d",
        "AvgPool1d",
        "AvgPool2d",
        "AvgPool3d",
        "AdaptiveAvgPool1d",
        "AdaptiveAvgPool2d",
        "AdaptiveAvgPool3d",
        "AdaptiveMaxPool1d",
        "AdaptiveMaxPool2d",
        "Upsample",
        "PixelShuffle",
        "ZeroPad2d",
        "ReflectionPad2d",
        "CrossEntropyLoss",
        "BCEWithLogitsLoss",
        "MSELoss",
        "L1Loss",
        "NLLLoss",
    ]
)
_WRAPPERS = {"compile": "_orig_mod.", "DataParallel": "module.", "DistributedDataParallel": "module.", "DDP": "module."}
_MOVING = {"to", "cuda", "cpu", "half", "float", "bfloat16", "eval", "train", "double"}
_OPEN = "\0"
"""stands for any number of further parts of a name; `\\1` for one"""
_ANY = "\1"
DEEPEST = 8


@dataclass
class _Classes:
    """What the run's code defines: modules and functions by name, each once."""

    classes: dict[str, ast.ClassDef] = field(default_factory=dict)
    functions: dict[str, ast.FunctionDef] = field(default_factory=dict)


@dataclass(frozen=True)
class StateNames:
    """The names of a model's tensors, as patterns."""

    names: frozenset[str]
    wrapper: str = ""
    """what a wrapper around the model puts before every name"""

    @property
    def closed(self) -> frozenset[str]:
        """The patterns without an open end: what must be there, whatever the rest is."""
        return frozenset(name for name in self.names if _OPEN not in name)

    def covers(self, name: str) -> bool:
        """Whether the model may have a tensor of this name."""
        return any(_pattern(one).fullmatch(name) for one in self.names)


def _pattern(name: str) -> re.Pattern[str]:
    return re.compile(re.escape(name).replace(re.escape(_OPEN), ".*").replace(re.escape(_ANY), "[^.]+"))


def state_names(code: Sequence[CodeUnit], made_by: ast.expr) -> StateNames | None:
    """The names of the model that an expression builds; None where nothing of it is known."""
    known = _Classes()
    for unit in code:
        for node in ast.walk(unit.tree):
            if isinstance(node, ast.ClassDef):
                known.classes.setdefault(node.name, node)
            elif isinstance(node, ast.FunctionDef):
                known.functions.setdefault(node.name, node)
    wrapper = ""
    inner = made_by
    while isinstance(inner, ast.Call):
        called = name_of(inner.func)
        if called in _WRAPPERS and inner.args:
            wrapper, inner = wrapper + _WRAPPERS[called], inner.args[0]
        elif called in _MOVING and isinstance(inner.func, ast.Attribute) and isinstance(inner.func.value, ast.Call):
            inner = inner.func.value
        else:
            break
    names = frozenset(_made(inner, known, DEEPEST))
    return StateNames(names, wrapper) if any(_OPEN not in name for name in names) else None


def _made(node: ast.AST, known: _Classes, left: int) -> Iterator[str]:
    """The names below what an expression builds."""
    called = name_of(node.func) if isinstance(node, ast.Call) else ""
    if not isinstance(node, ast.Call) or left <= 0:
        yield _OPEN
    elif called in _TENSORS:
        off = any(row.arg in {"bias", "affine"} and _is_false(row.value) for row in node.keywords)
        yield from (name for name in _TENSORS[called] if not (off and name == "bias"))
    elif called in {"Sequential", "ModuleList"}:
        yield from _listed(node, known, left)
    elif called in known.classes:
        yield from _of_class(known.classes[called], known, left - 1)
    elif called in known.functions:
        returned = [row.value for row in ast.walk(known.functions[called]) if isinstance(row, ast.Return)]
        yield from _made(returned[0], known, left - 1) if len(returned) == 1 and returned[0] is not None else (_OPEN,)
    elif called not in _EMPTY:
        yield _OPEN


def _listed(call: ast.Call, known: _Classes, left: int) -> Iterator[str]:
    """What stands in a sequence of modules, by its number."""
    elements: Iterable[ast.expr] = call.args
    if len(call.args) == 1 and isinstance(call.args[0], ast.List | ast.Tuple):
        elements = call.args[0].elts
    elif len(call.args) == 1:
        repeated = call.args[0].value if isinstance(call.args[0], ast.Starred) else call.args[0]
        if isinstance(repeated, ast.ListComp | ast.GeneratorExp):
            yield from (f"{_ANY}.{name}" for name in _made(repeated.elt, known, left - 1))
            return
    for place, element in enumerate(elements):
        if isinstance(element, ast.Starred) or not isinstance(element, ast.Call):
            yield _OPEN
            return
        yield from (f"{place}.{name}" for name in _made(element, known, left - 1))


def _of_class(node: ast.ClassDef, known: _Classes, left: int) -> Iterator[str]:
    """What a module's `__init__` makes part of it."""
    for base in node.bases:
        if name_of(base) in known.classes and name_of(base) != node.name:
            yield from _of_class(known.classes[name_of(base)], known, left - 1) if left > 0 else (_OPEN,)
        elif name_of(base) not in {"Module", "LightningModule"}:
            yield _OPEN
    for row in ast.walk(node):
        if isinstance(row, ast.Assign) and len(row.targets) == 1 and _is_own(row.targets[0]):
            name = name_of(row.targets[0])
            if isinstance(row.value, ast.Call) and name_of(row.value.func) == "Parameter":
                yield name
            elif isinstance(row.value, ast.Call) and _may_be_module(row.value, known):
                yield from (f"{name}.{inner}" for inner in _made(row.value, known, left - 1))
            elif isinstance(row.value, ast.Name):
                yield f"{name}.{_OPEN}"  # a module that is handed in
        elif isinstance(row, ast.Call) and name_of(row.func) in {"register_buffer", "register_parameter", "add_module"}:
            first = row.args[0] if row.args else None
            told = first.value if isinstance(first, ast.Constant) and isinstance(first.value, str) else _OPEN
            yield f"{told}.{_OPEN}" if name_of(row.func) == "add_module" else told


def _is_own(target: ast.expr) -> bool:
    return isinstance(target, ast.Attribute) and name_of(target.value) == "self"


def _may_be_module(call: ast.Call, known: _Classes) -> bool:
    called = name_of(call.func)
    return called[:1].isupper() or called in known.functions or "model" in called.lower() or called.startswith("create")


def _is_false(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is False
