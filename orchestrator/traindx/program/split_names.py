"""Functions that are asked for a part of the data by name, `make_loader(cfg, "val")`, and choose it without that."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from traindx.program.values import Place
from traindx.readers.code.codeunit import CodeUnit
from traindx.readers.code.syntax import all_nodes, name_of

_TRAIN = frozenset(["train", "training", "trn"])
_HELD = frozenset(["val", "valid", "validation", "test", "dev", "eval"])
_LOADERS = frozenset(["DataLoader", "TensorDataset", "Subset"])


class Unread(NamedTuple):
    """A part of the data that is asked for, and is the one that is trained on."""

    chosen: Place
    """where the function chooses its data"""
    asked: Place
    """the call that asks for the held-out part"""
    parameter: str
    function: str


def unread_splits(units: Sequence[CodeUnit]) -> Iterator[Unread]:
    """Functions that make a loader for every part from the same data."""
    for unit in units:
        for function in unit.nodes.of(ast.FunctionDef) if not unit.names.isdisjoint(_LOADERS) else ():
            for name, asked in _asked_by_name(units, function):
                chosen = _chosen_without(function, name)
                if chosen is not None and not _is_set(units, name):
                    yield Unread(Place(unit, chosen), asked, name, function.name)


def _asked_by_name(units: Sequence[CodeUnit], function: ast.FunctionDef) -> Iterator[tuple[str, Place]]:
    """The parameters that alone tell a call for training data from one for another part."""
    names = [part.arg for part in function.args.args]
    calls = [
        (unit, node)
        for unit in units
        for node in unit.nodes.of(ast.Call)
        if name_of(node.func) == function.name and not any(isinstance(part, ast.Starred) for part in node.args)
    ]
    for at, name in enumerate(names):
        told: dict[tuple[str, ...], dict[str, Place]] = {}
        for unit, node in calls:
            given = (
                node.args[at] if at < len(node.args) else next((k.value for k in node.keywords if k.arg == name), None)
            )
            if isinstance(given, ast.Constant) and isinstance(given.value, str):
                others = [ast.unparse(part) for part in node.args if part is not given]
                others += [f"{key.arg}={ast.unparse(key.value)}" for key in node.keywords if key.value is not given]
                told.setdefault(tuple(others), {})[given.value.lower()] = Place(unit, node)
        for rows in told.values():
            held = next((place for word, place in rows.items() if word in _HELD), None)
            if held is not None and not rows.keys().isdisjoint(_TRAIN):
                yield name, held


def _chosen_without(function: ast.FunctionDef, parameter: str) -> ast.stmt | None:
    """The statement that chooses the data of the loader that a function returns, if the parameter does not reach it."""
    returned = next((node.value for node in all_nodes(function) if isinstance(node, ast.Return)), None)
    if not isinstance(returned, ast.Call) or name_of(returned.func) != "DataLoader" or not returned.args:
        return None
    if any(key.arg in {None, "sampler", "batch_sampler"} for key in returned.keywords):
        return None
    touched = _touched(function, parameter)
    used = _names(returned.args[0])
    if parameter not in _names(function) or used & touched:
        return None
    made = [row for row in function.body if isinstance(row, ast.Assign) and used & _names_of_targets(row)]
    if not made or any(_names(row) & touched for row in made):
        return None
    return made[-1]


def _is_set(units: Sequence[CodeUnit], key: str) -> bool:
    """Whether an entry of this name is set somewhere: `cfg["split"] = "val"` before the call."""
    targets = (part for unit in units for row in unit.nodes.of(ast.Assign) for part in row.targets)
    slices = (part.slice for part in targets if isinstance(part, ast.Subscript))
    return any(isinstance(part, ast.Constant) and part.value == key for part in slices)


def _touched(function: ast.FunctionDef, parameter: str) -> set[str]:
    """The parameter, and every name that it may have reached."""
    touched = {parameter}
    for _ in range(3):
        for node in all_nodes(function):
            if isinstance(node, ast.Assign | ast.AugAssign | ast.AnnAssign) and node.value is not None:
                if _names(node.value) & touched:
                    touched |= _names_of_targets(node)
            elif isinstance(node, ast.If | ast.While | ast.For):
                head = node.iter if isinstance(node, ast.For) else node.test
                if _names(head) & touched:
                    touched |= {name for row in all_nodes(node) for name in _names_of_targets(row)}
            elif isinstance(node, ast.Expr) and _names(node) & touched:
                touched |= _names(node)
    return touched


def _names_of_targets(node: ast.AST) -> set[str]:
    """The names that a statement binds; of a field or an entry, its owner."""
    targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
    return {
        part.id for target in targets if target is not None for part in all_nodes(target) if isinstance(part, ast.Name)
    }


def _names(node: ast.AST) -> set[str]:
    return {part.id for part in all_nodes(node) if isinstance(part, ast.Name)}
