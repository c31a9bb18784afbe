"""Whether the names in a checkpoint are those of the model that it is loaded into, where loading would not tell."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from pathlib import PurePosixPath

from traindx.contract import Fact, Signal, SignalKind
from traindx.detectors.checkpoints.citing import cite_tensor
from traindx.detectors.citing import cite_code
from traindx.readers.checkpoints import Checkpoint, TensorInfo
from traindx.readers.code.codeunit import CodeUnit
from traindx.readers.code.state_names import StateNames, state_names
from traindx.readers.code.syntax import assigned, name_of

SIGNALS = {
    "checkpoint-keys-not-loaded": SignalKind(
        "the names in the checkpoint are not those of the model, and loading is told not to mind", proof=True
    )
}
_WRAPPER = re.compile(r"^(?:module\.|_orig_mod\.|model\.|_forward_module\.|net\.|network\.|encoder\.)+")
_STRIPS = "consume_prefix_in_state_dict_if_present"
_TAKES = {"startswith", "removeprefix", "replace", "len", "split", "partition"}
"""calls that look for a text in a name, or take it away"""
_PAIRS = {"items", "keys", "list"}
MATCH = 0.5
"""share of the names below which nothing of the model is loaded but by accident"""


def detect(checkpoint: Checkpoint, code: Sequence[CodeUnit]) -> list[Signal]:
    """Loading that leaves out what does not fit (`strict=False`), of a file in which next to nothing fits."""
    names = [one for one in checkpoint.tensors if one.part == "model"]
    if len(names) < 2:
        return []
    for unit in code:
        for call in ast.walk(unit.tree):
            if not isinstance(call, ast.Call) or not _loads_quietly(call) or not _is_of(checkpoint, unit, code):
                continue
            if (loaded := _loaded(call, unit)) and PurePosixPath(checkpoint.path).name not in loaded:
                continue
            if any(_puts_right(tree, names) for tree in _on_the_way(call, unit, code)):
                continue
            for made in _models(call, unit, code):
                model = state_names(code, made)
                found = _compared(checkpoint, names, model, unit, call) if model is not None else None
                if found is not None:
                    return [found]
    return []


def _loads_quietly(call: ast.Call) -> bool:
    if name_of(call.func) != "load_state_dict":
        return False
    strict = [row.value for row in call.keywords if row.arg == "strict"] or call.args[1:2]
    return any(isinstance(value, ast.Constant) and value.value is False for value in strict)


def _loaded(call: ast.Call, unit: CodeUnit) -> set[str]:
    """The files that the program itself names where it reads what it loads here; empty where it names none."""
    given = call.args[0] if call.args else None
    values = list(assigned(unit.tree, given.id)) if isinstance(given, ast.Name) else [given] if given else []
    return {
        PurePosixPath(node.value).name
        for value in values
        for node in ast.walk(value)
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and "." in node.value
    }


def _on_the_way(call: ast.Call, unit: CodeUnit, code: Sequence[CodeUnit]) -> list[ast.AST]:
    """The file that loads, and functions of other files that what it loads has come through."""
    given = call.args[0] if call.args else None
    values = list(assigned(unit.tree, given.id)) if isinstance(given, ast.Name) else [given] if given else []
    called = {name_of(one.func) for value in values for one in ast.walk(value) if isinstance(one, ast.Call)}
    functions = [
        node
        for other in code
        if other is not unit
        for node in ast.walk(other.tree)
        if isinstance(node, ast.FunctionDef) and node.name in called
    ]
    return [unit.tree, *functions]


def _models(call: ast.Call, unit: CodeUnit, code: Sequence[CodeUnit]) -> Iterator[ast.expr]:
    """What the model is made by: in the file that loads, or where the function that loads is given it."""
    owner = call.func.value if isinstance(call.func, ast.Attribute) else None
    name = name_of(owner)
    yield from assigned(unit.tree, name)
    for function in ast.walk(unit.tree):
        if not isinstance(function, ast.FunctionDef) or all(node is not call for node in ast.walk(function)):
            continue
        taken = [argument.arg for argument in function.args.args]
        if name not in taken:
            continue
        for other in code:
            for given in _given(other.tree, function.name, name, taken.index(name)):
                yield from assigned(other.tree, given)


def _given(tree: ast.AST, function: str, name: str, place: int) -> Iterator[str]:
    """The names of what a function's calls give it for an argument."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and name_of(node.func) == function:
            by_name = [row.value for row in node.keywords if row.arg == name]
            value = next(iter([*by_name, *node.args[place : place + 1]]), None)
            if isinstance(value, ast.Name):
                yield value.id


