"""The texts of errors: `prompts/error_patterns/` is their only home, everything else asks here."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

from traindx.definitions.rules import ErrorPattern, load_rules, without_names


@cache
def error_patterns(project: Path | None = None) -> tuple[ErrorPattern, ...]:
    """Every pattern, ours and the project's, in the order in which they may name an error."""
    return tuple(sorted(load_rules(ErrorPattern, project), key=lambda one: (one.rank, one.name)))


@cache
def error_by_itself() -> re.Pattern[str]:
    """Texts that make a line an error without a traceback or a level."""
    return re.compile("|".join(without_names(text) for one in error_patterns() for text in one.alone))
