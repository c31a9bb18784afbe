"""The optimizer holds other, older or fewer parameters than the model.

## What it finds
Layers that the loss depends on, that are not frozen, and that no optimizer holds: because the optimizer was made before
the layer or the model was replaced, or was given only a part.

## Why it matters
These layers keep their initial weights, while everything looks as if they trained.

## Silent
Several optimizers that together hold everything, frozen layers, layers in plain containers (`unregistered-modules`),
players of a game that another optimizer trains, copies whose weights are written by hand, models that are not known.
"""

from __future__ import annotations

from collections.abc import Iterator

from traindx.program.analysis import Analysis
from traindx.program.finding import Finding
from traindx.program.library.layers import frozen, is_plain
from traindx.program.library.training import layers_of
from traindx.program.queries import handed_out, mentions, module_layers, plain_parts, steps
from traindx.program.trace import Event, Trace, tensor_of
from traindx.program.values import Instance, Layer, Made, Parameters, Place

ID = "optimizer-missing-parameters"


def check(analysis: Analysis) -> Iterator[Finding]:
    """Compare what the losses depend on with what the optimizers hold."""
    trace = analysis.trace
    yield from _replaced_later(analysis)
    stepping = [made for events in steps(trace).values() if isinstance(made := events[0].subject, Made)]
    if not stepping or any(not made.known for made in [*stepping, *trace.optimizers]):
        return
    own = [layers_of(event.facts["given"]) for event in trace.of("own-optimizer")]
    if not all(known for _, known in own):
        return
    held: frozenset[int] = frozenset().union(
        *(made.layers for made in trace.optimizers), *(layers for layers, _ in own)
    )
    contained = _in_containers(analysis)
    missing: dict[int, Event] = {}
    stepped = {serial for event in trace.of("step") for serial in event.path}
    for event in trace.of("backward"):
        value = tensor_of(event)
        # A backward in a loop without any step looks at gradients and trains nothing.
        if value is not None and value.sure and not stepped.isdisjoint(event.path):
            for number in value.deps - held - contained:
                missing.setdefault(number, event)
    missing = {number: event for number, event in missing.items() if number not in _written(analysis)}
    layers = [trace.layers[number] for number in missing if number in trace.layers]
    layers = [
        layer for layer in layers if not frozen(layer) and not layer.guessed and layer.kind not in {"?", "pretrained"}
    ]
    if not layers:
        return
    layer = layers[0]
    place = _stepped_after(trace, missing[layer.number], stepping[0]).place or layer.place
    if place is None:
        return
    kinds = sorted({layer.kind for layer in layers})
    told = f"{len(layers)} layer{'s' if len(layers) > 1 else ''} ({', '.join(kinds[:3])})"
    yield Finding(
        ID,
        place,
        f"the loss depends on {told} that no optimizer holds: they keep their first weights",
        facts={"optimizer_place": place.text, "layer_place": layer.place.text if layer.place else "", "missing": told},
        also=(
            *(((layer.place, "not among the optimizer's parameters"),) if layer.place is not None else ()),
            *((place, "made through this call") for place in _made_through(analysis, layer)),
        ),
    )


def _replaced_later(analysis: Analysis) -> Iterator[Finding]:
    """A layer that was made and put into a model of a library after every optimizer, or a model that takes the place of
    the one that an optimizer was made for: none can hold it.
    """
    trace = analysis.trace
    built = trace.of("optimizer")
    known = {id(event.subject) for event in built}
    stepping = [events[0] for events in steps(trace).values()]
    if not built or not stepping or any(id(event.subject) not in known for event in stepping):
        return
    if mentions(analysis, "add_param_group", "param_groups") or handed_out(trace, built[-1].subject):
        return
    made = {event.subject.number: event.at for event in trace.of("layer") if isinstance(event.subject, Layer)}
    for put in trace.of("module-set"):
        inner = module_layers(analysis, put.facts["value"])
        late = bool(inner) and all(made.get(number, 0) > built[-1].at for number in inner)
        library = isinstance(put.subject, Layer) and put.subject.kind == "pretrained"
        is_new = library and not mentions(analysis, "load_state_dict")
        if not late or put.guards or not (is_new or _took_over(analysis, put)):
            continue
        if any(frozen(trace.layers[number]) for number in inner):
            continue
        backward = next((row for row in trace.events[put.at :] if row.kind == "backward"), None)
        value = tensor_of(backward) if backward is not None else None
        place = built[-1].place
        if value is None or not value.sure or not inner <= value.deps:
            continue
        yield Finding(
            ID,
            put.place,
            f"the layer of {put.place.text} is made after the optimizer of {place.text}, which does not hold it",
            facts={"optimizer_place": place.text, "layer_place": put.place.text, "missing": "a layer that is new"},
            also=((place, "made before, from the layers of then"),),
        )
        return


def _took_over(analysis: Analysis, put: Event) -> bool:
    """Whether what was under the same name before is trained by an optimizer that was made for it."""
    trace = analysis.trace
    same = [
        row for row in trace.of("module-set") if row.subject is put.subject and row.facts["name"] == put.facts["name"]
    ]
    before = [module_layers(analysis, row.facts["value"]) for row in same if row.at < put.at]
    held: frozenset[int] = frozenset().union(*(made.layers for made in trace.optimizers if made.known))
    return bool(before) and bool(before[-1] & held)


def _stepped_after(trace: Trace, backward: Event, other: Made) -> Made:
    """The optimizer whose step follows a backward: of several trainings each has its own."""
    later = (event.subject for event in trace.events[backward.at :] if event.kind == "step")
    return next((made for made in later if isinstance(made, Made)), other)


def _made_through(analysis: Analysis, layer: Layer) -> list[Place]:
    """The call that made a layer after the optimizer: the outermost that the optimizer was not made in as well."""
    made = next((event for event in analysis.trace.of("layer") if event.subject is layer), None)
    built = analysis.trace.of("optimizer")
    if made is None or not built or made.at < built[0].at:
        return []
    return [call for call in made.calls if call not in built[0].calls][:1]


def _written(analysis: Analysis) -> frozenset[int]:
    """Layers whose weights are copied from elsewhere: master weights, targets, averages. What is made after a copy
    was not in it.
    """
    made = {event.subject.number: event.at for event in analysis.trace.of("layer") if isinstance(event.subject, Layer)}
    found: frozenset[int] = frozenset()
    for event in analysis.trace.of("overwritten", "load-state-dict"):
        if event.kind == "overwritten" and not event.turns:
            continue  # first values, copied once
        if isinstance(event.subject, Parameters):
            found |= event.subject.layers
        elif isinstance(event.subject, Layer | Instance):
            found |= {number for number in module_layers(analysis, event.subject) if made.get(number, 0) < event.at}
    return found


def _in_containers(analysis: Analysis) -> frozenset[int]:
    found: frozenset[int] = frozenset()
    for event in analysis.trace.of("module"):
        owner = event.subject
        for value in owner.fields.values() if isinstance(owner, Instance) else ():
            found = found.union(*(module_layers(analysis, part) for part in plain_parts(value)))
            found |= module_layers(analysis, value) if is_plain(value) else frozenset()
    return found
