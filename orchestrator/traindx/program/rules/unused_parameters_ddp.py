"""Layers of a data-parallel model take no part in the loss.

## What it finds
A model in `DistributedDataParallel` without `find_unused_parameters=True`, with a layer whose output is in no loss that
a backward pass starts from.

## Why it matters
Data-parallel training waits for the gradient of every parameter. One that never comes stops the second iteration with
"Expected to have finished reduction in the prior iteration".

## Silent
Frozen layers, models that were not followed completely, outputs that are handed to code outside the program,
`static_graph=True`.
"""

from __future__ import annotations

from collections.abc import Iterator

from traindx.program.analysis import Analysis
from traindx.program.finding import Finding
from traindx.program.library.layers import frozen
from traindx.program.library.modules import is_known
from traindx.program.queries import module_layers
from traindx.program.trace import Event, tensor_of
from traindx.program.values import Made, Plain, Tensor

ID = "unused-parameters-ddp"


def check(analysis: Analysis) -> Iterator[Finding]:
    """Look at every model that is wrapped."""
    trace = analysis.trace
    for event in trace.of("data-parallel"):
        if not analysis.whole or event.guards or not is_known(event.subject) or _tolerates(event):
            continue
        mine = module_layers(analysis, event.subject)
        values = [value for row in trace.of("backward") if (value := tensor_of(row)) is not None]
        if not values or not all(value.sure and value.deps & mine for value in values):
            continue
        reached = frozenset().union(*(value.deps for value in values))
        called = {row.subject.number: row for row in trace.of("linear") if row.grad and hasattr(row.subject, "number")}
        missed = [number for number in sorted(mine - reached) if number in called]
        missed = [number for number in missed if not frozen(trace.layers[number])]
        if not missed or _handed_on(trace.of("foreign"), frozenset(missed)):
            continue
        layer, used = trace.layers[missed[0]], called[missed[0]]
        made = layer.place or used.place
        yield Finding(
            ID,
            event.place,
            f"the layer of {made.text} is in no loss, and data-parallel training waits for its gradient",
            facts={"wrap_place": event.place.text, "layer_place": made.text},
            also=((made, "takes no part in any loss"), (used.place, "called here, and its output is left out")),
        )


def _tolerates(event: Event) -> bool:
    """Whether the wrapper looks for unused parameters, or may."""
    made = event.facts["wrapper"]
    if not isinstance(made, Made) or "**" in made.keywords:
        return True
    told = [made.keywords[name] for name in ("find_unused_parameters", "static_graph") if name in made.keywords]
    return any(not (isinstance(value, Plain) and value.value is False) for value in told)


def _handed_on(events: list[Event], missed: frozenset[int]) -> bool:
    """Whether what the layers give goes into something unknown."""
    parts = [part for event in events if (call := event.facts.get("call")) is not None for part in call.tensors]
    return any(isinstance(part, Tensor) and part.deps & missed for part in parts)
