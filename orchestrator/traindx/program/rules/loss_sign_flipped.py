"""The objective is maximised.

## What it finds
A backward pass on the negative of a loss that is to be minimised, or on a log-probability that is to be maximised,
while an optimizer descends; the entropy of a policy that is added to its loss; `maximize=True` with such a loss; a
similarity where a loss asks for a distance.

## Why it matters
Every step makes the model worse: the loss falls without bound (negated) or the likelihood of the data does.

## Silent
Losses that are part of a difference or of several players' games (GAN, adversarial examples, gradient reversal), policy
gradients and negated similarities.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import Any, TypeGuard

from traindx.program.analysis import Analysis
from traindx.program.finding import Finding
from traindx.program.queries import class_of, is_true, steps, surely_reaches
from traindx.program.trace import Event, Trace, tensor_of
from traindx.program.values import Made, Place, Tensor
from traindx.readers.code.syntax import name_of

ID = "loss-sign-flipped"
_MEANT = re.compile(r"cost|loss|regret|penal|alpha|temp|coef|neg|minus", re.IGNORECASE)
"""weights that are meant to be small: a cost, an entropy coefficient"""
_CLAMPING = {"clamp", "clip", "clamp_", "clip_by_value"}
SAYS = ("proven", "suspected")
_MINIMISED = {"cross_entropy", "mse", "bce", "bce_logits", "l1", "smooth_l1", "nll", "ctc", "gaussian", "poisson"}


def check(analysis: Analysis) -> Iterator[Finding]:
    """Look at the sign of what every backward starts from."""
    trace = analysis.trace
    trains = [made for events in steps(trace).values() if isinstance(made := events[0].subject, Made)]
    alone = len({made.number for made in trains}) == 1
    yield from _likeness(trace, trains)
    yield from _differentiated(trace)
    for event in trace.of("backward"):
        value = tensor_of(event)
        if value is not None and value.loss is None and "logprob" in value.marks and value.sign > 0 and trains:
            yield Finding(
                ID,
                event.place,
                "the optimizer descends on a log-probability: every step makes the data less likely",
                proven=alone and not any(is_true(made.keywords.get("maximize")) for made in trains),
                facts={"loss_place": event.place.text, "backward_place": event.place.text},
            )
        if value is not None and "grows" in value.marks and value.sign >= 0 and trains:
            yield from _policy(analysis, event, value, trains)
        if value is not None and value.loss is None and value.sign > 0 and value.act == "linear":
            yield from _critic(analysis, event, value)
        if value is not None and "entropy-added" in value.marks and trains:
            yield from _entropy(analysis, event, value)
        if value is None or value.loss is None or value.loss.kind not in _MINIMISED:
            continue
        turned = any(is_true(made.keywords.get("maximize")) for made in trains)
        flipped = value.sign < 0
        if flipped == turned or not trains:
            continue
        place = value.loss.place if flipped else next(made.place for made in trains if made.place) or event.place
        what = f"the {value.loss.kind.replace('_', ' ')} loss is negated" if flipped else "`maximize=True` is set"
        reached = any(surely_reaches(event, made) for made in trains)
        yield Finding(
            ID,
            place,
            f"{what} before the optimizer descends on it: every step makes the model worse",
            proven=alone and reached,
            facts={
                "loss_place": value.loss.place.text,
                "backward_place": event.place.text,
                "optimizer": class_of(trains[0]),
            },
            also=((event.place, "the backward pass of it"),),
        )


def _differentiated(trace: Trace) -> Iterator[Finding]:
    """JAX: the gradient of a negated loss, which an optimizer of Optax descends on."""
    for event in trace.of("jax-gradient") if trace.of("optax") else ():
        value = tensor_of(event)
        if value is not None and value.loss is not None and value.loss.kind in _MINIMISED and value.sign < 0:
            yield Finding(
                ID,
                value.loss.place,
                f"the {value.loss.kind.replace('_', ' ')} loss is negated before its gradient is taken: every step"
                " makes the model worse",
                facts={"loss_place": value.loss.place.text, "backward_place": event.place.text, "optimizer": "optax"},
                also=((event.place, "the gradient of it"),),
            )
            return


def _likeness(trace: Trace, trains: list[Made]) -> Iterator[Finding]:
    """A triplet loss whose distance is a similarity: it pulls the negatives close and pushes the positives away."""
    done: set[str] = set()
    for event in trace.of("likeness-as-distance"):
        turned = any(is_true(made.keywords.get("maximize")) for made in trains)
        if event.place.text in done or turned or not trains or not event.grad:
            continue
        done.add(event.place.text)
        backward = next((row.place for row in trace.of("backward")), event.place)
        yield Finding(
            ID,
            event.place,
            "the distance of this loss is a similarity, which is large for what is alike: the loss pulls the negatives"
            " close and pushes the positives away",
            proven=bool(trace.of("backward")),
            facts={
                "loss_place": event.place.text,
                "backward_place": backward.text,
                "optimizer": class_of(trains[0]),
            },
            also=((backward, "the backward pass of it"),),
        )


def _critic(analysis: Analysis, event: Event, value: Tensor) -> Iterator[Finding]:
    """A policy that is trained to make the estimate of its own return small: the mean of a critic's output as it is."""
    trace = analysis.trace
    after = next((row for row in trace.events[event.at :] if row.kind == "step" and row.path == event.path), None)
    made = after.subject if after is not None else None
    if not isinstance(made, Made) or not made.known or is_true(made.keywords.get("maximize")):
        return
    own, others = value.deps & made.layers, value.deps - made.layers
    fitted = [
        row.facts["prediction"].deps
        for row in trace.of("loss")
        if row.facts["kind"] in {"mse", "smooth_l1", "l1"} and isinstance(row.facts.get("prediction"), Tensor)
    ]
    # The other network learns to predict a target from what the first one, or a memory, did.
    judged = any(others & deps and not own & deps for deps in fitted)
    if not own or not others or not judged:
        return
    place = _statement(event)
    if re.search(r"cost|regret|risk|energy", place.quote, re.IGNORECASE):
        return
    yield Finding(
        ID,
        place,
        "the policy is trained on the critic's estimate with a plus sign: every step makes its return smaller",
        facts={"policy_place": place.text, "backward_place": event.place.text, "optimizer": class_of(made)},
        also=((event.place, "the backward pass of it"),),
    )


