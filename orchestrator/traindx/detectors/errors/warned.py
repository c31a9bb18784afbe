"""Warnings that name a fault although the run goes on."""

from __future__ import annotations

from collections.abc import Sequence

from traindx.contract import Fact, Signal
from traindx.definitions.rules import ErrorPattern
from traindx.detectors.citing import cite_line
from traindx.readers.model import LogError
from traindx.vocabulary.error_texts import error_patterns

SIGNALS = {one.name: one.means for one in error_patterns() if one.role == "warning"}


def detect(warnings: Sequence[LogError], patterns: Sequence[ErrorPattern] | None = None) -> list[Signal]:
    """The first warning of each family."""
    found: dict[str, Signal] = {}
    families = [one for one in (error_patterns() if patterns is None else patterns) if one.role == "warning"]
    for row in warnings:
        for family in families:
            told = family.found_in(row.text) if family.name not in found else None
            if told is None:
                continue
            times = f" ({row.count:,} times)" if row.count > 1 else ""
            facts: dict[str, Fact] = {**told, "warning": row.text, "warning_place": f"{row.source}:{row.line}"}
            place = cite_line(row.source, row.line, family.means, row.text)
            claim = f"{family.means}: {row.text}{times}"
            found[family.name] = Signal(id=family.name, claim=claim, citations=[place], facts=facts)
    return list(found.values())
