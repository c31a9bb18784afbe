"""How a training loop handles recurrent state, read from its syntax tree."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from traindx.contract import Fact, Signal, Value
from traindx.detectors.citing import cite_line
from traindx.readers.code.codebase import CodeUnit

SIGNALS = {
    "state-carried-undetached": "a recurrent state flows into the next iteration with its graph attached",
    "state-detached": "the carried state is detached in the loop",
    "retain-graph-used": "backward is called with retain_graph=True in a loop that carries state",
}


class CarriedState(Value):
    """A state variable that one iteration hands to the next."""

    name: str
    path: str
    line: int
    detached: bool


def detect(code: Sequence[CodeUnit]) -> tuple[list[CarriedState], list[Signal]]:
    """Every state that a training loop carries, and what that says."""
    states: list[CarriedState] = []
    signals: list[Signal] = []
    for unit in code:
        for loop in _training_loops(unit.tree):
            carried = _carried(loop)
            for name, line in carried.items():
                detached = _is_cut(loop, name)
                place = unit.file_line(line)
                states.append(CarriedState(name=name, path=unit.path, line=place, detached=detached))
                signals.append(_state_signal(unit.path, name, place, detached))
            if carried:
                signals.extend(_retained(unit, loop))
    return states, signals


def _training_loops(tree: ast.AST) -> list[ast.For | ast.While]:
    """Innermost loops that hold both a forward call with state and a backward."""
    loops = [node for node in ast.walk(tree) if isinstance(node, ast.For | ast.While) and _calls(node, "backward")]
    return [loop for loop in loops if not any(other is not loop and other in set(ast.walk(loop)) for other in loops)]


def _calls(node: ast.AST, method: str) -> list[ast.Call]:
    return [
        call
        for call in ast.walk(node)
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and call.func.attr == method
    ]


def _carried(loop: ast.For | ast.While) -> dict[str, int]:
    """Names that a call both takes and returns, as in `out, h = rnn(x, h)`."""
    found: dict[str, int] = {}
    for node in ast.walk(loop):
        if not isinstance(node, ast.Assign) or not isinstance(node.value, ast.Call):
            continue
        targets = {name for target in node.targets for name in _names(target)} if _unpacks(node) else set()
        given = {name for argument in node.value.args for name in _names(argument)}
        for name in sorted(targets & given):
            found.setdefault(name, node.lineno)
    return found


def _unpacks(node: ast.Assign) -> bool:
    return any(isinstance(target, ast.Tuple) for target in node.targets)


def _names(node: ast.AST) -> set[str]:
    return {ast.unparse(part) for part in ast.walk(node) if isinstance(part, ast.Name | ast.Attribute)}


def _is_cut(loop: ast.For | ast.While, name: str) -> bool:
    """Whether the loop assigns the name anew from something that leaves the graph behind."""
    for node in ast.walk(loop):
        if not isinstance(node, ast.Assign) or name not in {n for target in node.targets for n in _names(target)}:
            continue
        if _unpacks(node) and name in {
            n for part in ast.walk(node.value) if isinstance(part, ast.Call) for n in _names(part)
        }:
            if any(word in ast.unparse(node.value) for word in (".detach(", ".data")):
                return True
            continue
        # Anything else that re-binds the name (detach, a repackaging function, zeros, None) ends its graph.
        return True
    in_place = [call for call in _calls(loop, "detach_") if name in _names(call.func)]
    return bool(in_place)


def _state_signal(path: str, name: str, line: int, detached: bool) -> Signal:
    claim = (
        f"`{name}` is carried into the next iteration and detached in between"
        if detached
        else f"`{name}` goes into the next iteration with the graph of this one: nothing in the loop detaches it"
    )
    place = cite_line(path, line, claim)
    facts: dict[str, Fact] = {"state": name, "state_place": f"{path}:{line}"}
    return Signal(
        id="state-detached" if detached else "state-carried-undetached",
        claim=claim,
        citations=[place],
        facts=facts,
    )


def _retained(unit: CodeUnit, loop: ast.For | ast.While) -> list[Signal]:
    for call in _calls(loop, "backward"):
        if any(key.arg == "retain_graph" and _is_true(key.value) for key in call.keywords):
            line = unit.file_line(call.lineno)
            claim = "`retain_graph=True` keeps every earlier graph alive instead of detaching the state"
            place = cite_line(unit.path, line, claim)
            facts: dict[str, Fact] = {"backward_place": f"{unit.path}:{line}"}
            return [Signal(id="retain-graph-used", claim=claim, citations=[place], facts=facts)]
    return []


def _is_true(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is True
