"""Attributes of values."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from traindx.program import contractions
from traindx.program.library import keras_models
from traindx.program.values import (
    UNKNOWN,
    Class,
    Cut,
    Function,
    Gradient,
    Guess,
    Imported,
    Instance,
    Items,
    Layer,
    Library,
    LossTerm,
    Made,
    Mapping,
    Method,
    Object,
    Parameters,
    Plain,
    Tensor,
    Value,
)

if TYPE_CHECKING:
    from traindx.program.machine import Machine


def attribute(m: Machine, owner: Value, name: str, node: ast.AST) -> Value:
    """`owner.name`."""
    if isinstance(owner, Library):
        return _library(m, owner, name)
    if isinstance(owner, Tensor):
        return _tensor(m, owner, name, node)
    if isinstance(owner, Instance):
        return _instance(m, owner, name)
    if isinstance(owner, Layer):
        return _layer(m, owner, name)
    if isinstance(owner, Imported):
        found = owner.scope.names.get(name)
        return found if found is not None else Guess(name)
    if isinstance(owner, Made):
        return _made(m, owner, name)
    if isinstance(owner, Class):
        found = owner.find(name)
        if isinstance(found, Function) and "classmethod" in found.marks:
            return Method(owner, name, found)
        return found if found is not None else Guess(f"{owner.node.name}.{name}")
    if isinstance(owner, Mapping):
        return owner.entries.get(name, Method(owner, name))
    if isinstance(owner, Parameters):
        return owner if name == "data" else Gradient(owner) if name == "grad" else Guess(name)
    if isinstance(owner, Gradient):
        return owner if name == "data" else Guess(name)
    if isinstance(owner, Guess):
        return _guessed(m, owner, name)
    if isinstance(owner, Items) and name in {"values", "indices"} and _is_pair(owner):
        return owner.items[name == "indices"]  # of `max(dim)`, `sort()`, `topk(k)`
    return Method(owner, name) if owner is not UNKNOWN else UNKNOWN


def _is_pair(owner: Items) -> bool:
    return owner.kind == "tuple" and len(owner.items) == 2 and all(isinstance(part, Tensor) for part in owner.items)


def _library(m: Machine, owner: Library, name: str) -> Value:
    from traindx.program.definitions import library

    inner = m.scope.find(f"@module {owner.name}.{name}")
    if inner is not None:
        return inner
    return library(f"{owner.name}.{name}")


def _tensor(m: Machine, owner: Tensor, name: str, node: ast.AST) -> Value:
    if name == "data":
        cut = Cut("`.data`", m.place(node)) if owner.graph else owner.cut
        if owner.deps:
            m.event("cut", node, owner, by="`.data`")
        marks = owner.marks | ({"detached"} if owner.graph else frozenset())
        return owner.but(graph=frozenset(), deps=frozenset(), cut=cut, loss=None, marks=marks)
    if name in {"shape"}:
        shape = owner.shape
        return (
            Items([Plain(size, "constant" if size is not None else "varies") for size in shape]) if shape else UNKNOWN
        )
    if name in {"T", "mT", "real", "values"}:
        turned = owner.but(marks=contractions.flat(owner)) if name == "T" else owner
        return turned.but(shape=tuple(reversed(owner.shape)) if owner.shape and name == "T" else owner.shape)
    if name in {"cat", "codes"} and "table" in owner.marks:
        return owner
    if name == "grad":
        return Tensor(marks=frozenset({"gradient"}))
    if name in {"dtype", "device", "is_cuda", "requires_grad", "grad_fn", "is_leaf", "ndim"}:
        return Plain(None, "varies")
    if "opaque" in owner.marks and name == "loss":
        term = LossTerm("model", m.place(node), owner, Plain(None))
        return owner.but(shape=(), marks=owner.marks - {"opaque"}, loss=term)
    if "opaque" in owner.marks and name in {"logits", "last_hidden_state", "pooler_output", "prediction", "sample"}:
        act = "linear" if name == "logits" else ""
        return owner.but(marks=owner.marks - {"opaque"}, act=act)
    return Method(owner, name)


def _instance(m: Machine, owner: Instance, name: str) -> Value:
    from traindx.program.calling import call_method

    if name in owner.fields:
        return owner.fields[name]
    if name == "training":
        return owner.fields.get("@training", Plain(True))
    if name == "module" and owner.cls is not None and owner.cls.descends("Module") and owner.cls.find(name) is None:
        return owner  # a wrapper is the model that it wraps
    if name == "__class__" and owner.cls is not None:
        return owner.cls
    if name in {"hparams", "args", "cfg", "config"}:
        return Made(kind="config", fields=dict(owner.fields.get("@hparams", Mapping({})).entries))  # type: ignore[attr-defined]
    found = owner.cls.find(name) if owner.cls is not None else None
    if isinstance(found, Function):
        if "property" in found.marks:
            return call_method(m, owner, found, [], {})
        return Method(owner, name, found)
    if found is not None:
        return found
    asked = owner.cls.find("__getattr__") if owner.cls is not None and not name.startswith("_") else None
    if isinstance(asked, Function):
        return call_method(m, owner, asked, [Plain(name)], {})
    return Method(owner, name)


def _layer(m: Machine, owner: Layer, name: str) -> Value:
    if name in owner.fields:
        return owner.fields[name]
    if name in {"weight", "bias"} or name.startswith(("weight_", "bias_")):
        return Parameters(frozenset({owner.number}), True, Plain(name))
    if name == "training":
        return owner.fields.get("@training", Plain(True))
    if name == "module":
        return owner
    if name == "layers" and owner.kind.startswith(keras_models.MARK):
        inner = keras_models.parts(owner, m.trace)
        return Items(list(inner), "list", not inner)
    positions = {"hidden_size": 1, "input_size": 0, "num_layers": 2, "out_features": 1, "in_features": 0}
    if name in positions:
        given = owner.keywords.get(name)
        at = positions[name]
        return given if given is not None else owner.args[at] if at < len(owner.args) else Plain(1, "varies")
    if name in {"fc", "classifier", "head", "encoder", "decoder", "backbone", "features", "base_model", "config"}:
        return Layer(kind="?", guessed=True) if name != "config" else Guess("config")
    return Method(owner, name)


def _made(m: Machine, owner: Made, name: str) -> Value:
    from traindx.program.subscripts import configured

    if name in owner.fields:
        return owner.fields[name]
    if owner.kind == "config":
        found = configured(m, name, "", "@text" in owner.fields)
        return Method(owner, name) if isinstance(found, Guess) and name in _OF_A_DICT else found
    if owner.kind == "frame":
        return _column(owner, name)
    if owner.kind == "optimizer" and name == "param_groups":
        return Items([Mapping({"params": Parameters(owner.layers, owner.known)}, True)], "list", True)
    if owner.kind in {"DataLoader", "loader"} and name == "dataset":
        return owner.argument(0, "dataset") or UNKNOWN
    if owner.kind in {"DataLoader", "loader"} and name == "batch_size":
        return owner.argument(1, "batch_size") or Plain(1)
    if owner.kind == "images" and name in {"data", "targets"}:
        pixels = frozenset({"pixels"}) if name == "data" else frozenset({"target"})
        return Tensor(marks=pixels, origin=frozenset({owner.number}))
    return Method(owner, name)


def _column(owner: Made, name: str) -> Value:
    """`frame.values`, `frame.column`; anything with the name of a method is one."""
    from traindx.program.library import permutations, tables

    if name in {"loc", "iloc"}:
        return Made(
            kind="frame",
            fields={**owner.fields, "@origin": Plain(tuple(permutations.origin(owner))), "@loc": Plain(True)},
        )
    if name in _OF_A_FRAME or name.startswith(("to_", "is", "drop", "group", "sort", "set_", "reset", "str", "dt")):
        return Method(owner, name)
    shape = (None, None) if name in {"values", "T"} else (None,)
    return Tensor(
        origin=permutations.origin(owner),
        order=permutations.order(owner),
        shape=shape,
        marks=tables.marks(owner, Plain(name)),
    )


_OF_A_FRAME = frozenset(
    ["loc", "iloc", "at", "iat", "sample", "head", "tail", "copy", "merge", "join", "apply", "map", "astype", "fillna",
     "describe", "info", "mean", "std", "sum", "min", "max", "median", "shape", "columns", "index", "rename", "items",
     "iterrows", "itertuples", "assign", "query", "filter", "pop", "corr", "nunique", "unique", "value_counts",
     "dtypes", "reindex", "append", "concat", "pivot", "pivot_table", "melt", "plot", "clip", "where", "mask",
     "count"]
)  # fmt: skip
_OF_A_DICT = frozenset({"get", "items", "keys", "values", "copy", "update"})


def _guessed(m: Machine, owner: Guess, name: str) -> Value:
    from traindx.program.subscripts import configured

    if owner.name.rpartition(".")[2] in {"args", "cfg", "config", "hparams", "opt", "params", "FLAGS", "flags", "conf"}:
        found = configured(m, name)
        if not isinstance(found, Guess):
            return found
    if name in {"shape", "device", "dtype"}:
        return UNKNOWN
    return Guess(f"{owner.name}.{name}" if owner.name else name)


def is_object(value: Value) -> bool:
    """Whether a value has fields."""
    return isinstance(value, Object)
