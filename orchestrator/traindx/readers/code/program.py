"""Which of the code of a repository is the program that ran: its entry point and what that imports."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from traindx.readers.code.codeunit import CodeUnit
from traindx.readers.model import Setting

FEW = 40
"""code files that are taken as one program, whatever imports what"""
_TARGET = re.compile(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*){1,12}")
"""`src.models.net.Net`, as configurations name what they build"""


def program_of(units: Sequence[CodeUnit], started: Iterable[str], settings: Iterable[Setting]) -> list[CodeUnit]:
    """The units that belong to the run; all of them where nothing tells which.

    `started` are files known to have run; a configuration may name more by their dotted paths.
    """
    if len(units) <= FEW:
        return list(units)
    known = {unit.path: unit for unit in units}
    trains = [unit for unit in units if {"entry-point", "training-loop"} <= unit.roles]
    nearest = min((unit.path.count("/") for unit in trains), default=0)
    entries = {path for path in started if path in known}
    entries |= {unit.path for unit in trains if unit.path.count("/") == nearest} if not entries else set()
    if not entries:
        return list(units)
    found = _imported({*entries, *_targets(known, settings)}, known)
    program = [unit for unit in units if unit.path in found]
    return program if any("training-loop" in unit.roles for unit in program) else list(units)


def _imported(entries: set[str], known: dict[str, CodeUnit]) -> set[str]:
    found = set(entries)
    waiting = list(entries)
    while waiting:
        for inner in known[waiting.pop()].imports:
            if inner in known and inner not in found:
                found.add(inner)
                waiting.append(inner)
    return found


def _targets(known: dict[str, CodeUnit], settings: Iterable[Setting]) -> set[str]:
    """The files that dotted paths in the configuration lead to."""
    by_module = {path.removesuffix(".py").removesuffix("/__init__").replace("/", "."): path for path in known}
    named = {row.value for row in settings if isinstance(row.value, str) and _TARGET.fullmatch(row.value)}
    modules = {module for name in named for module in (name, name.rpartition(".")[0])}
    return {
        path
        for module, path in by_module.items()
        if any(module == wanted or module.endswith(f".{wanted}") for wanted in modules if wanted)
    }
