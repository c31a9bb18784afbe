"""Built-in functions and the standard library, as far as training programs use them."""

from __future__ import annotations

import ast
import math
from collections.abc import Callable, Collection, Sequence
from typing import TYPE_CHECKING

from traindx.program import expressions
from traindx.program.library import layers, modules
from traindx.program.library.graphs import mixed
from traindx.program.streams import stream_of
from traindx.program.subscripts import whole_config
from traindx.program.values import (
    UNKNOWN,
    Guess,
    Instance,
    Items,
    Layer,
    Made,
    Mapping,
    Method,
    Parameters,
    Plain,
    Stream,
    Tensor,
    Value,
    number,
    text,
)

if TYPE_CHECKING:
    from traindx.program.calling import Call
    from traindx.program.machine import Machine


_LOADING = frozenset(["safe_load", "full_load", "load", "loads", "merge", "create"])
_CONFIGS = frozenset(["yaml", "json", "toml", "tomllib", "omegaconf"])


def builtin(m: Machine, name: str, call: Call) -> Value:
    """A built-in function."""
    step = _BUILTINS.get(name)
    if step is not None:
        return step(m, call)
    if call.tensors and name in {"sum", "max", "min", "abs", "pow"}:
        return mixed(m, call.tensors)
    if name in {"print", "repr", "format", "id", "hash", "open", "input", "vars", "exit", "delattr"}:
        return Guess(name)
    return Guess(name)


def _enumerate(m: Machine, call: Call) -> Value:
    from traindx.program.looping import container

    given = call.args[0] if call.args else None
    given = (container(given) or given) if given is not None else None
    if isinstance(given, Items) and not given.more and 0 < len(given.items) <= 8 and len(call.args) == 1:
        return Items([Items([Plain(at), part]) for at, part in enumerate(given.items)], "list")
    inner = stream_of(m, given) if given is not None else Stream(UNKNOWN)
    return Stream(Items([Plain(None, "varies", "index"), inner.element]), inner.source, inner.length)


def _zip(m: Machine, call: Call) -> Value:
    if all(isinstance(part, Items) and not part.more for part in call.args) and call.args:
        if len(call.node.args) == 1 and isinstance(call.node.args[0], ast.Starred):
            # `zip(*rows)`: how many rows there are is seldom known where they are gone through like this.
            more = not isinstance(call.node.args[0].value, ast.Tuple | ast.List)
            held = [part.items for part in call.args if isinstance(part, Items)]
            return Items([Items(list(column), "tuple", more) for column in zip(*held, strict=False)], "list")
        rows = zip(*(part.items for part in call.args if isinstance(part, Items)), strict=False)
        return Items([Items(list(row)) for row in rows], "list")
    inner = [stream_of(m, part) for part in call.args]
    source = next((part.source for part in inner if isinstance(part.source, Made)), None)
    return Stream(Items([part.element for part in inner]), source or (inner[0].source if inner else UNKNOWN))


def _range(m: Machine, call: Call) -> Value:
    end = call.args[1] if len(call.args) > 1 else call.args[0] if call.args else UNKNOWN
    step = call.args[2] if len(call.args) > 2 else Plain(1)
    source = Made(kind="range", args=tuple(call.args), fields={"end": end, "step": step})
    return Stream(Plain(None, "varies", "index"), source, end)


def _len(m: Machine, call: Call) -> Value:
    given = call.args[0] if call.args else UNKNOWN
    if isinstance(given, Stream):
        given = given.source
    if isinstance(given, Made) and given.kind in {"DataLoader", "loader"}:
        return Plain(None, "varies", "", "batches")
    if isinstance(given, Items) and not given.more:
        return Plain(len(given.items))
    if isinstance(given, Tensor) and given.shape and given.shape[0] is not None:
        return Plain(given.shape[0])
    return Plain(None, "varies")


def _getattr(m: Machine, call: Call) -> Value:
    from traindx.program.attributes import attribute

    name = text(call.args[1]) if len(call.args) > 1 else ""
    if name:
        found = attribute(m, call.args[0], name, call.node)
        return call.args[2] if isinstance(found, Method) and found.function is None and len(call.args) > 2 else found
    return Guess("")


def _setattr(m: Machine, call: Call) -> Value:
    name = text(call.args[1]) if len(call.args) > 2 else ""
    owner = call.args[0] if call.args else None
    if isinstance(owner, Instance | Layer | Made) and len(call.args) > 2:
        # A name that is put together is as good as any: the value is registered.
        m.journal.set(owner.fields, name or f"{len(owner.fields)} of many", call.args[2])
    return Plain(None)


