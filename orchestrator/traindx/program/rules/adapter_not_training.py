"""A saved adapter is loaded for inference and then trained.

## What it finds
`PeftModel.from_pretrained(base, path)` without `is_trainable=True`, whose result goes into the loss that a backward
pass starts from and is held by an optimizer that steps, or that goes into a trainer.

## Why it matters
An adapter is loaded frozen. Only what was put on top of it trains, or nothing does, and what is saved at the end is the
adapter that was loaded.

## Silent
Adapters that are only used (references, teachers, encoders that no optimizer holds), that are merged, made trainable
or selected afterwards, and a new adapter on top of the loaded one. Beside other layers that train it is a suspicion,
unless the adapter itself is put into training mode or saved.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from traindx.program.analysis import Analysis
from traindx.program.finding import Finding
from traindx.program.queries import mentions, steps
from traindx.program.trace import tensor_of
from traindx.program.values import Layer, Made, Parameters, Place
from traindx.readers.code.syntax import name_of

ID = "adapter-not-training"
SAYS = ("proven", "suspected")
_PEFT = re.compile(r"^(?:Auto)?PeftModel(?:For\w+)?$")
_THAWING = ("set_adapter", "add_adapter", "merge_and_unload", "set_requires_grad", "mark_only_lora_as_trainable")


def check(analysis: Analysis) -> Iterator[Finding]:
    """Look at every adapter that is loaded."""
    trace = analysis.trace
    if not mentions(analysis, "peft", "PeftModel") and not any(_PEFT.match(n) for u in analysis.units for n in u.names):
        return
    for layer in list(trace.layers.values()):
        if layer.kind != "pretrained" or layer.place is None or not _loaded_frozen(layer.place):
            continue
        if mentions(analysis, *_THAWING) or _adapted_again(layer.place) or _thawed(analysis, layer):
            continue
        trained = _trained_by(analysis, layer)
        if trained is None:
            continue
        by, others = trained
        meant = not others or any(
            isinstance(event.subject, Layer)
            and event.subject.number == layer.number
            and (event.kind == "model-saved" or (event.kind == "mode" and _is_train(event.place.node)))
            for event in trace.of("mode", "model-saved")
        )
        yield Finding(
            ID,
            layer.place,
            "the adapter is loaded for inference, without `is_trainable=True`: its weights are frozen, and no step"
            " changes them",
            proven=meant,
            facts={"load_place": layer.place.text, "step_place": by.text},
            also=((by, "is to train it"),),
        )


def _loaded_frozen(place: Place) -> bool:
    """Whether a call loads an adapter, and nothing in it may say that it is to train."""
    node = place.node
    if not isinstance(node, ast.Call) or name_of(node.func) != "from_pretrained":
        return False
    owner = node.func.value if isinstance(node.func, ast.Attribute) else None
    if not _PEFT.match(name_of(owner)) or any(row.arg is None for row in node.keywords):
        return False
    # `PeftModel.from_pretrained(model, model_id, adapter_name, is_trainable)`
    given = next((row.value for row in node.keywords if row.arg == "is_trainable"), None)
    given = node.args[3] if given is None and len(node.args) > 3 else given
    if any(isinstance(arg, ast.Starred) for arg in node.args):
        return False
    return given is None or (isinstance(given, ast.Constant) and given.value is False)


def _adapted_again(place: Place) -> bool:
    """Whether a new adapter may be put on top; in the other branch of the same condition it is another run's."""
    nodes = place.unit.nodes
    either = [
        {id(part) for row in other for part in ast.walk(row)}
        for node in nodes.of(ast.If)
        for one, other in ((node.body, node.orelse), (node.orelse, node.body))
        if any(part is place.node for row in one for part in ast.walk(row))
    ]
    return any(
        name_of(node.func) == "get_peft_model"
        and node.lineno > place.line
        and not any(id(node) in ids for ids in either)
        for node in nodes.of(ast.Call)
    )


def _thawed(analysis: Analysis, layer: Layer) -> bool:
    """Whether some of its parameters are told to train, or may be."""
    return any(
        not event.facts["on"] and (not isinstance(event.subject, Parameters) or layer.number in event.subject.layers)
        for event in analysis.trace.of("freeze")
    )


def _trained_by(analysis: Analysis, layer: Layer) -> tuple[Place, bool] | None:
    """The step that should change the adapter, and whether other layers are trained by it as well."""
    trace = analysis.trace
    for event in trace.of("managed-training"):
        if event.facts["model"] is layer:
            return event.place, False
    backward = [event for event in trace.of("backward") if layer.number in getattr(tensor_of(event), "deps", ())]
    for events in steps(trace).values():
        made = events[0].subject
        if backward and isinstance(made, Made) and layer.number in made.layers:
            return events[0].place, len(made.layers) > 1
    return None


def _is_train(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and name_of(node.func) == "train" and not node.args and not node.keywords
