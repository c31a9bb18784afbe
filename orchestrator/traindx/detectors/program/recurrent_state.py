"""How a training loop handles recurrent state, as the followed program shows it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from traindx.contract import Fact, Signal, Value
from traindx.detectors.citing import cite_line
from traindx.program.analysis import Analysis
from traindx.program.handing import is_attached
from traindx.program.states import reused
from traindx.program.trace import Loop
from traindx.readers.code.codeunit import CodeUnit

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


def detect(code: Sequence[CodeUnit], analyses: Sequence[Analysis]) -> tuple[list[CarriedState], list[Signal]]:
    """Every state that a training loop carries, and what that says."""
    paths = {unit.path for unit in code}
    states: dict[tuple[str, str, int], CarriedState] = {}
    signals: list[Signal] = []
    seen = _followed(analyses)
    for analysis in analyses:
        loops: list[Loop] = []
        for row, loop in _carried(analysis, seen):
            if row.path in paths and (row.path, row.name, row.line) not in states:
                states[row.path, row.name, row.line] = row
                signals.append(_state_signal(row))
                loops.append(loop)
        signals += _retained(analysis, loops)
    return list(states.values()), signals


def _carried(analysis: Analysis, seen: Mapping[tuple[str, int], bool]) -> Iterator[tuple[CarriedState, Loop]]:
    """The states that the innermost loop with a backward hands on, as they come to its later iterations; those of the
    modules that it calls where it hands on none by itself.
    """
    own: list[tuple[CarriedState, Loop]] = []
    deeper: list[tuple[CarriedState, Loop]] = []
    learning = {id(event.loop.node) for event in analysis.trace.of("backward") if event.loop is not None}
    for event in analysis.trace.of("handed-on"):
        depth = next((at for at, turn in reversed([*enumerate(event.turns)]) if id(turn.loop.node) in learning), None)
        if depth is None or event.turns[depth].number == 1:
            continue
        loop, name = event.turns[depth].loop, str(event.facts["name"])
        attached = is_attached(event, analysis.machine, depth)
        inside = event.function == loop.function
        if not inside and not attached:
            continue  # a module that begins each of its calls with a new state
        unit = event.place.unit
        line = unit.file_line(event.place.line)
        detached = seen.get((unit.path, line), not attached)
        row = CarriedState(name=name, path=unit.path, line=line, detached=detached)
        (own if inside else deeper).append((row, loop))
    named = {id(loop.node) for _, loop in own}
    yield from own
    yield from (row for row in deeper if id(row[1].node) not in named)


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


def _state_signal(row: CarriedState) -> Signal:
    claim = (
        f"`{row.name}` is carried into the next iteration and detached in between"
        if row.detached
        else f"`{row.name}` goes into the next iteration with the graph of this one: nothing in the loop detaches it"
    )
    facts: dict[str, Fact] = {"state": row.name, "state_place": f"{row.path}:{row.line}"}
    return Signal(
        id="state-detached" if row.detached else "state-carried-undetached",
        claim=claim,
        citations=[cite_line(row.path, row.line, claim)],
        facts=facts,
    )


def _retained(analysis: Analysis, loops: Sequence[Loop]) -> Iterator[Signal]:
    """A graph that is kept in a loop that carries a state, once for each loop."""
    for node in {id(loop.node): loop.node for loop in loops}.values():
        keeping = [event for event in analysis.trace.of("backward") if event.loop and event.loop.node is node]
        event = next((event for event in keeping if event.facts.get("keeps")), None)
        if event is not None:
            unit, line = event.place.unit, event.place.unit.file_line(event.place.line)
            claim = "`retain_graph=True` keeps every earlier graph alive instead of detaching the state"
            place = cite_line(unit.path, line, claim)
            facts: dict[str, Fact] = {"backward_place": f"{unit.path}:{line}"}
            yield Signal(id="retain-graph-used", claim=claim, citations=[place], facts=facts)
