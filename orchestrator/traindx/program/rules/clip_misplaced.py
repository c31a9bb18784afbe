"""Gradients are clipped before backward, after the step, or before they are unscaled.

## What it finds
A call that clips gradients where the last thing that happened to them was a step or a clearing, not a backward pass; a
clip of gradients that a loss scaler has scaled and nothing has unscaled; a clip inside a step after which the framework
makes the backward pass itself.

## Why it matters
Clipping then changes nothing that the optimizer will use: an exploding gradient goes through in full.

## Silent
Backward, (unscale,) clip, step, in this order, also with other calls in between.
"""

from __future__ import annotations

from collections.abc import Iterator

from traindx.program.analysis import Analysis
from traindx.program.finding import Finding
from traindx.program.trace import Event, tensor_of
from traindx.program.values import Made, Parameters, Tensor

ID = "clip-misplaced"


def check(analysis: Analysis) -> Iterator[Finding]:
    """Look at what happened to the gradients before each clip."""
    trace = analysis.trace
    done: set[int] = set()
    for event in trace.of("clip"):
        if event.facts.get("managed") or id(event.place.node) in done:
            continue
        before = [other for other in trace.events[: event.at] if _concerns(other, event)]
        found = _framework(trace.events, event) or _out_of_place(trace.events, before, event) or _scaled(before, event)
        if found is not None:
            done.add(id(event.place.node))
            yield found


def _concerns(other: Event, clip: Event) -> bool:
    if other.kind == "foreign":
        return False
    if other.kind in {"step", "zero", "backward"}:
        return _shared(other.subject, clip.subject) or (other.kind == "backward" and _reached(other, clip))
    return other.kind == "scaler"


def _shared(subject: object, clipped: object) -> bool:
    if not isinstance(clipped, Parameters) or not clipped.known:
        return True
    if isinstance(subject, Made | Parameters):
        return not subject.known or bool(subject.layers & clipped.layers)
    return False


def _reached(event: Event, clip: Event) -> bool:
    value, clipped = tensor_of(event), clip.subject
    if value is None or not value.sure or not isinstance(clipped, Parameters) or not clipped.known:
        return True
    return bool(value.deps & clipped.layers) or not value.deps


def _framework(events: list[Event], clip: Event) -> Finding | None:
    """Inside a step of a framework that makes the backward pass afterwards."""
    started = next(
        (e for e in reversed(events[: clip.at]) if e.kind == "framework-step" and e.path == clip.path[: len(e.path)]),
        None,
    )
    if started is None or not started.facts["automatic"] or clip.function.startswith(("on_", "configure_gradient")):
        return None
    own = [e for e in events[started.at : clip.at] if e.kind == "backward"]
    if own:
        return None
    return Finding(
        ID,
        clip.place,
        "gradients are clipped inside `training_step`, before the framework makes the backward pass: it has no effect",
        facts={"clip_place": clip.place.text, "why": "framework"},
    )


def _out_of_place(events: list[Event], before: list[Event], clip: Event) -> Finding | None:
    last = next((event for event in reversed(before) if event.kind != "scaler"), None)
    after = [
        e
        for e in events[clip.at + 1 :]
        if e.path == clip.path and e.kind in {"backward", "step"} and _concerns(e, clip)
    ]
    if any(event.guards != clip.guards for event in (last, *after[:1]) if event is not None):
        return None
    if last is None:
        # Nothing before it at all: the first iteration, with the backward still to come.
        if not after or after[0].kind != "backward" or not clip.turns:
            return None
        return _at(clip, "before `backward()`", after[0])
    if last.kind == "step" and last.path == clip.path and last.facts.get("scaler") is None:
        return _at(clip, "after `step()`", last) if not (after and after[0].kind == "step") else None
    if last.kind in {"zero", "step"} and after and after[0].kind == "backward":
        return _at(clip, "before `backward()`", after[0])
    return None


def _at(clip: Event, where: str, other: Event) -> Finding:
    return Finding(
        ID,
        clip.place,
        f"gradients are clipped {where}: what the optimizer applies is never clipped",
        facts={"clip_place": clip.place.text, "why": where, "other_place": other.place.text},
        also=((other.place, f"`{other.kind}` of the same gradients"),),
    )


def _scaled(before: list[Event], clip: Event) -> Finding | None:
    """Clipped while still multiplied by the loss scale."""
    for event in reversed(before):
        if event.kind == "scaler" and event.facts.get("name") == "unscale_":
            return None
        if event.kind == "backward":
            value = tensor_of(event)
            if isinstance(value, Tensor) and "amp-scaled" in value.marks:
                return Finding(
                    ID,
                    clip.place,
                    "gradients are clipped while they are still multiplied by the loss scale: `unscale_` is missing",
                    facts={"clip_place": clip.place.text, "why": "before `unscale_`"},
                    also=((event.place, "scales the gradients"),),
                )
            return None
    return None