def _super(m: Machine, call: Call) -> Value:
    frame = next((frame for frame in reversed(m.frames) if frame.function is not None), None)
    owner = frame.function.owner if frame is not None and frame.function is not None else None
    first = frame.scope.names.get("self") if frame is not None else None
    fields: dict[str, Value] = {"cls": owner} if owner is not None else {}
    if first is not None:
        fields["self"] = first
    return Made(kind="super", fields=fields)


def _number(m: Machine, call: Call) -> Value:
    given = call.args[0] if call.args else Plain(0)
    if isinstance(given, Plain) and isinstance(given.value, str):
        try:
            told = float(given.value)
        except ValueError:
            return Plain(None, "varies")
        whole = math.isfinite(told) and told == int(told)
        return Plain(int(told) if whole else told, given.sure, given.name)
    if isinstance(given, Tensor):
        m.event("sync", call.node, given, name="float")
        return Tensor(shape=(), loss=given.loss, states=given.states, cut=given.cut)
    return given if isinstance(given, Plain) else Plain(None, "varies")


def _sequence(m: Machine, call: Call) -> Value:
    given = call.args[0] if call.args else Items([], "list")
    if isinstance(given, Stream):
        return Items([given.element], "list", True)
    if isinstance(given, Items):
        return Items(list(given.items), "list", given.more)
    if isinstance(given, Mapping):
        return Items([Plain(key) for key in given.entries], "list", given.more)
    if isinstance(given, Layer | Instance):
        return Items(layers.children(given), "list")
    return given if isinstance(given, Parameters | Tensor) else stream_of(m, given)


def _tuple(m: Machine, call: Call) -> Value:
    found = _sequence(m, call)
    return Items(found.items, "tuple", found.more) if isinstance(found, Items) else found


def _next(m: Machine, call: Call) -> Value:
    return stream_of(m, call.args[0]).element if call.args else UNKNOWN


def _sum(m: Machine, call: Call) -> Value:
    given = call.args[0] if call.args else UNKNOWN
    element = stream_of(m, given).element
    if isinstance(element, Tensor):
        return mixed(m, [element], element.shape, element.marks & {"gradient"})
    if isinstance(given, Items):
        tensors = [part for part in given.items if isinstance(part, Tensor)]
        return mixed(m, tensors) if tensors else Plain(None, "varies")
    return Plain(None, "varies")


def _map(m: Machine, call: Call) -> Value:
    from traindx.program.calling import Call as Inner
    from traindx.program.calling import call_value

    if len(call.args) < 2:
        return UNKNOWN
    given = call.args[1]
    if isinstance(given, Items) and not given.more and len(given.items) <= 8:
        return Items([call_value(m, call.args[0], Inner(call.node, [part], {})) for part in given.items], "list")
    element = call_value(m, call.args[0], Inner(call.node, [stream_of(m, given).element], {}))
    return Stream(element, given)


def _filter(m: Machine, call: Call) -> Value:
    given = call.args[1] if len(call.args) > 1 else UNKNOWN
    if isinstance(given, Items):
        return Items(given.items, given.kind, True)
    return given


def _dict(m: Machine, call: Call) -> Value:
    entries = dict(call.keywords)
    more = bool(entries.pop("**", None))
    for given in call.args:
        if isinstance(given, Made) and given.kind == "config":
            entries = {**whole_config(m, given), **entries}
        if isinstance(given, Items):
            pairs = _pairs(given)
            entries = {**pairs.entries, **entries}
        entries = {**given.entries, **entries} if isinstance(given, Mapping) else entries
    return Mapping(entries, more or any(not isinstance(given, Mapping) for given in call.args))


def _extreme(m: Machine, call: Call) -> Value:
    if call.tensors:
        return mixed(m, call.tensors)
    known = [number(part) for part in call.args]
    if known and all(part is not None for part in known):
        return Plain(None, "varies")
    return Plain(None, "varies")


def _exec(m: Machine, call: Call) -> Value:
    """`exec(open(file).read())`: the one file of the folder that only gives new values to names known here."""
    names = m.scope.names
    found = [unit for unit in m.units.values() if unit is not m.unit and is_overlay(unit.tree.body, names)]
    if len(found) == 1:
        for node in found[0].tree.body:
            if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
                value = expressions.evaluate(m, node.value)
                told = node.targets[0].id
                m.bind(told, Plain(value.value, "config", told) if isinstance(value, Plain) else value)
    return Plain(None)


def is_overlay(body: Sequence[ast.stmt], names: Collection[str]) -> bool:
    """Whether a file is nothing but values for names, most of which are among these."""
    told = [
        node.targets[0].id for node in body if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name)
    ]
    rest = sum(not isinstance(node, ast.Assign | ast.Expr) for node in body)
    return len(told) > 1 and not rest and sum(name in names for name in told) > len(told) / 2


