"""How a training loop handles recurrent state, read from its syntax tree."""

import ast

from pydantic import Field

from traindx.contract import Citation, Fact, Signal, Value
from traindx.readers import CodeUnit, Run
from traindx.runtime import NoData, ToolInput, ToolOutput, tool


class Input(ToolInput):
    """Which file to look at."""

    path: str = Field(default="", description="a Python file of the run; all of them when empty")


class CarriedState(Value):
    """A state variable that one iteration hands to the next."""

    name: str
    path: str
    line: int
    detached: bool


class StateReport(ToolOutput):
    """Every state that a training loop carries, and whether it is cut from its graph."""

    states: list[CarriedState]


@tool(
    needs=["code"],
    emits={
        "state-carried-undetached": "a recurrent state flows into the next iteration with its graph attached",
        "state-detached": "the carried state is detached in the loop",
        "retain-graph-used": "backward is called with retain_graph=True in a loop that carries state",
    },
)
def check_recurrent_state(given: Input, run: Run) -> StateReport:
    """Read the training loops and say which recurrent states are carried from one iteration to the next, and whether
    each is detached between backward and the next forward.
    """
    units = [unit for unit in run.code if not given.path or unit.path == given.path]
    states: list[CarriedState] = []
    signals: list[Signal] = []
    for unit in units:
        for loop in _training_loops(unit.tree):
            carried = _carried(loop)
            for name, line in carried.items():
                detached = _is_cut(loop, name)
                place = unit.file_line(line)
                states.append(CarriedState(name=name, path=unit.path, line=place, detached=detached))
                signals.append(_state_signal(run, unit.path, name, place, detached))
            if carried:
                signals.extend(_retained(run, unit, loop))
    if not states:
        looked_in = ", ".join(unit.path for unit in units) or "no Python file"
        raise NoData(f"no training loop that carries a recurrent state; looked in: {looked_in}")
    return StateReport(states=states, signals=signals)


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


def _state_signal(run: Run, path: str, name: str, line: int, detached: bool) -> Signal:
    text = run.lines(path, line, line)
    quote = text[0].strip() if text else ""
    claim = (
        f"`{name}` is carried into the next iteration and detached in between"
        if detached
        else f"`{name}` goes into the next iteration with the graph of this one: nothing in the loop detaches it"
    )
    place = Citation(claim=claim, source=path, locator=f"line {line}", quote=quote)
    facts = {"state": name, "state_place": f"{path}:{line}"}
    return Signal(
        id="state-detached" if detached else "state-carried-undetached",
        claim=claim,
        citations=[place],
        facts=facts,
    )


def _retained(run: Run, unit: CodeUnit, loop: ast.For | ast.While) -> list[Signal]:
    for call in _calls(loop, "backward"):
        if any(key.arg == "retain_graph" and _is_true(key.value) for key in call.keywords):
            line = unit.file_line(call.lineno)
            text = run.lines(unit.path, line, line)
            claim = "`retain_graph=True` keeps every earlier graph alive instead of cutting the state"
            quote = text[0].strip() if text else ""
            place = Citation(claim=claim, source=unit.path, locator=f"line {line}", quote=quote)
            facts: dict[str, Fact] = {"backward_place": f"{unit.path}:{line}"}
            return [Signal(id="retain-graph-used", claim=claim, citations=[place], facts=facts)]
    return []


def _is_true(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is True
