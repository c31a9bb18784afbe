"""Submodules or parameters in a plain list or dictionary.

## What it finds
Layers that a module keeps in a Python list, tuple or dictionary, uses in its forward pass, and registers nowhere.

## Why it matters
`parameters()` does not see them: they are not trained, not saved and not moved to the device.

## Silent
`ModuleList`, `ModuleDict`, `Sequential`, layers that are registered under another name as well, lists of modules whose
parameters the optimizer gets by hand.
"""

from __future__ import annotations

from collections.abc import Iterator

from traindx.program.analysis import Analysis
from traindx.program.finding import Finding
from traindx.program.queries import module_layers, trained_layers
from traindx.program.trace import tensor_of
from traindx.program.values import Instance, Items, Layer, Mapping, Value

ID = "unregistered-modules"


def check(analysis: Analysis) -> Iterator[Finding]:
    """Look into the fields of every module of the program."""
    trace = analysis.trace
    trained = trained_layers(trace)
    used = {number for event in trace.of("backward") for number in (tensor_of(event) or _NONE).deps}
    used |= {event.subject.number for event in trace.of("linear", "recurrent") if isinstance(event.subject, Layer)}
    done: set[str] = set()
    for event in trace.of("module"):
        owner = event.subject
        if not isinstance(owner, Instance):
            continue
        registered = module_layers(analysis, owner)
        for name, value in owner.fields.items():
            held = frozenset().union(*(module_layers(analysis, part) for part in _parts(value)))
            hidden = [trace.layers[number] for number in held - registered - trained if number in trace.layers]
            hidden = [layer for layer in hidden if layer.kind not in {"?", "pretrained"}]
            if not hidden or name.startswith("@") or owner.cls is None:
                continue
            place = next((layer.place for layer in hidden if layer.place is not None), None)
            known = f"{owner.cls.node.name}.{name}"
            if place is None or known in done:
                continue
            done.add(known)
            yield Finding(
                ID,
                place,
                f"`self.{name}` is a plain Python container: `parameters()` of `{owner.cls.node.name}` does not see"
                " the layers in it",
                proven=any(layer.number in used for layer in hidden),
                facts={"field": name, "class": owner.cls.node.name, "layer_place": place.text},
            )


_NONE = type("_None", (), {"deps": frozenset()})()


def _parts(value: Value) -> list[Value]:
    if isinstance(value, Items):
        return value.items
    return list(value.entries.values()) if isinstance(value, Mapping) else []
