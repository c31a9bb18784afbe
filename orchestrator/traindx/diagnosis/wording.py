"""Turning a failure mode and the facts at hand into sentences with numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING

from traindx.contract import Fact, Fix
from traindx.diagnosis.catalog import FailureMode
from traindx.diagnosis.checks.fill import filled, with_limits

if TYPE_CHECKING:
    from jinja2 import Environment


def issue_for(mode: FailureMode, facts: Mapping[str, Fact]) -> str:
    """The failure in one sentence, with as many of the facts as its wording can use."""
    return _first_that_fits(mode.issue, facts)


def fix_for(mode: FailureMode, facts: Mapping[str, Fact]) -> Fix:
    """The fix with concrete values; its diff is made where the run's files are known (`changes`)."""
    facts = with_limits(mode, facts)
    return Fix(
        summary=_first_that_fits(mode.fix.summary, facts),
        expected=_first_that_fits(mode.fix.expected, facts),
        verify=_first_that_fits(mode.fix.verify, facts),
        fallback=_first_that_fits(mode.fix.fallback, facts),
        prevention=_first_that_fits(mode.fix.prevention, facts) if mode.fix.prevention else "",
        checks=filled(mode, facts),
    )


def first_value(alternatives: Sequence[str], facts: Mapping[str, Fact]) -> str:
    """A value from the first alternative whose facts are all known and that gives one; empty where none does."""
    from jinja2 import TemplateError

    for wording in alternatives:
        try:
            said = sentences().from_string(wording).render(facts).strip()
        except (TemplateError, TypeError, ValueError, ArithmeticError):
            continue
        if said:
            return said
    return ""


def compile_wording() -> None:
    """Make ready what sentences are written with."""
    sentences().from_string("")


def fact_text(value: object) -> object:
    """Numbers as a person writes them: four significant digits, no trailing zeros."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return value
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def _first_that_fits(alternatives: Sequence[str], facts: Mapping[str, Fact]) -> str:
    from jinja2 import UndefinedError

    for wording in alternatives:
        try:
            said = sentences().from_string(wording).render(facts).strip()
            return said if said.endswith((".", "!", "?", ":")) else f"{said}."
        except UndefinedError:
            continue
    raise LookupError(f"the last wording must need no facts: {alternatives[-1]!r}")


@cache
def sentences() -> Environment:
    """What texts with facts in them are written with: strict about names, numbers as people write them."""
    from jinja2 import StrictUndefined
    from jinja2.sandbox import SandboxedEnvironment

    return SandboxedEnvironment(undefined=StrictUndefined, finalize=fact_text, autoescape=False)
