"""Gradient clipping: configured, or absent where it belongs."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from traindx.artifacts import CodeUnit, Run, Setting
from traindx.artifacts.program.syntax import name_of
from traindx.contract import Citation, Signal
from traindx.curves.place import quoted
from traindx.curves.settings import cite_setting


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