_BUILTINS: dict[str, Callable[[Machine, Call], Value]] = {
    "enumerate": _enumerate,
    "zip": _zip,
    "range": _range,
    "len": _len,
    "getattr": _getattr,
    "setattr": _setattr,
    "super": _super,
    "float": _number,
    "int": _number,
    "bool": _number,
    "list": _sequence,
    "tuple": _tuple,
    "set": _sequence,
    "sorted": _sequence,
    "reversed": _sequence,
    "iter": lambda m, call: stream_of(m, call.args[0]) if call.args else UNKNOWN,
    "next": _next,
    "sum": _sum,
    "map": _map,
    "filter": _filter,
    "dict": _dict,
    "exec": _exec,
    "max": _extreme,
    "min": _extreme,
    "isinstance": lambda m, call: Plain(None, "varies"),  # noqa: ARG005
    "hasattr": lambda m, call: Plain(None, "varies"),  # noqa: ARG005
    "print": lambda m, call: (m.event("print", call.node, UNKNOWN), Plain(None))[1],
}


def standard(m: Machine, full: str, last: str, call: Call) -> Value | None:
    """A function of the standard library, or of a package that only passes things on."""
    root = full.partition(".")[0]
    first = call.args[0] if call.args else None
    if last in {"tree_map", "map_structure", "tree_multimap"} and len(call.args) == 2:
        return _over_leaves(m, call, call.args[1])
    if root in {"tqdm", "rich", "fastprogress", "progressbar", "alive_progress"}:
        if last == "trange":
            return _range(m, call)
        return stream_of(m, first) if first is not None else Guess("progress")
    if root == "copy":
        return modules.copied(m, first) if first is not None and last == "deepcopy" else first
    if root == "itertools":
        if last == "chain" and all(isinstance(part, Parameters) for part in call.args) and call.args:
            found: frozenset[int] = frozenset().union(*(p.layers for p in call.args if isinstance(p, Parameters)))
            return Parameters(found, all(p.known for p in call.args if isinstance(p, Parameters)))
        if last in {"cycle", "islice", "chain"} and first is not None:
            return stream_of(m, first)
        if last == "count":
            return Stream(Plain(None, "varies"), Plain(None))
    if full in {"os.environ.get", "os.getenv"} and len(call.args) > 1 and isinstance(call.args[1], Plain):
        return Plain(call.args[1].value, "default", text(first))
    if root == "functools" and last == "partial":
        return Made(kind="partial", args=tuple(call.args), keywords=call.keywords)
    if root == "collections":
        if last == "OrderedDict":
            return _dict(m, call) if not isinstance(first, Items) else _pairs(first)
        if last == "deque":
            # With a `maxlen` it lets go of the oldest.
            return Items([], "ring" if "maxlen" in call.keywords or len(call.args) > 1 else "list")
        if last == "defaultdict":
            return Mapping({}, True, first)
    if last in _LOADING and root in _CONFIGS:
        return Made(kind="config", fields={"@loaded": Plain(True)})
    if last in {"ConfigParser", "RawConfigParser", "SafeConfigParser"}:
        return Made(kind="config", fields={"@loaded": Plain(True), "@text": Plain(True)})
    if last == "ArgumentParser":
        return Made(kind="parser", place=m.place(call.node))
    if last in {"SimpleNamespace", "Namespace"}:
        return Made(kind="config", fields=dict(call.keywords))
    if root == "math" and last in {"ceil", "floor"} and isinstance(first, Plain):
        return first
    return None


def _over_leaves(m: Machine, call: Call, tree: Value, depth: int = 4) -> Value:
    """A function applied to every leaf of nested lists and dictionaries."""
    from traindx.program.calling import Call as Inner
    from traindx.program.calling import call_value

    if isinstance(tree, Items) and depth:
        return Items([_over_leaves(m, call, part, depth - 1) for part in tree.items], tree.kind, tree.more)
    if isinstance(tree, Mapping) and depth:
        return Mapping({key: _over_leaves(m, call, part, depth - 1) for key, part in tree.entries.items()}, tree.more)
    return call_value(m, call.args[0], Inner(call.node, [tree], {}))


def _pairs(rows: Items) -> Mapping:
    entries: dict[str, Value] = {}
    for row in rows.items:
        if isinstance(row, Items) and len(row.items) == 2:
            key = row.items[0]
            entries[str(key.value) if isinstance(key, Plain) else str(len(entries))] = row.items[1]
    return Mapping(entries, rows.more)
