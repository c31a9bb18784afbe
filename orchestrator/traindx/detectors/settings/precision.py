"""Half precision."""

from __future__ import annotations

from collections.abc import Sequence

from traindx.contract import Signal
from traindx.detectors.citing import cite_line, cite_setting
from traindx.program.analysis import Analysis
from traindx.readers.code.codeunit import CodeUnit
from traindx.readers.model import Setting

SIGNALS = {
    "weights-in-half": "the weights themselves are fp16, with neither autocast nor a loss scaler",
    "half-precision": "the run computes in fp16",
    "weights-in-bfloat16": "the optimizer updates weights that are bf16 themselves, eight bits of precision",
}

_HALF = {"fp16", "16", "16-mixed", "float16", "half", "torch.float16", "torch.half", "f16", "fp16-mixed", "o1", "o2"}
_WHOLLY = {"16-true", "fp16-true", "pure_fp16", "o3"}
"""not mixed: nothing is kept in single precision"""


def detect(settings: Sequence[Setting], code: Sequence[CodeUnit]) -> list[Signal]:
    """Whether the run computes in fp16, and whether its weights are fp16 as well."""
    found = []
    half = half_precision(settings)
    if half is not None:
        claim = f"`{half.key}` = {half.value}: the run computes in half precision"
        found.append(Signal(id="half-precision", claim=claim, citations=[cite_setting(half, claim)]))
    if half is not None and str(half.value).lower() in _WHOLLY:
        claim = f"`{half.key}` = {half.value}: weights and gradients themselves are fp16, without a scaler"
        found.append(Signal(id="weights-in-half", claim=claim, citations=[cite_setting(half, claim)]))
    elif half is not None or any("half-weights" in unit.traits for unit in code):
        found.extend(_weights_in_half(settings, code, half))
    return found


def half_precision(settings: Sequence[Setting]) -> Setting | None:
    """The setting that asks for fp16."""
    return next((row for row in settings if _is_half(row)), None)


def of_program(analyses: Sequence[Analysis]) -> list[Signal]:
    """Weights that the program turns into 16 bits and then trains: autocast keeps them in single precision."""
    for analysis in analyses:
        trained: frozenset[int] = frozenset().union(*(made.layers for made in analysis.trace.optimizers))
        steps = analysis.trace.of("step")
        for event in analysis.trace.of("cast"):
            if not event.facts["layers"] & trained or not steps or any("scaler" in step.facts for step in steps):
                continue
            name = "weights-in-half" if event.facts["dtype"] == "float16" else "weights-in-bfloat16"
            claim = f"the weights themselves become {event.facts['dtype']}, and the optimizer updates them as such"
            unit = event.place.unit
            place = cite_line(unit.path, unit.file_line(event.place.line), claim, event.place.quote)
            return [Signal(id=name, claim=claim, citations=[place], facts={"cast_place": event.place.text})]
    return []


def _weights_in_half(settings: Sequence[Setting], code: Sequence[CodeUnit], half: Setting | None) -> list[Signal]:
    """fp16 everywhere: small updates are rounded away. Autocast and a scaler keep the weights in single precision."""
    loops = [unit for unit in code if "training-loop" in unit.traits]
    if not loops or any("amp" in unit.traits or "distributed" in unit.traits for unit in code):
        return []
    if any(unit.traits & {"transformers", "lightning", "keras"} for unit in loops):
        return []
    if any(word in row.key.lower() for row in settings for word in ("scale", "master")):
        return []
    claim = f"`{half.key}` = {half.value}" if half is not None else "`.half()` is called on the model"
    claim += ", and the code has neither autocast nor a loss scaler: the weights themselves are fp16"
    places = [cite_setting(half, claim)] if half is not None else []
    return [Signal(id="weights-in-half", claim=claim, citations=places)]


def _is_half(setting: Setting) -> bool:
    key, value = setting.key.lower(), str(setting.value).lower()
    if key.endswith(("fp16", "half", "fp16.enabled")):
        return value in {"true", "1"}
    return any(word in key for word in ("precision", "dtype", "amp")) and value in _HALF | _WHOLLY
