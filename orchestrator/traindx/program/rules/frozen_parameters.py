"""Parameters that should train are frozen.

## What it finds
An optimizer all of whose layers are frozen; a Keras model that is fitted with every layer frozen, or one whose layers
are thawed between two fits without compiling it again; a Keras backbone without weights that is frozen; a new head that
is frozen together with the backbone it replaced a part of; frozen parameters that are to train again, where
`requires_grad = True` is set on the module instead.

## Why it matters
The loss stays where it is, or only a part of the model that was not meant to train does.

## Silent
Frozen backbones under a head that trains, layers that are unfrozen later, freezing under a condition.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from traindx.program.analysis import Analysis
from traindx.program.finding import Finding
from traindx.program.library import keras_models
from traindx.program.library.layers import frozen
from traindx.program.queries import is_true, mentions, module_layers, spelled, steps
from traindx.program.trace import Event, tensor_of
from traindx.program.values import Items, Layer, Made, Parameters, Place, Plain, is_none

ID = "frozen-parameters"
_MISSPELLED = frozenset(
    ["require_grad", "require_grads", "requires_grads", "required_grad", "requires_gradient", "require_gradient"]
)


def check(analysis: Analysis) -> Iterator[Finding]:
    """Look at every optimizer that steps."""
    trace = analysis.trace
    yield from _thawed_in_name(analysis)
    yield from _never_thawed(analysis)
    yield from _misspelled(analysis)
    yield from _new_and_frozen(analysis)
    yield from _random_and_frozen(analysis)
    yield from _fitted_and_frozen(analysis)
    for events in steps(trace).values():
        made = events[0].subject
        if not isinstance(made, Made) or not made.layers:
            continue
        layers = [trace.layers[number] for number in made.layers if number in trace.layers]
        still = [layer for layer in layers if frozen(layer)]
        if not still or len(still) < len(layers):
            continue
        freezing = next(
            (
                event
                for event in trace.of("freeze")
                if event.facts["on"] and isinstance(event.subject, Parameters) and event.subject.layers & made.layers
            ),
            None,
        )
        if freezing is None or any((tensor_of(event) or _EMPTY).deps & made.layers for event in trace.of("backward")):
            continue
        yield Finding(
            ID,
            freezing.place,
            "every parameter that the optimizer holds is frozen here",
            facts={"freeze_place": freezing.place.text, "step_place": events[0].place.text},
            also=((made.place, "the optimizer that has nothing to train"),) if made.place is not None else (),
        )


def _thawed_in_name(analysis: Analysis) -> Iterator[Finding]:
    """`module.requires_grad = True` after its parameters were frozen: the attribute means nothing to a module."""
    trace = analysis.trace
    for event in trace.of("useless-freeze"):
        inner = module_layers(analysis, event.subject)
        if not is_true(event.facts.get("value")) or not inner:
            continue
        freezing = next(
            (
                row
                for row in trace.events[: event.at]
                if row.kind == "freeze" and row.facts["on"] and isinstance(row.subject, Parameters)
                if row.subject.layers & inner
            ),
            None,
        )
        still = any(frozen(trace.layers[number]) for number in inner if number in trace.layers)
        if freezing is None or not still:
            continue
        yield Finding(
            ID,
            event.place,
            "`requires_grad` is set on a module, where it means nothing: its parameters stay frozen",
            facts={"freeze_place": freezing.place.text, "step_place": event.place.text},
            also=((freezing.place, "freezes the parameters"),),
        )


def _new_and_frozen(analysis: Analysis) -> Iterator[Finding]:
    """A new layer that was put into a pretrained model, and frozen with it: it keeps its random weights."""
    trace = analysis.trace
    if not any((tensor_of(event) or _EMPTY).deps for event in trace.of("backward")) or not steps(trace):
        return
    for put in trace.of("module-set"):
        if not isinstance(put.subject, Layer) or put.subject.kind != "pretrained" or put.subject.place is None:
            continue
        inner = module_layers(analysis, put.facts["value"])
        if not inner or not all(number in trace.layers and frozen(trace.layers[number]) for number in inner):
            continue
        freezing = next((row for row in trace.events[put.at :] if _freezes(row, inner)), None)
        if freezing is None or inner & _given_weights(analysis):
            continue
        yield Finding(
            ID,
            freezing.place,
            f"the new layer of {put.place.text} is frozen with the rest: it keeps its random weights",
            facts={"freeze_place": freezing.place.text, "step_place": put.place.text},
            also=((put.place, "new, and never trained"),),
        )
        return


def _random_and_frozen(analysis: Analysis) -> Iterator[Finding]:
    """Keras: a model of `applications` that was made without weights, and frozen."""
    for event in analysis.trace.of("compile"):
        held = event.subject.fields.get("@layers") if isinstance(event.subject, Layer) else None
        for layer in held.items if isinstance(held, Items) else ():
            fields = layer.fields if isinstance(layer, Layer) else {}
            trains = fields.get("trainable")
            frozen_all = isinstance(trains, Plain) and trains.value is False and trains.sure == "constant"
            if not frozen_all or not is_none(fields.get("@weights")) or mentions(analysis, "load_weights"):
                continue
            place = layer.place if isinstance(layer, Layer) and layer.place is not None else event.place
            yield Finding(
                ID,
                place,
                "this model is made with `weights=None` and frozen: its features stay random",
                facts={"freeze_place": place.text, "step_place": event.place.text},
                also=((event.place, "compiled with nothing of it to train"),),
            )


def _fitted_and_frozen(analysis: Analysis) -> Iterator[Finding]:
    """Keras: a model that is fitted while nothing of it trains, and layers thawed after the model was compiled."""
    trace = analysis.trace
    told: set[int] = set()
    for event in trace.of("trainable", "compile", "fit-model"):
        model = event.subject
        if event.kind != "fit-model" or not isinstance(model, Layer) or model.number in told:
            continue
        compiled = [row for row in trace.of("compile") if row.subject is model and row.at < event.at]
        inner = {layer.number for layer in keras_models.within(model, trace)}
        changes = [row for row in trace.of("trainable") if getattr(row.subject, "number", 0) in inner]
        before = [row for row in changes if row.at < event.at]
        late = [row for row in before if compiled and row.at > compiled[-1].at and is_true(row.facts["value"])]
        fitted = [row for row in trace.of("fit-model") if row.subject is model and compiled and row.at < event.at]
        if late and fitted and compiled[-1].at < fitted[-1].at < late[0].at:
            told.add(model.number)
            yield Finding(
                ID,
                late[0].place,
                f"`trainable` is set after `compile` ({compiled[-1].place.text}), which fixed what trains: until the"
                " model is compiled again, nothing more does",
                facts={"freeze_place": late[0].place.text, "step_place": event.place.text},
                also=(
                    (compiled[-1].place, "compiled before the change"),
                    (event.place, "fitted without compiling anew"),
                ),
            )
        elif before and len(before) == len(changes) and keras_models.all_frozen(model, trace):
            told.add(model.number)
            yield Finding(
                ID,
                before[-1].place,
                "every layer of the model is frozen here, its head included: the fit changes nothing",
                facts={"freeze_place": before[-1].place.text, "step_place": event.place.text},
                also=((event.place, "fitted with nothing to train"),),
            )


def _freezes(event: Event, layers: frozenset[int]) -> bool:
    known = event.kind == "freeze" and event.facts["on"] and isinstance(event.subject, Parameters)
    return known and bool(event.subject.layers & layers)  # type: ignore[attr-defined]


def _given_weights(analysis: Analysis) -> frozenset[int]:
    """Layers whose weights are loaded or written by the program."""
    found: frozenset[int] = frozenset()
    for event in analysis.trace.of("load-state-dict", "overwritten"):
        found |= module_layers(analysis, event.subject)
        found |= event.subject.layers if isinstance(event.subject, Parameters) else frozenset()
    return found


def _misspelled(analysis: Analysis) -> Iterator[Finding]:
    """`p.require_grad = True` for parameters that were frozen: an attribute that nothing reads."""
    freezing = next((row for row in analysis.trace.of("freeze") if row.facts["on"]), None)
    if freezing is None:
        return
    for unit in analysis.units:
        for name in sorted(_MISSPELLED & unit.names):
            for node in unit.nodes.of(ast.Assign):
                if getattr(node.targets[0], "attr", "") != name:
                    continue
                if not (isinstance(node.value, ast.Constant) and node.value.value is True):
                    continue
                place = Place(unit, node)
                yield Finding(
                    ID,
                    place,
                    f"`{name}` is no attribute of a parameter, `requires_grad` is: what was frozen at"
                    f" {freezing.place.text} stays so",
                    facts={"freeze_place": freezing.place.text, "step_place": place.text},
                    also=((freezing.place, "freezes the parameters"),),
                )
                return


def _never_thawed(analysis: Analysis) -> Iterator[Finding]:
    """Parameters that are to be thawed under a condition that can never hold: a count compared with a text."""
    trace = analysis.trace
    done: set[int] = set()
    for event in trace.of("mismatched"):
        if id(event.place.node) in done:
            continue
        done.add(id(event.place.node))
        around = next(
            (
                node
                for node in event.place.unit.nodes.of(ast.If)
                if any(part is event.place.node for part in ast.walk(node.test))
            ),
            None,
        )
        freezing = next((row for row in trace.of("freeze") if row.facts["on"]), None)
        if around is None or freezing is None or not any(_thaws(part) for part in around.body):
            continue
        yield Finding(
            ID,
            event.place,
            f"`{spelled(event.place.node)}` compares a number with a text and never holds: what it should thaw stays"
            " frozen",
            facts={"never_holds": spelled(event.place.node), "never_place": event.place.text},
            also=((freezing.place, "freezes the parameters"),),
        )


def _thaws(statement: ast.stmt) -> bool:
    """Whether a statement, or one inside it, says `requires_grad = True` or `requires_grad_()`."""
    for part in ast.walk(statement):
        if isinstance(part, ast.Call) and getattr(part.func, "attr", "") in {"requires_grad_", "unfreeze"}:
            return not any(isinstance(given, ast.Constant) and given.value is False for given in part.args)
        if isinstance(part, ast.Assign) and any(getattr(to, "attr", "") == "requires_grad" for to in part.targets):
            return isinstance(part.value, ast.Constant) and part.value.value is True
    return False


_EMPTY = type("_Empty", (), {"deps": frozenset()})()
