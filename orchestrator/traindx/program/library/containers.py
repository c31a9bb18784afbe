"""Methods of lists, dictionaries, numbers and texts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from traindx.program.library.creation import created
from traindx.program.library.graphs import clears_gradient
from traindx.program.library.initialising import initialised
from traindx.program.values import (
    UNKNOWN,
    Gradient,
    Guess,
    Items,
    Mapping,
    Parameters,
    Plain,
    Stream,
    Tensor,
    Value,
)

if TYPE_CHECKING:
    from traindx.program.calling import Call
    from traindx.program.machine import Machine

MOST = 40
"""elements of a list that are kept"""


def method(m: Machine, owner: Value, name: str, call: Call) -> Value | None:
    """`owner.name(…)`."""
    if isinstance(owner, Items):
        return _of_items(m, owner, name, call)
    if isinstance(owner, Mapping):
        return _of_mapping(m, owner, name, call)
    if isinstance(owner, Parameters):
        return _of_parameters(m, owner, name, call)
    if isinstance(owner, Gradient):
        if clears_gradient(name, call.args):
            m.event("zero", call.node, owner.parameters)
        return owner if name.endswith("_") or name in {"data", "detach", "clone"} else Tensor()
    if isinstance(owner, Stream) and name in {"set_postfix", "set_description", "update", "close", "set_postfix_str"}:
        return Plain(None)
    if isinstance(owner, Plain) and isinstance(owner.value, str):
        return Plain("", "varies") if name != "split" else Items([Plain("", "varies")], "list", True)
    return None


def _of_items(m: Machine, owner: Items, name: str, call: Call) -> Value | None:
    if name in {"append", "add", "appendleft", "insert"} and call.args:
        value = call.args[-1]
        m.event("kept", call.node, owner, value=value)
        m.journal.put(owner, "items", [*owner.items, value][-MOST:])
        if m.turns:
            m.journal.put(owner, "more", True)
        return Plain(None)
    if name in {"extend", "update"} and call.args:
        more = call.args[0].items if isinstance(call.args[0], Items) else [call.args[0]]
        m.journal.put(owner, "items", [*owner.items, *more][-MOST:])
        return Plain(None)
    if name == "clear":
        m.journal.put(owner, "items", [])
        m.journal.put(owner, "more", False)
        return Plain(None)
    if name in {"pop", "popleft"}:
        return owner.items[-1] if owner.items else UNKNOWN
    if name in {"copy", "sort", "reverse"}:
        return owner
    held = [part for part in owner.items if isinstance(part, Tensor)]
    if held and name in {"detach", "to", "cuda"}:
        return owner
    return Plain(None, "varies") if name in {"index", "count"} else None


def _of_mapping(m: Machine, owner: Mapping, name: str, call: Call) -> Value | None:
    if name == "items":
        rows: list[Value] = [Items([Plain(key), value]) for key, value in owner.entries.items()]
        return Items(rows, "list", owner.more)
    if name in {"values", "keys"}:
        rows = list(owner.entries.values()) if name == "values" else [Plain(key) for key in owner.entries]
        return Items(rows, "list", owner.more)
    if name in {"get", "pop", "setdefault"} and call.args:
        key = call.args[0]
        spelled = str(key.value) if isinstance(key, Plain) and key.value is not None else "?"
        found = owner.entries.get(spelled)
        if found is not None and name == "pop" and isinstance(key, Plain):
            rest = {told: value for told, value in owner.entries.items() if told != str(key.value)}
            m.journal.put(owner, "entries", rest)
        if found is not None:
            return found
        default = call.args[1] if len(call.args) > 1 else None
        if name == "setdefault" and default is not None and isinstance(key, Plain):
            m.journal.put(owner, "entries", {**owner.entries, str(key.value): default})
        return default if default is not None else Guess(str(getattr(key, "value", "")))
    if name == "update":
        entries = dict(owner.entries)
        for given in call.args:
            entries.update(given.entries if isinstance(given, Mapping) else {})
        entries.update(call.keywords)
        m.journal.put(owner, "entries", entries)
        return Plain(None)
    if name == "to":
        return owner
    if name == "clear":
        m.journal.put(owner, "entries", {})
        return Plain(None)
    return owner if name == "copy" else None


def _of_parameters(m: Machine, owner: Parameters, name: str, call: Call) -> Value | None:
    if name in {
        "zero_",
        "fill_",
        "normal_",
        "uniform_",
        "trunc_normal_",
        "copy_",
        "mul_",
        "add_",
        "sub_",
        "data",
        "div_",
        "lerp_",
    }:
        m.event("overwritten", call.node, owner, name=name)
        initialised(m, name, owner, call, call.args)
        if name in {"zero_"}:
            m.event("zero", call.node, owner)
        return owner
    if name == "requires_grad_":
        from traindx.program.binding import _freeze

        given = call.args[0] if call.args else Plain(True)
        _freeze(m, owner, given, call.node)
        return owner
    if name in {"new_zeros", "new_ones", "new_empty", "new"}:
        return created(name, call)
    if name in {"detach", "clone", "float", "cpu", "view", "data"}:
        return owner
    if name in {"numel", "dim", "size"}:
        return Plain(None, "varies")
    if name in {"norm", "pow", "sum", "abs", "mean", "square", "flatten"}:
        graph = frozenset({-1}) if m.grad else frozenset[int]()
        return Tensor(graph=graph, deps=owner.layers if m.grad else frozenset())
    return None
