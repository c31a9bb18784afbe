"""Half precision."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from traindx.contract import Citation, Signal
from traindx.detectors.citing import quoted
from traindx.detectors.settings.lookup import cite_setting
from traindx.readers import CodeUnit, Run, Setting
from traindx.readers.code.syntax import name_of

_HALF = {"fp16", "16", "16-mixed", "float16", "half", "torch.float16", "torch.half", "f16", "fp16-mixed", "o1", "o2"}
_WHOLLY = {"16-true", "fp16-true", "pure_fp16", "o3"}
"""not mixed: nothing is kept in single precision"""


def precision(run: Run) -> list[Signal]:
    """Whether the run computes in fp16, and whether its weights are fp16 as well."""
    found = []
    half = next((row for row in run.settings if _is_half(row)), None)
    if half is not None:
        claim = f"`{half.key}` = {half.value}: the run computes in half precision"
        found.append(Signal(id="half-precision", claim=claim, citations=[cite_setting(run, half, claim)]))
    if half is not None and str(half.value).lower() in _WHOLLY:
        claim = f"`{half.key}` = {half.value}: weights and gradients themselves are fp16, without a scaler"
        found.append(Signal(id="weights-in-half", claim=claim, citations=[cite_setting(run, half, claim)]))
    elif half is not None or any("half-weights" in unit.traits for unit in run.code):
        found.extend(_weights_in_half(run, half))
    return found


def _weights_in_half(run: Run, half: Setting | None) -> list[Signal]:
    """fp16 everywhere: small updates are rounded away. Autocast and a scaler keep the weights in single precision."""
    code = [unit for unit in run.code if "training-loop" in unit.traits]
    if not code or any("amp" in unit.traits or "distributed" in unit.traits for unit in run.code):
        return []
    if any(unit.traits & {"transformers", "lightning", "keras"} for unit in code):
        return []
    if any(word in row.key.lower() for row in run.settings for word in ("scale", "master")):
        return []
    claim = f"`{half.key}` = {half.value}" if half is not None else "`.half()` is called on the model"
    claim += ", and the code has neither autocast nor a loss scaler: the weights themselves are fp16"
    places = [cite_setting(run, half, claim)] if half is not None else []
    return [Signal(id="weights-in-half", claim=claim, citations=places)]


def _is_half(setting: Setting) -> bool:
    key, value = setting.key.lower(), str(setting.value).lower()
    if key.endswith(("fp16", "half", "fp16.enabled")):
        return value in {"true", "1"}
    return any(word in key for word in ("precision", "dtype", "amp")) and value in _HALF | _WHOLLY


def clipping(run: Run, clip: Setting | None) -> list[Signal]:
    """Whether gradients are clipped; where not, the update that nothing precedes."""
    if clip is not None:
        claim = f"`{clip.key}` = {clip.value} in {clip.source}:{clip.line}"
        place = cite_setting(run, clip, claim)
        return [Signal(id="clipping-configured", claim=claim, citations=[place], facts={"clip": clip.value})]
    if not any("training-loop" in file.traits for file in run.code):
        return []
    places = [place for unit in run.code for place in _steps(run, unit)][:1]
    claim = "no gradient clipping in the config or in the training code"
    absent = Signal(id="clipping-absent", claim=claim, citations=places)
    recurrent = any("recurrent" in file.traits for file in run.code)
    claim = "a recurrent network, and no gradient clipping in config or code"
    return [absent, Signal(id="recurrent-unclipped", claim=claim, citations=places)] if recurrent else [absent]


def _steps(run: Run, unit: CodeUnit) -> Iterator[Citation]:
    """Where the weights are updated: what is missing before it belongs there."""
    calls = [node for node in ast.walk(unit.tree) if isinstance(node, ast.Call) and name_of(node.func) == "step"]
    for node in calls:
        owner = node.func.value if isinstance(node.func, ast.Attribute) else None
        if name_of(owner).lower().startswith("opt"):
            line = unit.file_line(node.lineno)
            quote = quoted(run, unit.path, line)
            claim = "the update, with no clipping before it"
            yield Citation(claim=claim, source=unit.path, locator=f"line {line}", quote=quote)
