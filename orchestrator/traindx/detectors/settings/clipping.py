"""Whether gradients are clipped."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from traindx.contract import Citation, Signal
from traindx.detectors.citing import cite_line, cite_setting
from traindx.readers.code.codeunit import CodeUnit
from traindx.readers.code.syntax import name_of
from traindx.readers.model import Setting

SIGNALS = {
    "clipping-configured": "gradient clipping is configured",
    "recurrent-unclipped": "a recurrent network is trained without gradient clipping",
    "clipping-absent": "no gradient clipping is configured anywhere in config or code",
}


def detect(clip: Setting | None, code: Sequence[CodeUnit]) -> list[Signal]:
    """Whether gradients are clipped; where not, the update that nothing precedes."""
    if clip is not None:
        claim = f"`{clip.key}` = {clip.value} in {clip.source}:{clip.line}"
        place = cite_setting(clip, claim)
        return [Signal(id="clipping-configured", claim=claim, citations=[place], facts={"clip": clip.value})]
    if not any("training-loop" in file.traits for file in code):
        return []
    places = [place for unit in code for place in _steps(unit)][:1]
    claim = "no gradient clipping in the config or in the training code"
    absent = Signal(id="clipping-absent", claim=claim, citations=places)
    recurrent = any("recurrent" in file.traits for file in code)
    claim = "a recurrent network, and no gradient clipping in config or code"
    return [absent, Signal(id="recurrent-unclipped", claim=claim, citations=places)] if recurrent else [absent]


def _steps(unit: CodeUnit) -> Iterator[Citation]:
    """Where the weights are updated: what is missing before it belongs there."""
    calls = [node for node in ast.walk(unit.tree) if isinstance(node, ast.Call) and name_of(node.func) == "step"]
    for node in calls:
        owner = node.func.value if isinstance(node.func, ast.Attribute) else None
        if name_of(owner).lower().startswith("opt"):
            yield cite_line(unit.path, unit.file_line(node.lineno), "the update, with no clipping before it")