def _statement(event: Event) -> Place:
    """The assignment that gives what the backward starts from its value; the backward itself where it has none."""
    node = event.place.node
    name = node.func.value.id if _is_method(node) else ""
    found = [
        part
        for part in event.place.unit.nodes.of(ast.Assign)
        if part.lineno <= event.place.line
        and any(isinstance(target, ast.Name) and target.id == name for target in part.targets)
    ]
    return Place(event.place.unit, max(found, key=lambda part: part.lineno)) if found and name else event.place


def _is_method(node: ast.AST) -> TypeGuard[Any]:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and isinstance(node.func.value, ast.Name)


def _policy(analysis: Analysis, event: Event, value: Tensor, trains: list[Made]) -> Iterator[Finding]:
    """Log-probabilities of actions, weighted by how good they were, that the optimizer makes smaller."""
    terms = [
        row
        for row in analysis.trace.events[: event.at]
        if row.kind == "grows" and isinstance(row.subject, Tensor) and row.subject.deps & value.deps
    ]
    if not terms or any(is_true(made.keywords.get("maximize")) for made in trains):
        return
    divergence = terms[-1].facts["what"] == "kl"
    if not divergence and _MEANT.search(_weights(terms[-1].place.node)):
        return
    place = terms[-1].place if divergence else _joined(terms[-1].place)
    claim = (
        "this is the negative of the KL divergence, and it is added to the loss: every step drives it further away"
        if divergence
        else "log-probabilities are weighted and go into the loss with a plus sign: every step makes what was good less"
        " likely"
    )
    yield Finding(
        ID,
        place,
        claim,
        facts={"policy_place": place.text, "backward_place": event.place.text, "optimizer": class_of(trains[0])},
        also=((event.place, "the backward pass of it"),),
    )


def _entropy(analysis: Analysis, event: Event, value: Tensor) -> Iterator[Finding]:
    """The entropy of a policy that the optimizer makes smaller, beside log-probabilities that are weighted."""
    before = analysis.trace.events[: event.at]
    added = [row for row in before if row.kind == "entropy-added" and row.path == event.path]
    policy = [row for row in before if row.kind == "grows" and row.facts["what"] == "policy" and row.path == event.path]
    if not added or not policy:
        return
    place = added[-1].place
    yield Finding(
        ID,
        place,
        "the entropy of the policy is added to a loss that is minimised: every step makes the policy explore less",
        facts={"policy_place": place.text, "backward_place": event.place.text, "optimizer": ""},
        also=((event.place, "the backward pass of it"),),
    )


def _weights(product: ast.AST) -> str:
    """The text of a product without the bounds of what is clamped in it: a `clip_coef` weights nothing."""
    bounds = {
        id(part)
        for node in ast.walk(product)
        if isinstance(node, ast.Call) and name_of(node.func) in _CLAMPING
        for given in (*node.args[_owned(node) :], *(key.value for key in node.keywords))
        for part in ast.walk(given)
    }
    told = [node for node in ast.walk(product) if id(node) not in bounds]
    return " ".join(str(node.value) if isinstance(node, ast.Constant) else name_of(node) for node in told)


def _owned(node: ast.Call) -> int:
    """How many arguments of a clamp are what is clamped: one of `torch.clamp(x, 0, 1)`, none of `x.clamp(0, 1)`."""
    func = node.func
    return int(isinstance(func, ast.Name) or name_of(getattr(func, "value", None)) in {"torch", "np", "numpy", "F"})


def _joined(term: Place) -> Place:
    """Where the lower of a term and its clipped twin is taken, `torch.min(one, two)`; the term itself if nowhere."""
    nodes = term.unit.nodes
    name = next(
        (
            name_of(node.targets[0])
            for node in nodes.of(ast.Assign)
            if any(part is term.node for part in ast.walk(node.value))
        ),
        "",
    )
    found = [
        node
        for node in nodes.of(ast.Call)
        if name_of(node.func) in {"min", "minimum"}
        and node.lineno > term.line
        and any(isinstance(part, ast.Name) and part.id == name for given in node.args for part in ast.walk(given))
    ]
    return Place(term.unit, min(found, key=lambda node: node.lineno)) if name and found else term
