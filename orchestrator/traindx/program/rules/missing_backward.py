"""No backward pass.

## What it finds
An optimizer that steps in a loop in which a loss is computed from its parameters, while nothing in the program ever
calls a backward pass; a `training_step` that Lightning calls and that returns no loss.

## Why it matters
Every `.grad` stays None, `step()` skips all parameters, and the loss never moves.

## Silent
Backward passes of any kind anywhere in the program (also of frameworks, or through `autograd.grad`), and losses that
are handed to code outside the program.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from traindx.program.analysis import Analysis
from traindx.program.finding import Finding
from traindx.program.queries import handed_out, mentions, named_only, named_place, steps
from traindx.program.trace import Event
from traindx.program.values import Made, Place, Tensor

ID = "missing-backward"
_TRAINERS = {"Trainer", "Seq2SeqTrainer", "SFTTrainer", "DPOTrainer", "PPOTrainer", "RewardTrainer"}
_OF_TRAINER = {
    "_prepare_inputs", "compute_loss", "compute_loss_context_manager", "autocast_smart_context_manager", "log",
    "accelerator.backward", "optimizer.train", "model.train",
}  # fmt: skip
"""what a step may call on the trainer itself without a backward pass being made there"""
_OTHER_WAYS = ("manual_backward", "training_step", "closure", "getattr", "register_hook")
_ELSEWHERE = ("backward", "manual_backward", "grad", "jacobian", "training_step", "vjp", "value_and_grad", "gradient")


def check(analysis: Analysis) -> Iterator[Finding]:
    """Look at every optimizer that steps."""
    trace = analysis.trace
    yield from _overridden(analysis)
    yield from _returns_nothing(analysis)
    unreached = _passed_by(analysis)
    if not unreached and (mentions(analysis, *_ELSEWHERE) or trace.of("backward")):
        return
    for events in steps(trace).values():
        step = events[0]
        optimizer = step.subject
        if unreached and step.at >= trace.main:
            continue
        losses = [event for event in trace.of("loss") if event.grad and event.path == step.path]
        if not isinstance(optimizer, Made) or not losses or not step.turns or step.facts.get("managed"):
            continue
        prediction = losses[0].facts.get("prediction")
        given = isinstance(prediction, Tensor) and bool(prediction.graph)
        named = named_only(analysis, "backward")
        yield Finding(
            ID,
            losses[0].place,
            "the loss is computed and the optimizer steps, but no backward pass is ever made",
            proven=given and not handed_out(trace, optimizer),
            facts={"loss_place": losses[0].place.text, "step_place": step.place.text, **named_place(named)},
            also=(*named, (step.place, "steps without gradients")),
        )


def _passed_by(analysis: Analysis) -> bool:
    """Whether the program has a backward pass and goes past it: both sides of open conditions were followed to the end,
    and what was computed from a graph went to nothing unknown."""
    trace = analysis.trace
    if not analysis.whole or not mentions(analysis, "backward") or mentions(analysis, *_OTHER_WAYS):
        return False
    main = trace.events[: trace.main]
    if any(event.kind in {"backward", "autograd-grad", "framework-step"} for event in main):
        return False
    return not any(event.kind == "foreign" and _takes_graph(event) for event in main)


def _takes_graph(event: Event) -> bool:
    call = event.facts.get("call")
    return call is not None and any(part.graph for part in call.tensors)


def _returns_nothing(analysis: Analysis) -> Iterator[Finding]:
    """A `training_step` without `return`: Lightning goes on to the next batch, with no backward pass and no step."""
    done: set[str] = set()
    for event in analysis.trace.of("no-loss-returned"):
        losses = [row for row in analysis.trace.of("loss") if row.function == "training_step" and row.grad]
        if event.place.text in done or not losses:
            continue
        done.add(event.place.text)
        yield Finding(
            ID,
            losses[0].place,
            "`training_step` computes a loss and returns nothing: Lightning leaves out the backward pass and the step",
            facts={"loss_place": losses[0].place.text, "no_return": event.place.text},
            also=((event.place, "returns nothing"),),
        )


def _overridden(analysis: Analysis) -> Iterator[Finding]:
    """A subclass of Hugging Face's trainer whose own `training_step` leaves the backward pass out."""
    for unit in analysis.units:
        if "training_step" not in unit.source or "Trainer" not in unit.source:
            continue
        for cls in unit.nodes.of(ast.ClassDef):
            bases = {ast.unparse(base).rpartition(".")[2] for base in cls.bases}
            step = next((part for part in cls.body if getattr(part, "name", "") == "training_step"), None)
            if not bases & _TRAINERS or not isinstance(step, ast.FunctionDef):
                continue
            names = {getattr(node, "attr", getattr(node, "id", "")) for node in ast.walk(step)}
            called = {ast.unparse(node.func) for node in ast.walk(step) if isinstance(node, ast.Call)}
            inherits = any(name.startswith("super(") and name.endswith("training_step") for name in called)
            helped = {name.partition("self.")[2] for name in called if name.startswith("self.")} - _OF_TRAINER
            if names & {"backward", "manual_backward"} or inherits or helped or "loss" not in " ".join(names):
                continue
            returned = next((node for node in ast.walk(step) if isinstance(node, ast.Return)), step)
            place = Place(unit, returned)
            yield Finding(
                ID,
                place,
                f"`{cls.name}.training_step` replaces the trainer's own and makes no backward pass",
                facts={"loss_place": place.text, "step_place": Place(unit, step).text, "trainer_step": cls.name},
                also=((Place(unit, step), "the trainer calls this for every batch"),),
            )
