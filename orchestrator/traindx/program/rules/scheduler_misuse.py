"""The scheduler is stepped at the wrong rate, or before the optimizer.

## What it finds
A schedule whose length is given in epochs and that steps once per batch; one whose length is given in batches and that
steps once per epoch; one that counts updates of accumulated gradients and steps in every batch; a warm-up that is
longer than the run, because it counts epochs; a schedule as long as one epoch that steps through all of them; a
scheduler that steps before the optimizer in every iteration; `ReduceLROnPlateau` that takes the rise of an accuracy, or
the fall of a loss, for no progress.

## Why it matters
A schedule meant for the whole run is over within the first epoch, or hardly begins.

## Silent
Lengths that cannot be told apart, schedules that are stepped where their unit ends, warm-ups in steps, cycles of one
epoch, metrics whose sign is turned.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import replace

from traindx.program.analysis import Analysis
from traindx.program.finding import Finding
from traindx.program.queries import class_of
from traindx.program.schedule_lengths import is_one_epoch
from traindx.program.trace import Event, Loop, Trace
from traindx.program.update_lengths import counted_in_updates
from traindx.program.values import Made, Place, Plain, Value, number, text

ID = "scheduler-misuse"
SAYS = ("proven", "suspected")
_LENGTH = {
    "CosineAnnealingLR": (1, "T_max"), "OneCycleLR": (2, "total_steps"), "LinearLR": (3, "total_iters"),
    "PolynomialLR": (1, "total_iters"), "StepLR": (1, "step_size"), "MultiStepLR": (1, "milestones"),
    "CosineAnnealingWarmRestarts": (1, "T_0"), "get_linear_schedule_with_warmup": (2, "num_training_steps"),
    "get_cosine_schedule_with_warmup": (2, "num_training_steps"),
}  # fmt: skip
_RISES = {"acc", "accuracy", "f1", "auc", "auroc", "map", "miou", "iou", "dice", "bleu", "r2", "reward", "top1"}
_FALLS = {"loss", "losses", "error", "err", "mse", "mae", "rmse", "nll", "ppl", "perplexity", "wer", "cer"}
_BY_STEP = {"OneCycleLR", "CyclicLR", "get_linear_schedule_with_warmup", "get_cosine_schedule_with_warmup"}


def check(analysis: Analysis) -> Iterator[Finding]:
    """Look at where every scheduler steps."""
    trace = analysis.trace
    training = {id(event.loop.node) for event in trace.of("backward") if event.loop is not None}
    done: set[int] = set()
    for event in trace.of("framework-schedule"):
        found = _declared(event) or _plateau_declared(event)
        if found is not None and id(event.place.node) not in done:
            done.add(id(event.place.node))
            yield found
    for event in trace.of("schedule"):
        made = event.subject
        if not isinstance(made, Made) or not event.turns or id(event.place.node) in done:
            continue
        found = (
            _rate(made, event, training, trace)
            or _in_updates(made, event, trace)
            or _one_epoch_long(made, event, training)
            or _plateau(made, event)
            or _early(trace.events, event)
        )
        if found is not None:
            done.add(id(event.place.node))
            yield found


def _rate(made: Made, event: Event, training: set[int], trace: Trace) -> Finding | None:
    kind = class_of(made)
    if (
        (kind not in _LENGTH and kind != "SequentialLR")
        or event.loop is None
        or made.place is None
        or len(event.turns) < 1
    ):
        return None
    at, name = _LENGTH.get(kind, (-1, ""))
    length = made.argument(at, name)
    per_batch = id(event.loop.node) in training and len(event.turns) > 1
    # Where it steps per batch as well, this one is for the batches that are left over.
    left_over = any(row.subject is made and id(row.loop.node) in training for row in trace.of("schedule") if row.loop)
    per_epoch = id(event.loop.node) not in training and not left_over and _holds_training(event.loop, trace)
    counted = "batches" if _in_batches(made, length) else ""
    epochs = _epochs(event.turns[0].loop)
    if per_batch and not event.guards and not counted and _in_epochs(length, epochs, kind):
        return _finding(made, event, kind, name, "in epochs", "once per batch")
    if per_epoch and (counted or (kind in _BY_STEP and counted)):
        return _finding(made, event, kind, name, "in batches", "once per epoch")
    if per_epoch and _never_warm(made, epochs):
        return _finding(made, event, kind, "warm-up", "in batches", "once per epoch")
    return None


def _in_updates(made: Made, event: Event, trace: Trace) -> Finding | None:
    """A length in updates of an optimizer that accumulates, stepped in every batch."""
    every = counted_in_updates(event, trace)
    kind = class_of(made)
    if not every:
        return None
    return _finding(made, event, kind, "length", f"in updates (of `{every}` batches each)", "once per batch")


def _one_epoch_long(made: Made, event: Event, training: set[int]) -> Finding | None:
    """A decay to zero over the batches of one epoch, stepped in every batch of several."""
    kind = class_of(made)
    if kind not in _BY_STEP or not kind.startswith("get_") or event.loop is None or len(event.turns) < 2:
        return None
    at, name = _LENGTH[kind]
    if id(event.loop.node) not in training or event.guards or not is_one_epoch(made, at, name, event.loop):
        return None
    epochs = number(_epochs(event.turns[0].loop))
    if epochs is not None and epochs <= 1:
        return None
    return _finding(made, event, kind, name, "for one epoch", "in all of them")


def _declared(event: Event) -> Finding | None:
    """A scheduler that a Lightning module hands over: its length in epochs and `interval: step`, or the reverse."""
    made = event.subject
    kind = class_of(made) if isinstance(made, Made) else ""
    if not isinstance(made, Made) or made.place is None:
        return None
    if event.facts["interval"] != "step" and _never_warm(made, event.facts["epochs"]):
        return _finding(made, _interval(event), kind, "warm-up", "in batches", "once per epoch")
    if kind not in _LENGTH:
        return None
    at, name = _LENGTH[kind]
    length = made.argument(at, name)
    told = getattr(length, "name", "").lower()
    by_step = event.facts["interval"] == "step"
    in_epochs = "epoch" in told and "step" not in told and not _in_batches(made, length)
    in_epochs = in_epochs or (not _in_batches(made, length) and _in_epochs(length, event.facts["epochs"], kind))
    in_steps = _in_batches(made, length) or told.endswith(("estimated_stepping_batches", "total_steps", "max_steps"))
    if by_step and in_epochs and kind not in _BY_STEP:
        return _finding(made, _interval(event), kind, name, "in epochs", "once per batch")
    if not by_step and in_steps and not in_epochs:
        return _finding(made, _interval(event), kind, name, "in batches", "once per epoch")
    return None


def _plateau(made: Made, event: Event) -> Finding | None:
    """`ReduceLROnPlateau(mode="min")` that is stepped with an accuracy, or the reverse."""
    node = event.place.node
    given = node.args[0] if isinstance(node, ast.Call) and node.args else None
    given = given or next((part.value for part in getattr(node, "keywords", ()) if part.arg == "metrics"), None)
    if not isinstance(given, ast.Name | ast.Attribute | ast.Subscript):
        return None
    return _wrong_way(made, event, ast.unparse(given))


def _plateau_declared(event: Event) -> Finding | None:
    monitor = event.facts["monitor"]
    if not monitor or not isinstance(event.subject, Made):
        return None
    return _wrong_way(event.subject, replace(event, place=event.subject.place or event.place), monitor)


def _wrong_way(made: Made, event: Event, metric: str) -> Finding | None:
    if class_of(made) != "ReduceLROnPlateau" or made.place is None or "**" in made.keywords:
        return None
    told = made.argument(1, "mode")
    mode = "min" if told is None else text(told)
    words = set(re.split(r"[^a-z0-9]+", metric.lower()))
    rises, falls = bool(words & _RISES), bool(words & _FALLS)
    if rises is falls or mode not in {"min", "max"} or (mode == "max") is rises:
        return None
    metric = metric.strip()
    way = "a rise" if rises else "a fall"
    return Finding(
        ID,
        event.place,
        f'`ReduceLROnPlateau` looks at `{metric}` with `mode="{mode}"`: {way} of it counts as no progress',
        facts={
            "schedule_kind": "ReduceLROnPlateau",
            "schedule_place": made.place.text,
            "schedule_unit": f"{way} of `{metric}` as no progress",
            "schedule_rate": f'with `mode="{mode}"`',
            "schedule_made": made.place.text,
        },
        also=((made.place, "made with this mode"),) if made.place.text != event.place.text else (),
    )


def _interval(event: Event) -> Event:
    """The event, placed where the interval is written."""
    for node in ast.walk(event.place.node):
        keys = node.keys if isinstance(node, ast.Dict) else []
        for at, key in enumerate(keys):
            if isinstance(key, ast.Constant) and key.value == "interval" and isinstance(node, ast.Dict):
                return replace(event, place=Place(event.facts["unit"], node.values[at]))
    returned = next((node for node in ast.walk(event.place.node) if isinstance(node, ast.Return)), event.place.node)
    return replace(event, place=Place(event.facts["unit"], returned))


def _finding(made: Made, event: Event, kind: str, name: str, unit: str, rate: str) -> Finding:
    where = made.place.text if made.place is not None else ""
    return Finding(
        ID,
        event.place,
        f"`{kind}` counts its `{name}` {unit} and is stepped {rate}",
        facts={
            "schedule_kind": kind,
            "schedule_place": event.place.text,
            "schedule_unit": unit,
            "schedule_rate": rate,
            "schedule_made": where,
        },
        also=((made.place, f"`{name}` is given {unit}"),) if made.place is not None else (),
    )


def _never_warm(made: Made, epochs: Value | None) -> bool:
    """Whether the warm-up of a schedule that steps once per epoch is longer than all epochs there are."""
    most = number(epochs) if epochs is not None else None
    length = _warm_up(made)
    return most is not None and length is not None and length > most > 0


def _warm_up(made: Made) -> float | None:
    """How many of its steps a schedule rises for, where that is a number that is known."""
    kind = class_of(made)
    if kind == "SequentialLR":
        parts = getattr(made.argument(1, "schedulers"), "items", [])
        first = parts[0] if parts and isinstance(parts[0], Made) else None
        ends = getattr(made.argument(2, "milestones"), "items", [])
        rises = first is not None and _warm_up(first) is not None
        return number(ends[0]) if rises and ends else None
    if kind.endswith("_with_warmup"):
        given = made.argument(1, "num_warmup_steps")
        return number(given) if given is not None else None
    if kind != "LinearLR":
        return None
    start, length = made.argument(1, "start_factor"), made.argument(3, "total_iters")
    begins = number(start) if start is not None else 1 / 3
    return number(length) if length is not None and begins is not None and begins < 1 else None


def _holds_training(loop: Loop, trace: Trace) -> bool:
    """Whether a loop over batches with a backward runs inside a loop, be it in a function that is called there."""
    return any(loop in [turn.loop for turn in event.turns[:-1]] for event in trace.of("backward"))


def _epochs(loop: Loop) -> Value | None:
    source = loop.source
    return source.fields.get("end") if isinstance(source, Made) and source.kind == "range" else None


def _in_batches(made: Made, length: Value | None) -> bool:
    if isinstance(length, Plain) and length.counts == "batches":
        return True
    per = made.keywords.get("steps_per_epoch")
    return isinstance(per, Plain) and (per.counts == "batches" or (number(per) or 0) > 1)


def _in_epochs(length: Value | None, epochs: Value | None, kind: str) -> bool:
    """Whether a length is that of the loop over epochs: the same variable or the same number."""
    if kind in _BY_STEP:
        told = getattr(length, "name", "")
        return "epoch" in told.lower() and told == getattr(epochs, "name", "")
    if isinstance(length, Plain) and isinstance(epochs, Plain):
        same_name = bool(length.name) and length.name == epochs.name
        same = length.value is not None and length.value == epochs.value and (number(length) or 0) > 1
        if same_name or (same and kind in {"CosineAnnealingLR", "LinearLR", "PolynomialLR"}):
            return True
        if kind in {"StepLR"} and number(length) is not None and number(epochs) is not None:
            return (number(length) or 0) < (number(epochs) or 0)
    if kind == "MultiStepLR" and epochs is not None and number(epochs) is not None:
        last = [number(part) for part in getattr(length, "items", [])]
        known = [part for part in last if part is not None]
        return bool(known) and max(known) < (number(epochs) or 0)
    return False


def _early(events: list[Event], event: Event) -> Finding | None:
    """Stepped before the optimizer in the first iteration."""
    made = event.subject
    optimizer = made.argument(0, "optimizer") if isinstance(made, Made) else None
    if optimizer is None or any(
        e.kind in {"step", "foreign"} for e in events[: event.at] if e.kind == "step" or e.path == event.path
    ):
        return None
    later = next(
        (
            e
            for e in events[event.at :]
            if e.kind == "step" and e.subject is optimizer and e.path[: len(event.path)] == event.path
        ),
        None,
    )
    if later is None:
        return None
    return Finding(
        ID,
        event.place,
        "the scheduler steps before the optimizer: the first value of the schedule is skipped",
        proven=False,
        facts={"schedule_place": event.place.text},
        also=((later.place, "the optimizer steps afterwards"),),
    )
