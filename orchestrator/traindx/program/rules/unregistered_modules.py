"""Submodules or parameters in a plain list, dictionary or object.

## What it finds
Layers that a module keeps in a Python list, tuple or dictionary, or in an object whose class is no module, uses in its
forward pass, and registers nowhere.

## Why it matters
`parameters()` does not see them: they are not trained, not saved and not moved to the device.

## Silent
`ModuleList`, `ModuleDict`, `Sequential`, layers that are registered under another name as well, lists of modules whose
parameters the optimizer gets by hand, frozen models that a list hides on purpose.
"""

from __future__ import annotations

from collections.abc import Iterator

from traindx.program.analysis import Analysis
from traindx.program.finding import Finding
from traindx.program.library.layers import frozen, is_plain
from traindx.program.queries import assigned_at, module_layers, plain_parts, trained_layers
from traindx.program.trace import Trace, tensor_of
from traindx.program.values import Instance, Layer, Tensor, Value

ID = "unregistered-modules"


def check(analysis: Analysis) -> Iterator[Finding]:
    """Look into the fields of every module of the program."""
    trace = analysis.trace
    trained = trained_layers(trace)
    learned = {number for event in trace.of("backward") for number in (tensor_of(event) or _NONE).deps}
    used = learned | {
        event.subject.number for event in trace.of("linear", "recurrent") if isinstance(event.subject, Layer)
    }
    done: set[str] = set()
    for event in trace.of("module"):
        owner = event.subject
        if not isinstance(owner, Instance):
            continue
        registered = module_layers(analysis, owner)
        for name, value in owner.fields.items():
            held = [(module, inner) for module in _held(value) if (inner := module_layers(analysis, module))]
            hidden = [
                (module, inner)
                for module, inner in held
                if not inner & (registered | trained) and not all(_frozen(trace, number) for number in inner)
            ]
            if not hidden or name.startswith("@") or owner.cls is None:
                continue
            place = assigned_at(owner.cls, name)
            made = (getattr(module, "place", None) for module, _ in hidden)
            place = place or next((one for one in made if one is not None), None)
            known = f"{owner.cls.node.name}.{name}"
            if place is None or known in done:
                continue
            done.add(known)
            uses = any(inner & (used if isinstance(module, Layer) else learned) for module, inner in hidden)
            yield Finding(
                ID,
                place,
                f"`self.{name}` is {_what(value)}: `parameters()` of `{owner.cls.node.name}` does not see the layers"
                " in it",
                proven=uses,
                facts={"field": name, "class": owner.cls.node.name, "layer_place": place.text},
            )


_NONE = type("_None", (), {"deps": frozenset()})()


def _frozen(trace: Trace, number: int) -> bool:
    return number in trace.layers and frozen(trace.layers[number])


def _what(value: Value) -> str:
    if isinstance(value, Instance) and value.cls is not None:
        return f"a `{value.cls.node.name}`, which is no `nn.Module`"
    return "a plain Python container"


def _held(value: Value) -> Iterator[Layer | Instance | Tensor]:
    """What a container holds: layers, containers such as `Sequential`, modules of the program, parameters; and
    what the fields of an object of a plain class hold.
    """
    parts = list(value.fields.values()) if isinstance(value, Instance) and is_plain(value) else plain_parts(value)
    for part in parts:
        if (isinstance(part, Instance) and part.cls is not None) or (
            isinstance(part, Tensor) and "parameter" in part.marks
        ):
            yield part
        if isinstance(part, Layer) and part.kind not in {"?", "pretrained"} and not part.kind.startswith("keras"):
            yield part
