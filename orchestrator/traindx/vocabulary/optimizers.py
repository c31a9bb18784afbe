"""Optimizers by name, wherever a run says which one it uses."""

from __future__ import annotations

import re

KNOWN = r"adamw?|adamax|adafactor|adagrad|adadelta|rmsprop|lamb|lars|lion|muon|nadam|radam|sgd|shampoo|soap"
KNOWN_OPTIMIZERS = re.compile(KNOWN, re.IGNORECASE)
_TOLD = re.compile(
    rf"\b(?:optimi[sz]er|opt|using|with)\b[\s:=`'\"]{{1,4}}(?:an?\s|the\s)?(?:fused\s)?(?:\w{{1,20}}\.){{0,3}}({KNOWN})\b"
    rf"|\b({KNOWN})\s*\(|\b({KNOWN})\s+optimi[sz]er\b",
    re.IGNORECASE,
)
_ARGUMENTS = re.compile(r"\s*\(([^()]{1,400})")


def optimizer_told(text: str) -> tuple[str, str] | None:
    """The optimizer that a printed line names, and what stands in brackets behind it: `SGD(lr=0.1, momentum=0.9)`."""
    found = _TOLD.search(text)
    if found is None:
        return None
    name = next(group for group in found.groups() if group)
    behind = _ARGUMENTS.match(text, found.end() - text[found.start() : found.end()].endswith("("))
    return name, behind[1] if behind else ""
