"""Weights that were restored and do not fit: an error about a parameter's shape after the log told of a checkpoint."""

from __future__ import annotations

import re

from traindx.contract import Citation, Fact, Signal
from traindx.detectors.citing import cite_line
from traindx.detectors.errors.root import Reading
from traindx.readers.model import Excerpt, Stretch
from traindx.readers.quoting import quote_of

SIGNALS = {"restored-weights-misfit": "the shape of a parameter does not fit, and the weights came from a checkpoint"}
BEFORE = 400
"""lines before the error in which the log may tell of a checkpoint"""
_PARAMETER = re.compile(
    r"ScopeParamShapeError|Initializer expected to generate shape|not compatible with provided weight shape"
    r"|Cannot assign value to variable .{0,200}Shape mismatch|Shape of (?:variable|parameter) .{0,120}does not match"
    r"|(?:parameter|param|variable|weight) \S{1,120} (?:has|have|with|of) shape .{0,80}(?:checkpoint|but|expected)",
    re.IGNORECASE,
)
_RESTORED = re.compile(
    r"\b(?:restor(?:ed?|ing)|load(?:ed|ing)?|resum(?:ed?|ing)|initiali[sz](?:ed|ing) from|warm[- ]start\w*)\b.{0,120}"
    r"(?:\b(?:checkpoints?|ckpt\w*|weights|params|parameters|leaves|pretrained|state)\b|\.(?:ckpt|msgpack|h5|keras|npz|pth?)\b)",
    re.IGNORECASE,
)


def wanted_lines(cause: Reading | None) -> Stretch | None:
    """The lines before an error about the shape of a parameter; None for any other."""
    if cause is None or not _PARAMETER.search(cause.row.text):
        return None
    return Stretch(cause.row.source, max(1, cause.row.line - BEFORE), cause.row.line - 1)


def detect(cause: Reading, before: Excerpt, behind: list[Citation]) -> list[Signal]:
    """The last line before the error that tells of a restored checkpoint."""
    said = [(number, text) for number, text in before.numbered() if _RESTORED.search(text[:600])]
    if not said:
        return []
    number, text = said[-1]
    claim = f"the weights were restored, and a parameter does not fit them: {cause.row.text[:160]}"
    places = [
        cite_line(cause.row.source, cause.row.line, claim, cause.row.text),
        cite_line(before.source, number, "the weights come from here", quote_of(text)),
        *behind,
    ]
    facts: dict[str, Fact] = {"error": cause.row.text, "restored_place": f"{before.source}:{number}"}
    return [Signal(id="restored-weights-misfit", claim=claim, citations=places, facts=facts)]
