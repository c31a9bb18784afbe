"""A small picture of each loop that carries a recurrent state: what happens to the state in one turn of it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from traindx.program.analysis import Analysis
from traindx.program.library.recurrent import is_fresh
from traindx.program.queries import state_parts
from traindx.program.states import carrying_loop
from traindx.program.trace import Event, Loop
from traindx.program.values import Place, Tensor, Value

_SHOWN = {"backward": "backward", "step": "optimizer step", "zero": "clears gradients"}
_CUTS = ("detach", ".data", "no_grad")
_WIDEST = 38


def pictures(analysis: Analysis) -> list[str]:
    """One picture for each recurrent call that stands in a loop."""
    calls: dict[int, list[Event]] = {}
    for event in analysis.trace.of("recurrent"):
        if event.turns:
            calls.setdefault(id(event.place.node), []).append(event)
    return [_drawn(analysis, events) for events in calls.values()]


def _drawn(analysis: Analysis, calls: Sequence[Event]) -> str:
    last = max(calls, key=lambda event: (len(event.turns), event.at))
    told = {id(turn.loop): _between(analysis, calls, turn.loop) for turn in last.turns}
    rows = list(_rows(analysis, last, told, 0))
    width = min(_WIDEST, max(len(code) for code, _, _ in rows))
    places = max(len(place) for _, place, _ in rows)
    return "\n".join(f"{_cut(code, width):<{width}}  {place:<{places}}  {what}".rstrip() for code, place, what in rows)


def _between(analysis: Analysis, calls: Sequence[Event], loop: Loop) -> str:
    """What becomes of the state from one turn of a loop to the next."""
    inside = [event for event in calls if any(turn.loop is loop for turn in event.turns)]
    handed = [event for event in inside if carrying_loop(analysis, event) is loop]
    if not handed:
        anew = any(is_fresh(event.facts.get("state")) for event in inside)
        return "state: new each turn" if anew else ""
    attached = any(part.graph for event in handed for part in state_parts(event))
    return "state kept, with its graph" if attached else "state kept, its graph cut"


def _rows(analysis: Analysis, call: Event, told: dict[int, str], depth: int) -> Iterator[tuple[str, str, str]]:
    """The loops around a call, each with what happens in it, as code, place and meaning."""
    loop = call.turns[depth].loop
    yield _row(loop.place, depth, told[id(loop)])
    path = call.path[: depth + 1]
    events = [event for event in analysis.trace.events if event.path == path]
    deeper = depth + 1 < len(call.turns)
    begins = min((event.at for event in analysis.trace.events if event.path == call.path), default=call.at)
    shown: set[int] = set()
    for event in sorted(events, key=lambda event: event.at):
        if deeper and event.at > begins:
            deeper = False
            yield from _rows(analysis, call, told, depth + 1)
        what = _what(event, call)
        if what and id(event.place.node) not in shown:
            shown.add(id(event.place.node))
            yield _row(event.place, depth + 1, what)
    if deeper:
        yield from _rows(analysis, call, told, depth + 1)


def _what(event: Event, call: Event) -> str:
    if event.kind == "recurrent" and event.place.node is call.place.node:
        return "takes and gives it"
    if event.kind == "cut" and any(word in event.facts["by"] for word in _CUTS) and _is_state_of(event.subject, call):
        return "cut here"
    return _SHOWN.get(event.kind, "")


def _is_state_of(value: Value, call: Event) -> bool:
    """Whether a value is a state that the layer of a call has given, in whichever turn."""
    number = getattr(call.subject, "number", None)
    return isinstance(value, Tensor) and any(layer == number for layer, _ in value.states)


def _row(place: Place, depth: int, what: str) -> tuple[str, str, str]:
    return f"{'  ' * depth}{place.quote.strip()}", place.text, what


def _cut(code: str, width: int) -> str:
    return code if len(code) <= width else code[: width - 1] + "…"
