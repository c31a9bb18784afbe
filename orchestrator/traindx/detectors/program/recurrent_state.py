"""How a training loop handles recurrent state, read from its syntax tree."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Sequence

from traindx.contract import Fact, Signal, Value
from traindx.detectors.citing import cite_line
from traindx.program.analysis import Analysis
from traindx.program.states import reused
from traindx.readers.code.codeunit import CodeUnit

SIGNALS = {
    "state-carried-undetached": "a recurrent state flows into the next iteration with its graph attached",
    "state-detached": "the carried state is detached in the loop",
    "retain-graph-used": "backward is called with retain_graph=True in a loop that carries state",
}


_STATE_ARGUMENTS = frozenset({"hx", "h", "h0", "hidden", "state", "states", "carry", "memory", "hidden_state"})
_LIBRARIES = frozenset({"torch", "F", "np", "numpy", "jnp", "math", "operator"})


class CarriedState(Value):
    """A state variable that one iteration hands to the next."""

    name: str
    path: str
    line: int
    detached: bool


def detect(code: Sequence[CodeUnit], followed: Sequence[Analysis] = ()) -> tuple[list[CarriedState], list[Signal]]:
    """Every state that a training loop carries, and what that says; where the program was followed, that decides."""
    seen = _followed(followed)
    states: list[CarriedState] = []
    signals: list[Signal] = []
    for unit in code:
        for loop in training_loops(unit.tree):
            carried = carried_in(loop)
            for name, line in carried.items():
                place = unit.file_line(line)
                detached = seen.get((unit.path, place), _is_cut(loop, name))
                states.append(CarriedState(name=name, path=unit.path, line=place, detached=detached))
                signals.append(_state_signal(unit.path, name, place, detached))
            if carried:
                signals.extend(_retained(unit, loop))
    return states, signals


def _followed(analyses: Sequence[Analysis]) -> dict[tuple[str, int], bool]:
    """Whether the state that a line hands on is cut from its graph, for lines at which a recurrent call was seen."""
    found: dict[tuple[str, int], bool] = {}
    for analysis in analyses:
        attached = {id(row.call.place.node) for row in reused(analysis)}
        for event in analysis.trace.of("recurrent"):
            for place in (event.place, *event.calls):
                known = (place.unit.path, place.unit.file_line(place.line))
                found[known] = found.get(known, True) and id(event.place.node) not in attached
    return found


def training_loops(tree: ast.AST) -> list[ast.For | ast.While]:
    """Innermost loops that hold both a forward call with state and a backward."""
    loops = [node for node in ast.walk(tree) if isinstance(node, ast.For | ast.While) and _calls(node, "backward")]
    return [loop for loop in loops if not any(other is not loop and other in set(ast.walk(loop)) for other in loops)]


def _calls(node: ast.AST, method: str) -> list[ast.Call]:
    return [
        call
        for call in ast.walk(node)
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and call.func.attr == method
    ]


def carried_in(loop: ast.For | ast.While) -> dict[str, int]:
    """Names that a call both takes and returns, as in `out, h = rnn(x, h)` and `h = cell(x, h)`."""
    found: dict[str, int] = {}
    for node in ast.walk(loop):
        if isinstance(node, ast.Assign):
            for name in sorted(_stepped(node)):
                found.setdefault(name, node.lineno)
    return found


def _stepped(node: ast.Assign) -> set[str]:
    """The states that an assignment takes one step on.

    A call that gives back one thing takes its state after the input, or by name: `x = block(x, mask)` and
    `total = max(loss, total)` are none.
    """
    call = node.value
    if not isinstance(call, ast.Call):
        return set()
    targets = {name for target in node.targets for name in _names(target)}
    if _unpacks(node):
        return targets & {name for argument in call.args for name in _names(argument)}
    later = [_undetached(argument) for argument in call.args[1:]]
    named = [_undetached(key.value) for key in call.keywords if key.arg in _STATE_ARGUMENTS]
    return targets & {*later, *named} if _is_a_cell(call) else set()


def _undetached(argument: ast.expr) -> str:
    """`h` of `h` and of `h.detach()`."""
    return ast.unparse(argument).removesuffix(".detach()").removesuffix(".data")


def _is_a_cell(call: ast.Call) -> bool:
    """Whether what is called may be a recurrent cell: no builtin, and no function of torch, numpy or math."""
    called = ast.unparse(call.func)
    return called not in dir(builtins) and called.partition(".")[0] not in _LIBRARIES


def _unpacks(node: ast.Assign) -> bool:
    return any(isinstance(target, ast.Tuple) for target in node.targets)


def _names(node: ast.AST) -> set[str]:
    return {ast.unparse(part) for part in ast.walk(node) if isinstance(part, ast.Name | ast.Attribute)}


def _is_cut(loop: ast.For | ast.While, name: str) -> bool:
    """Whether the loop assigns the name anew from something that leaves the graph behind."""
    for node in ast.walk(loop):
        if not isinstance(node, ast.Assign) or name not in {n for target in node.targets for n in _names(target)}:
            continue
        if name in _stepped(node) or (_unpacks(node) and name in _given(node.value)):
            if any(word in ast.unparse(node.value) for word in (".detach(", ".data")):
                return True
            continue
        # Anything else that re-binds the name (detach, a repackaging function, zeros, None) ends its graph.
        return True
    in_place = [call for call in _calls(loop, "detach_") if name in _names(call.func)]
    return bool(in_place)


def _given(value: ast.expr) -> set[str]:
    return {name for part in ast.walk(value) if isinstance(part, ast.Call) for name in _names(part)}


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
