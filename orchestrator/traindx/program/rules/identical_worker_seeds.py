"""Loader workers produce the same random numbers.

## What it finds
A data set that draws from a generator made in its constructor, read by several workers; a `worker_init_fn` that gives
every worker the same seed.

## Why it matters
Each worker has a copy of the generator in the same state: augmentations repeat across workers and epochs, and the data
is less varied than it seems.

## Silent
The global generators of torch, numpy and random, which the loader seeds per worker; generators that `worker_init_fn`
replaces; loaders without workers.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from traindx.program.analysis import Analysis
from traindx.program.finding import Finding
from traindx.program.values import Class, Function, Instance, Items, Made, Place, Plain, Value
from traindx.readers.code.syntax import all_nodes

ID = "identical-worker-seeds"


def check(analysis: Analysis) -> Iterator[Finding]:
    """Look at every loader with workers."""
    for event in analysis.trace.of("loader"):
        loader = event.subject
        if not isinstance(loader, Made) or loader.place is None or not _has_workers(loader):
            continue
        chosen = loader.keywords.get("worker_init_fn")
        if isinstance(chosen, Function):
            seeding = _same_seed(chosen)
            if seeding is not None:
                yield Finding(
                    ID,
                    _place(chosen, seeding),
                    "every worker gets the same seed",
                    facts={"seed_place": _place(chosen, seeding).text},
                    also=((loader.place, "the loader with several workers"),),
                )
            continue
        drawn = _own_generator(loader.argument(0, "dataset")) if chosen is None else None
        if drawn is not None and drawn.place is not None:
            yield Finding(
                ID,
                drawn.place,
                "each worker gets a copy of this generator in the same state: they draw the same numbers",
                facts={"seed_place": drawn.place.text},
                also=((loader.place, "the loader with several workers"),),
            )


def _place(function: Function, node: ast.AST) -> Place:
    return Place(function.unit, node)


def _has_workers(loader: Made) -> bool:
    given = loader.argument(5, "num_workers")
    return isinstance(given, Plain) and isinstance(given.value, int) and given.value > 1


def _same_seed(function: Function) -> ast.Call | None:
    """A call that seeds with something that does not depend on the worker."""
    names = {part.arg for part in function.node.args.args}
    for node in ast.walk(function.node):
        if isinstance(node, ast.Call) and getattr(node.func, "attr", "") in {"seed", "manual_seed"} and node.args:
            used = {part.id for part in ast.walk(node.args[0]) if isinstance(part, ast.Name)}
            if isinstance(node.args[0], ast.Constant) or (
                used and not used & names and all(name.isupper() for name in used)
            ):
                return node
    return None


def _of_the_module(reading: Function) -> Made | None:
    """A generator with a seed that the module holds and a function draws from: NumPy's are copied with the process."""
    own = {node.id for node in ast.walk(reading.node) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    for node in ast.walk(reading.node):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id not in own:
            value = reading.scope.find(node.value.id)
            if isinstance(value, Made) and value.kind == "generator" and value.args and value.place is not None:
                return value
    return None


def _fields_read(cls: Class, reading: Function) -> set[str]:
    """The fields that a method and the methods of its class that it calls go through."""
    used: set[str] = set()
    waiting, done = [reading], {id(reading.node)}
    while waiting:
        names = {node.attr for node in all_nodes(waiting.pop().node) if isinstance(node, ast.Attribute)}
        used |= names
        for name in names:
            found = cls.find(name)
            if isinstance(found, Function) and id(found.node) not in done:
                done.add(id(found.node))
                waiting.append(found)
    return used


def _own_generator(data: Value | None, depth: int = 3) -> Made | None:
    """A generator that a data set, or something that it keeps, draws samples with."""
    if not isinstance(data, Instance) or data.cls is None:
        return None
    reading = data.cls.find("__getitem__") or data.cls.find("__call__") or data.cls.find("forward")
    if not isinstance(reading, Function):
        return None
    shared = _of_the_module(reading)
    if shared is not None:
        return shared
    used = _fields_read(data.cls, reading)
    for name, value in data.fields.items():
        if name not in used:
            continue
        if isinstance(value, Made) and value.kind == "generator":
            return value
        parts = value.items if isinstance(value, Items) else [value]
        for part in parts if depth else ():
            found = _own_generator(part, depth - 1)
            if found is not None:
                return found
    return None
