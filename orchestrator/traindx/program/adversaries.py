"""A generator's loss that is computed by a critic from a detached sample: it trains nothing of the generator."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from traindx.program.analysis import Analysis
from traindx.program.finding import Finding
from traindx.program.queries import is_zeroing, module_layers
from traindx.program.trace import Event, Trace, tensor_of
from traindx.program.values import Made, Parameters, Tensor

_SAMPLED = "`.sample()`"
_CUTS = {"`.detach()`", _SAMPLED}
"""what keeps a sample from the network that made it: `.rsample()` would not"""


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
            if given is None or given.cut is None or judging & made.layers or id(call.place.node) in done:
                continue
            cut = given.cut
            if not judging & value.deps and not (cut.by == _SAMPLED and _judges(trace, call, judging)):
                continue
            if cut.by == _SAMPLED and weighs(call):
                continue
            if not _made_by(trace, given) & made.layers or _used(trace, event, judging, optimizers):
                continue
            if any(_sees(other, call, made) for other in _calls_before(trace, event)):
                continue
            done.add(id(call.place.node))
            place = cut.place if cut.by == _SAMPLED else call.place
            yield Finding(
                "broken-gradient-path",
                place,
                f"{cut.by} keeps what is judged here from the backward at {event.place.text}: the step at"
                f" {step.place.text} has no gradient of it",
                facts={"cut_place": place.text, "cut_by": cut.by, "backward_place": event.place.text},
                also=(
                    (call.place, "judges what was cut off"),
                    (event.place, "ends there"),
                    (step.place, "trains what was cut off"),
                ),
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
    given = [part for part in call.facts["call"].args if isinstance(part, Tensor) and not part.deps and part.cut]
    return next((part for part in given if part.cut is not None and part.cut.by in _CUTS), None)


def _made_by(trace: Trace, given: Tensor) -> frozenset[int]:
    """The layers behind the detach that a tensor comes from."""
    node = given.cut.place.node if given.cut is not None else None
    cuts = (row.subject for row in trace.of("cut") if row.place.node is node)
    return frozenset().union(*(value.deps for value in cuts if isinstance(value, Tensor)))


def _sees(other: Event, call: Event, made: Made) -> bool:
    """Whether the same module judges a sample that still has its graph."""
    parts = [part for part in other.facts["call"].args if isinstance(part, Tensor)]
    return other.subject is call.subject and any(part.deps & made.layers for part in parts)


def _judges(trace: Trace, call: Event, judging: frozenset[int]) -> bool:
    """Whether a module is frozen while it is called, as a critic is while the policy learns from it."""
    told = [row for row in trace.of("freeze") if row.at < call.at and isinstance(row.subject, Parameters)]
    about = [row for row in told if isinstance(row.subject, Parameters) and judging <= row.subject.layers]
    return bool(judging) and bool(about) and bool(about[-1].facts["on"])


def weighs(call: Event) -> bool:
    """Whether what a call gives is multiplied with something in its function: a weight of log-probabilities is meant
    to have no gradient.
    """
    node, nodes = call.place.node, call.place.unit.nodes
    names = {
        part.id
        for row in nodes.of(ast.Assign)
        if any(part is node for part in ast.walk(row.value))
        for target in row.targets
        for part in ast.walk(target)
        if isinstance(part, ast.Name)
    }
    products = [row for row in nodes.of(ast.BinOp) if isinstance(row.op, ast.Mult)]
    inside = (part for row in products for part in ast.walk(row))
    return any(part is node or (isinstance(part, ast.Name) and part.id in names) for part in inside)


def _used(trace: Trace, event: Event, judging: frozenset[int], optimizers: list[Made]) -> bool:
    """Whether the critic steps with the gradients of this backward before they are cleared."""
    own = [made for made in optimizers if made.layers & judging]
    for row in trace.events[event.at :]:
        if row.kind == "step" and isinstance(row.subject, Made) and row.subject.layers & judging:
            return True
        if any(is_zeroing(row, made) for made in own):
            return False
    return not own
