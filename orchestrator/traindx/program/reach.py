"""What the losses of a program reach, and what keeps them from the rest of what is trained."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from traindx.program.analysis import Analysis
from traindx.program.library.recurrent import KINDS
from traindx.program.queries import handed_out, steps
from traindx.program.trace import Event, Trace, tensor_of
from traindx.program.values import Layer, Made, Parameters, Tensor


@dataclass(frozen=True)
class Unreached:
    """Layers that an optimizer trains and no loss reaches."""

    step: Event
    cut: Event
    """where what they give leaves the graph"""
    whole: bool
    """whether they are all that the optimizer trains"""
    recurrent: bool
    """whether all of them are recurrent, so that it is a state that was cut"""


def unreached(analysis: Analysis) -> Iterator[Unreached]:
    """Layers that no backward reaches because their output is cut on its way, once per cut."""
    trace = analysis.trace
    backwards = [value for event in trace.of("backward") if (value := tensor_of(event)) is not None]
    if not backwards or not all(value.sure for value in backwards) or not analysis.whole:
        return
    reached = frozenset().union(*(value.deps for value in backwards), *_set_by_hand(trace))
    told: set[int] = set()
    for events in steps(trace).values():
        made = events[0].subject
        missed = made.layers - reached if isinstance(made, Made) and made.known else frozenset[int]()
        if not isinstance(made, Made) or not missed or not reached or handed_out(trace, made):
            continue
        # A cut inside a loop over time is a matter of windows.
        cuts = [row for row in trace.of("cut") if len(row.turns) <= len(events[0].turns)]
        cut = next((row for row in cuts if _lies_behind(row, missed)), None) or _switched_off(trace, events[0], missed)
        if cut is None or id(cut.place.node) in told:
            continue
        told.add(id(cut.place.node))
        kinds = {trace.layers[number].kind for number in missed if number in trace.layers}
        yield Unreached(events[0], cut, missed == made.layers, bool(kinds) and kinds <= KINDS)


def _set_by_hand(trace: Trace) -> Iterator[frozenset[int]]:
    """The layers of parameters whose gradient the program sets itself: `p.grad = torch.autograd.grad(…)[0]`."""
    for event in trace.of("gradient-set"):
        if isinstance(event.subject, Tensor):
            yield event.subject.deps
        elif isinstance(event.subject, Parameters):
            yield event.subject.layers


def _lies_behind(cut: Event, missed: frozenset[int]) -> bool:
    """Whether a cut in training is what keeps layers from every loss: it lies behind all of them."""
    deps = cut.subject.deps if isinstance(cut.subject, Tensor) else frozenset[int]()
    return cut.grad and missed <= deps


def _switched_off(trace: Trace, step: Event, missed: frozenset[int]) -> Event | None:
    """Where gradients are off whenever one of some layers runs in the iteration of a step: `no_grad` in a helper."""
    ran = [row for row in trace.of("linear", "recurrent") if isinstance(row.subject, Layer)]
    mine = [row for row in ran if row.subject.number in missed and row.path == step.path]  # type: ignore[attr-defined]
    seen = {row.subject.number for row in mine}  # type: ignore[attr-defined]
    if not mine or seen != missed or any(row.grad or row.off is None for row in mine):
        return None
    first = mine[0]
    # Who writes `no_grad` around the layers themselves means it; a helper or decorator elsewhere does it unseen.
    if first.off is None or first.off.unit is first.place.unit:
        return None
    return replace(first, place=first.off, facts={"by": "`no_grad`"})