def _puts_right(tree: ast.AST, names: Sequence[TensorInfo]) -> bool:
    """Whether a mapping is built again under other names: over its pairs, with a key that is not theirs.

    Taking away `module.` does nothing to names that do not have it.
    """
    made = [node for node in ast.walk(tree) if _makes_names(node)]
    return any(_may_fit(node, names) for node in made)


def _may_fit(node: ast.AST, names: Sequence[TensorInfo]) -> bool:
    """Whether it does anything to these names: all but taking away a text that none of them has."""
    key = node.key if isinstance(node, ast.DictComp) else None
    adds = key is not None and any(isinstance(one, ast.JoinedStr | ast.Add) for one in ast.walk(key))
    calls = [one for one in ast.walk(node) if isinstance(one, ast.Call) and name_of(one.func) in _TAKES]
    texts = [one.value for call in calls for one in call.args[:1] if isinstance(one, ast.Constant)]
    taken = {text for text in texts if isinstance(text, str)}
    return adds or not taken or any(text in one.name for text in taken for one in names)


def _makes_names(node: ast.AST) -> bool:
    if isinstance(node, ast.Call):
        return name_of(node.func) == _STRIPS
    if isinstance(node, ast.DictComp):
        return not isinstance(node.key, ast.Name)
    if isinstance(node, ast.GeneratorExp | ast.ListComp):
        key = node.elt.elts[0] if isinstance(node.elt, ast.Tuple) and len(node.elt.elts) == 2 else None
        return key is not None and not isinstance(key, ast.Name) and _over_pairs(node.generators[0].iter)
    if isinstance(node, ast.For) and _over_pairs(node.iter):
        return any(isinstance(one, ast.Subscript) and isinstance(one.ctx, ast.Store) for one in ast.walk(node))
    return False


def _over_pairs(node: ast.AST) -> bool:
    return any(isinstance(one, ast.Call) and name_of(one.func) in _PAIRS for one in ast.walk(node))


def _is_of(checkpoint: Checkpoint, unit: CodeUnit, code: Sequence[CodeUnit]) -> bool:
    """Whether the program speaks of this file, or of none by name."""
    texts = [
        node.value
        for one in {unit.path: unit, **{row.path: row for row in code if row.path in unit.imports}}.values()
        for node in ast.walk(one.tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    ]
    files = [text for text in texts if text.endswith((".pt", ".pth", ".ckpt", ".bin", ".safetensors"))]
    return not files or PurePosixPath(checkpoint.path).name in {PurePosixPath(text).name for text in files}


def _compared(
    checkpoint: Checkpoint, names: Sequence[TensorInfo], model: StateNames, unit: CodeUnit, call: ast.Call
) -> Signal | None:
    wrapper = model.wrapper
    fits = [one for one in names if one.name.startswith(wrapper) and model.covers(one.name.removeprefix(wrapper))]
    if len(fits) > MATCH * len(names) or not model.closed:
        return None
    first = names[0]
    prefix = _WRAPPER.match(first.name)
    stripped = [one for one in names if model.covers(_WRAPPER.sub("", one.name))]
    own = wrapper + min(model.closed).replace("\x01", "0")  # where a name stands for several
    claim = f"`{first.name}` and {len(names) - len(fits) - 1} more names of `{checkpoint.path}` are not the model's"
    claim += f", whose names are like `{own}`: nothing of them is loaded"
    facts: dict[str, Fact] = {"checkpoint": checkpoint.path, "key": first.name, "own_key": own}
    facts |= {"load_place": unit.place(call.lineno), "unloaded": len(names) - len(fits), "of_keys": len(names)}
    if prefix and len(stripped) > MATCH * len(names):
        facts["prefix"] = prefix[0]
    quiet = cite_code(unit, call.lineno, "names that do not fit are passed over")
    places = [quiet, cite_tensor(checkpoint, first, claim)]
    return Signal(id="checkpoint-keys-not-loaded", claim=claim, citations=places, facts=facts)
