"""Warnings that name a fault by themselves, whatever came of it later."""

from __future__ import annotations

from collections.abc import Sequence

from traindx.contract import Fact, Signal
from traindx.definitions.rules import ErrorPattern
from traindx.detectors.errors.telling import told
from traindx.readers.code.codeunit import CodeUnit
from traindx.readers.model import LogError
from traindx.vocabulary.error_texts import error_patterns

SIGNALS = {one.name: one.means for one in error_patterns() if one.role == "warning"}


def detect(
    printed: Sequence[LogError], code: Sequence[CodeUnit], patterns: Sequence[ErrorPattern] | None = None
) -> list[Signal]:
    """Each fault once, where it is first spoken of."""
    families = [one for one in (error_patterns() if patterns is None else patterns) if one.role == "warning"]
    found: dict[str, Signal] = {}
    for row in printed:
        for family in families:
            facts = None if family.name in found else family.found_in(row.text)
            if facts is not None:
                named: dict[str, Fact] = {**facts, "warning": row.text, "warning_place": f"{row.source}:{row.line}"}
                found[family.name] = told(family.name, family.means, row, code, named)
    return list(found.values())
