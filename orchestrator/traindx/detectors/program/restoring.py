"""What the code restores when a run is resumed."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from traindx.contract import Fact, Signal
from traindx.detectors.citing import cite_line
from traindx.readers.code.codeunit import CodeUnit
from traindx.readers.code.syntax import name_of

SIGNALS = {"optimizer-not-restored": "on resume, the code restores the weights and nothing else"}


def detect(code: Sequence[CodeUnit]) -> list[Signal]:
    """Code that loads a state into the model and into nothing else."""
    for unit in code:
        loads = [node for node in ast.walk(unit.tree) if isinstance(node, ast.Call) and _is_load(node)]
        owners = [name_of(node.func.value).lower() for node in loads if isinstance(node.func, ast.Attribute)]
        others = ("opt", "sched", "scaler", "trainer", "engine")
        if loads and not any(word in owner for owner in owners for word in others):
            return [_weights_only(unit, loads[0])]
    return []


def _weights_only(unit: CodeUnit, node: ast.Call) -> Signal:
    line, quote = unit.file_line(node.lineno), unit.quote(node.lineno)
    claim = f"`{quote}` restores the weights; optimizer and schedule start over"
    place = cite_line(unit.path, line, claim, quote)
    facts: dict[str, Fact] = {"restore_place": f"{unit.path}:{line}"}
    return Signal(id="optimizer-not-restored", claim=claim, citations=[place], facts=facts)


def _is_load(node: ast.Call) -> bool:
    return name_of(node.func) == "load_state_dict"
