"""What a program is made of and does, each fact with its place and how sure it is."""

from __future__ import annotations

from collections.abc import Iterator

from traindx.contract import Value as Row
from traindx.program.analysis import Analysis
from traindx.program.library.recurrent import KINDS
from traindx.program.queries import class_of, pass_of, passes_with, spelled
from traindx.program.trace import Event
from traindx.program.values import Guess, Items, Layer, Library, Made, Place, Plain, Stream, Value

MOST = 200
_VERBS = {
    "backward": "backward pass",
    "step": "optimizer step",
    "zero": "clears gradients",
    "schedule": "scheduler step",
    "save": "saves",
    "load": "loads",
    "load-state-dict": "restores",
    "split": "splits the data",
}
_SURE = {
    "constant": "constant",
    "omitted": "argument default",
    "default": "argument default",
    "config": "configuration",
    "varies": "unknown",
}


class ProgramFact(Row):
    """One fact."""

    topic: str
    """`layer`, `optimizer`, `scheduler`, `loss`, `loader`, `clipping`, `loop` …"""
    what: str
    place: str
    sure: str = "constant"
    """where its values come from: `constant`, `argument default`, `configuration`, `unknown`"""


def program_facts(analysis: Analysis) -> list[ProgramFact]:
    """Everything that is known, each place once, in the order of the program."""
    found: dict[tuple[str, str], ProgramFact] = {}
    for fact in _facts(analysis):
        found.setdefault((fact.topic, fact.place), fact)
    return list(found.values())[:MOST]


def _facts(analysis: Analysis) -> Iterator[ProgramFact]:
    trace = analysis.trace
    learning = passes_with(trace, "backward")
    for event in trace.of("loop"):
        trains = pass_of(event) in learning
        what = "trains" if trains else "does not train"
        yield _fact("loop", f"goes through {_told(event.subject)}, {what}", event.place)
    for event in trace.events:
        made = _of_event(event)
        if made is not None:
            yield made


def _of_event(event: Event) -> ProgramFact | None:
    subject = event.subject
    if event.kind == "layer" and isinstance(subject, Layer):
        topic = "recurrent layer" if subject.kind in KINDS else "layer"
        return _fact(topic, f"{subject.kind}({_arguments(subject)})", event.place, *_values(subject))
    if event.kind in {"optimizer", "scheduler"} and isinstance(subject, Made):
        return _fact(event.kind, f"{class_of(subject)}({_arguments(subject)})", event.place, *_values(subject))
    if event.kind == "loader" and isinstance(subject, Made):
        return _fact("loader", f"DataLoader({_arguments(subject)})", event.place, *_values(subject))
    if event.kind == "loss":
        return _fact(
            "loss", f"{event.facts['kind'] or 'a loss'} of {_told(event.facts.get('prediction'))}", event.place
        )
    if event.kind == "clip":
        threshold = event.facts.get("threshold")
        told = _told(threshold if isinstance(threshold, Value) else None)
        return _fact("clipping", f"{event.facts.get('by')} at {told}", event.place)
    if event.kind in _VERBS:
        where = f" in the loop at {event.loop.place.text}" if event.loop is not None else ""
        return _fact(event.kind, _VERBS[event.kind] + where, event.place)
    if event.kind == "mode":
        on = event.facts.get("on")
        known = on.value if isinstance(on, Plain) else None
        name = "training" if known is True else "evaluation" if known is False else "unknown"
        return _fact("mode", f"{name} mode", event.place)
    return None


def _fact(topic: str, what: str, place: Place, *values: Value) -> ProgramFact:
    order = ["constant", "omitted", "default", "config", "varies"]
    sure = [value.sure for value in values if isinstance(value, Plain)]
    sure += ["varies" for value in values if isinstance(value, Guess)]
    worst = max(sure, key=lambda word: order.index(word) if word in order else 3, default="constant")
    return ProgramFact(topic=topic, what=what, place=place.text, sure=_SURE.get(worst, "unknown"))


def _values(made: Layer | Made) -> list[Value]:
    return [*made.args, *made.keywords.values()]


def _arguments(made: Layer | Made) -> str:
    told = [_told(value) for value in made.args]
    told += [f"{name}={_told(value)}" for name, value in made.keywords.items()]
    text = ", ".join(told)
    return text if len(text) <= 160 else text[:159] + "…"


def _told(value: Value | None) -> str:
    if isinstance(value, Plain):
        if value.counts == "batches" and value.value is None:
            return "a number of batches"
        return str(value.value) if value.value is not None or value.sure == "constant" else value.name or "unknown"
    if isinstance(value, Items):
        return f"[{', '.join(_told(part) for part in value.items[:6])}]"
    if isinstance(value, Stream):
        end = value.source.fields.get("end") if isinstance(value.source, Made) else None
        return f"a range to {_told(end)}" if end is not None else _told(value.source)
    if isinstance(value, Library):
        return value.name
    if isinstance(value, Guess):
        return value.name or "unknown"
    place = getattr(value, "place", None)
    name = {"Parameters": "parameters", "Tensor": "a tensor"}.get(type(value).__name__, "")
    if isinstance(value, Layer | Made):
        name = value.kind
    return f"{name or 'a value'} ({place.text})" if isinstance(place, Place) else name or "a value"


def state_story(analysis: Analysis) -> Iterator[ProgramFact]:
    """Each recurrent call: which state it takes, whether it is new, handed on or cut from its graph."""
    from traindx.program.library.recurrent import is_fresh
    from traindx.program.queries import state_name, state_parts
    from traindx.program.states import carrying_loop

    for event in analysis.trace.of("recurrent"):
        parts = state_parts(event)
        loop = carrying_loop(analysis, event)
        kind = event.subject.kind if isinstance(event.subject, Layer) else "module"
        if is_fresh(event.facts.get("state")):
            what = "takes a new state"
        elif loop is None:
            what = "takes a state of this iteration"
        else:
            cut = "cut from its graph" if not any(part.graph for part in parts) else "with its graph attached"
            what = f"takes `{state_name(event) or 'its state'}` from the iteration before ({loop.place.text}), {cut}"
        yield _fact("state", f"{kind}: {what}", event.place)
        yield _fact("call", spelled(event.place.node, 100), event.place)
