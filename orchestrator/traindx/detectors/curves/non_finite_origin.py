"""Where the first NaN or Inf came from, as a monitor inside the training saw it."""

from __future__ import annotations

from collections.abc import Sequence

from traindx.contract import Fact, Signal, SignalKind
from traindx.detectors.citing import cite_line
from traindx.readers.quoting import quote_of
from traindx.readers.tables.monitor_events import Origin
from traindx.vocabulary.telemetry import GRADIENT, INPUT, MODULE, TORCH_CLASS, WEIGHT

_MEANINGS = {
    "origin-in-inputs": "the first NaN or Inf was in what the model was given",
    "origin-in-weights": "the first NaN or Inf was in a weight, before the forward pass",
    "origin-in-own-module": "the first NaN or Inf came out of the program's own code, from finite inputs and weights",
    "origin-in-layer": "the first NaN or Inf came out of a layer of PyTorch, from finite inputs and weights",
    "origin-in-gradient": "the first NaN or Inf was in a gradient, while all outputs were finite",
}
# That a NaN was seen inside and that the loss shows it are one fact.
SIGNALS = {name: SignalKind(meaning, group="non-finite") for name, meaning in _MEANINGS.items()}


def detect(origins: Sequence[Origin]) -> list[Signal]:
    """What broke first, at the earliest step that a monitor tells of."""
    if not origins:
        return []
    first = origins[0]
    name = _named(first)
    if name is None:
        return []
    claim = f"at step {first.step} {_claim(first)}"
    facts: dict[str, Fact] = {"origin": first.at, "origin_class": first.kind, "origin_step": f"step {first.step}"}
    place = cite_line(first.source, first.line, claim, quote_of(first.text))
    return [Signal(id=name, claim=claim, citations=[place], facts={**facts, "origin_text": claim})]


def _named(origin: Origin) -> str | None:
    layer = origin.kind.startswith(TORCH_CLASS)
    return {
        INPUT: "origin-in-inputs",
        WEIGHT: "origin-in-weights",
        GRADIENT: "origin-in-gradient",
        MODULE: "origin-in-layer" if layer else "origin-in-own-module",
    }.get(origin.where)


def _claim(origin: Origin) -> str:
    if origin.where == INPUT:
        return f"`{origin.at}`, which the model was given, {origin.found}"
    if origin.where == GRADIENT:
        return f"the gradient of `{origin.at}` ({origin.kind}) {origin.found} while all outputs are finite"
    if origin.where == WEIGHT:
        return f"`{origin.at}` ({origin.kind}) {origin.found} before the forward pass"
    return f"the output of `{origin.at}` ({origin.kind}) {origin.found}, from finite inputs and weights"
