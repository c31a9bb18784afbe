"""Which code belongs together: programs that share no file are followed, reviewed and changed apart."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from traindx.program.library.python import is_overlay
from traindx.readers.code.codeunit import CodeUnit

Program = list[CodeUnit]


def programs(units: Sequence[CodeUnit]) -> list[Program]:
    """The programs among the units: each entry point with what it imports; what none of them reaches, by folder."""
    known = {unit.path: unit for unit in units if "test" not in unit.roles}
    imported = {path for unit in known.values() for path in unit.imports}
    entries = [unit for unit in known.values() if "entry-point" in unit.roles or _starts(unit, imported)]
    found, reached = [], set[str]()
    for unit in sorted(entries, key=lambda one: ("training-loop" not in one.roles, one.path.count("/"), one.path)):
        closure = _closure(unit, known)
        if unit.path in reached and unit.path in imported:
            continue
        reached |= {one.path for one in closure}
        found.append(closure)
    rest: dict[str, Program] = {}
    for path, unit in known.items():
        if path not in reached:
            rest.setdefault(path.rpartition("/")[0], []).append(unit)
    found += rest.values()
    return found or ([list(units)] if units else [])


def families(every: Sequence[Program]) -> list[list[Program]]:
    """Programs, those together that share a file; in the order of their first programs."""
    found: dict[int, list[Program]] = {}
    family: dict[str, int] = {}
    for number, program in enumerate(every):
        shared = {family[unit.path] for unit in program if unit.path in family}
        first = min(shared, default=number)
        joined = [one for known in sorted(shared) for one in found.pop(known)]
        found[first] = [*joined, program]
        family |= {unit.path: first for member in found[first] for unit in member}
    return [found[number] for number in sorted(found)]


def shared_out(units: Sequence[CodeUnit], shares: int) -> list[list[Program]]:
    """The programs of the units in shares of about the same size, none of which has a file that another has."""
    every = programs(units)
    if shares == 1:
        return [every]
    made: list[list[Program]] = [[] for _ in range(shares)]
    sizes = [0] * shares

    def size(family: list[Program]) -> int:
        return sum(len(unit.source) for program in family for unit in program)

    for family in sorted(families(every), key=size, reverse=True):
        least = sizes.index(min(sizes))
        made[least] += family
        sizes[least] += size(family)
    place = {id(program[0]): at for at, share in enumerate(made) for program in share}
    return [[program for program in every if place[id(program[0])] == at] for at in range(shares)]


def relatives(units: Sequence[CodeUnit]) -> dict[str, list[CodeUnit]]:
    """For the path of each unit those that belong together with it, itself among them."""
    found = {unit.path: [unit] for unit in units}
    order = {unit.path: at for at, unit in enumerate(units)}
    for family in families(programs(units)):
        members = {unit.path: unit for program in family for unit in program}
        together = sorted(members.values(), key=lambda unit: order[unit.path])
        found |= dict.fromkeys(members, together)
    return found


def _starts(unit: CodeUnit, imported: set[str]) -> bool:
    return unit.reached and unit.path not in imported


def _closure(unit: CodeUnit, known: Mapping[str, CodeUnit]) -> Program:
    found = {unit.path: unit}
    waiting = [unit]
    while waiting:
        for path in waiting.pop().imports:
            if path in known and path not in found:
                found[path] = known[path]
                waiting.append(known[path])
    executing = [one for one in found.values() if "exec" in one.names]
    for one in executing:
        found |= {path: file for path, file in known.items() if is_overlay(file.tree.body, one.names)}
    return list(found.values())
