"""Functions that nothing calls, followed for what they compute: arguments are guessed, what they change is undone."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Sequence
from functools import partial

from traindx.program.analysis import Analysis, call_guessed, made_object, tried
from traindx.program.machine import Machine
from traindx.program.trace import Event, Trace
from traindx.program.values import Class, Function, Instance
from traindx.readers.code.syntax import all_nodes

EACH = 2_000
"""statements for one function"""
TOGETHER = 60_000
"""statements for all of a program"""


def events_beside(analyses: Sequence[Analysis], tells: Callable[[ast.AST], bool], *kinds: str) -> list[Event]:
    """Events of some kinds in functions that none of the programs calls, and that hold a node which tells of one."""
    called = set().union(*(analysis.machine.called for analysis in analyses))
    found: list[Event] = []
    for analysis in analyses:
        machine = analysis.machine
        functions = [row for row in machine.defined if id(row.node) not in called and _holds(row, kinds, tells)]
        found += _followed(machine, functions, called).of(*kinds)
    return found


def _holds(function: Function, kinds: tuple[str, ...], tells: Callable[[ast.AST], bool]) -> bool:
    if not function.unit.traits:
        return False
    return function.unit.once(("holds", kinds, id(function.node)), partial(_any, function.node, tells))


def _any(node: ast.AST, tells: Callable[[ast.AST], bool]) -> bool:
    return any(tells(part) for part in all_nodes(node))


def _followed(machine: Machine, functions: Iterable[Function], done: set[int]) -> Trace:
    """What the functions do, written into a trace of its own; `done` grows by what was followed."""
    trace, called, mark, spare = machine.trace, set(machine.called), machine.journal.mark(), machine.spare
    beside = machine.trace = Trace(layers=dict(trace.layers))
    machine.spare = TOGETHER
    owners: dict[int, Instance | None] = {}
    try:
        for function in functions:
            if id(function.node) in done or id(function.node) in machine.called:
                continue
            tried(machine, EACH, partial(_one, machine, function, owners))
    finally:
        done |= machine.called
        machine.journal.rewind(mark)
        machine.trace, machine.called, machine.spare = trace, called, spare
    return beside


def _one(machine: Machine, function: Function, owners: dict[int, Instance | None]) -> None:
    owner = None
    if function.owner is not None and "staticmethod" not in function.marks:
        known = id(function.owner)
        if known not in owners:
            owners[known] = None
            owners[known] = _made(machine, function.owner)
        owner = owners[known]
    call_guessed(machine, function, owner)


def _made(machine: Machine, cls: Class) -> Instance | None:
    found: list[Instance] = []
    tried(machine, EACH, lambda: found.extend(made_object(machine, cls)))
    return found[0] if found else None
