"""A generator's loss that is computed by a critic from a detached sample: it trains nothing of the generator."""

from __future__ import annotations

from collections.abc import Iterator

from traindx.program.analysis import Analysis
from traindx.program.finding import Finding
from traindx.program.queries import is_zeroing, module_layers
from traindx.program.trace import Event, Trace, tensor_of
from traindx.program.values import Made, Tensor

_DETACHED = "`.detach()`"


def fed_detached(analysis: Analysis) -> Iterator[Finding]:
    """Backward passes whose step trains what a detach has cut off from the critic's judgement."""
    trace = analysis.trace
    optimizers = [made for made in trace.optimizers if made.known and made.layers]
    done: set[int] = set()
    for event in trace.of("backward") if len(optimizers) > 1 else ():
        value, step = tensor_of(event), _next(trace, event, "step")
        made = step.subject if step is not None else None
        if value is None or not value.sure or not isinstance(made, Made) or made not in optimizers or step is None:
            continue
        for call in _calls_before(trace, event):
            judging = module_layers(analysis, call.subject)
            given = _given(call)
            if not judging & value.deps or judging & made.layers or given is None or id(call.place.node) in done:
                continue
            if not _made_by(trace, given) & made.layers or _used(trace, event, judging, optimizers):
                continue
            if any(_sees(other, call, made) for other in _calls_before(trace, event)):
                continue
            done.add(id(call.place.node))
            yield Finding(
                "broken-gradient-path",
                call.place,
                f"{_DETACHED} keeps what is judged here from the backward at {event.place.text}: the step at"
                f" {step.place.text} has no gradient of it",
                facts={"cut_place": call.place.text, "cut_by": _DETACHED, "backward_place": event.place.text},
                also=((event.place, "ends at the detached sample"), (step.place, "trains what was cut off")),
            )


def _next(trace: Trace, event: Event, kind: str) -> Event | None:
    later = (row for row in trace.events[event.at :] if row.kind == kind)
    found = next(later, None)
    return found if found is not None and found.path == event.path and found.guards == event.guards else None


def _calls_before(trace: Trace, event: Event) -> list[Event]:
    """The forward passes of the same iteration since the last step."""
    found: list[Event] = []
    for row in reversed(trace.events[: event.at - 1]):
        if row.kind in {"step", "backward"} or row.path[: len(event.path)] != event.path:
            break
        if row.kind == "forward" and row.grad:
            found.append(row)
    return found


def _given(call: Event) -> Tensor | None:
    """The detached tensor that a module is called on."""
    given = call.facts["call"].args[:1]
    value = given[0] if given and isinstance(given[0], Tensor) else None
    return value if value is not None and not value.deps and value.cut and value.cut.by == _DETACHED else None


def _made_by(trace: Trace, given: Tensor) -> frozenset[int]:
    """The layers behind the detach that a tensor comes from."""
    node = given.cut.place.node if given.cut is not None else None
    cuts = (row.subject for row in trace.of("cut") if row.place.node is node)
    return frozenset().union(*(value.deps for value in cuts if isinstance(value, Tensor)))


def _sees(other: Event, call: Event, made: Made) -> bool:
    """Whether the same module judges a sample that still has its graph."""
    parts = [part for part in other.facts["call"].args if isinstance(part, Tensor)]
    return other.subject is call.subject and any(part.deps & made.layers for part in parts)


def _used(trace: Trace, event: Event, judging: frozenset[int], optimizers: list[Made]) -> bool:
    """Whether the critic steps with the gradients of this backward before they are cleared."""
    own = [made for made in optimizers if made.layers & judging]
    for row in trace.events[event.at :]:
        if row.kind == "step" and isinstance(row.subject, Made) and row.subject.layers & judging:
            return True
        if any(is_zeroing(row, made) for made in own):
            return False
    return not own
