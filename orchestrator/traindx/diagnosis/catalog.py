"""One failure mode: what speaks for it, what it leads to, how it is worded and fixed."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from pydantic import BaseModel, ConfigDict, Field, field_validator

from traindx.contract import Fact, Fix, Severity
from traindx.definitions import frontmatter
from traindx.definitions.content import PROMPTS
from traindx.errors import DefinitionError, did_you_mean

if TYPE_CHECKING:
    from jinja2 import Environment

HEADINGS = (
    "What it is",
    "How it shows",
    "How to tell it from its neighbours",
    "Fix",
    "Verify",
    "If that fails",
)


class Weight(BaseModel):
    """How strongly a signal speaks, in log-odds at full strength; below zero it speaks against."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    weight: float
    kind: Literal["direct", "circumstantial"] = "circumstantial"


class FixWording(BaseModel):
    """Alternatives for each part of a fix; the first whose values are all known is used."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    summary: tuple[str, ...] = Field(min_length=1)
    expected: tuple[str, ...] = Field(min_length=1)
    verify: tuple[str, ...] = Field(min_length=1)
    fallback: tuple[str, ...] = Field(min_length=1)


class Evidenced(BaseModel):
    """Anything the local brain can believe: a prior and the signals that move it."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    id: str
    prior: float = Field(description="log-odds before any signal: how rare the cause is among runs people ask about")
    signals: dict[str, Weight]

    @field_validator("signals", mode="before")
    @classmethod
    def _plain_numbers(cls, given: object) -> object:
        """`loss-diverged: 1.5` is short for `{weight: 1.5}`."""
        if not isinstance(given, dict):
            return given
        return {key: {"weight": row} if isinstance(row, int | float) else row for key, row in given.items()}


class FailureMode(Evidenced):
    """A failure mode as its file declares it."""

    title: str
    specialist: str
    severity: Severity
    leads_to: tuple[str, ...] = Field(default=(), description="failure modes that are only consequences of this one")
    set_by: tuple[str, ...] = Field(
        default=(),
        description="names of settings that bring it about; those that the run has are cited, first come first",
    )
    issue: tuple[str, ...] = Field(min_length=1)
    fix: FixWording
    asks: tuple[str, ...] = Field(min_length=1, description="the cheapest observations that would settle it")
    body: str = ""


FOLDER = PROMPTS / "failure_modes"


def load_catalog(folder: Path = FOLDER) -> dict[str, FailureMode]:
    """Every failure mode by id; raises `DefinitionError` at the first wrong file."""
    modes = {path.stem: _load(path) for path in sorted(folder.glob("*.md"))}
    for mode in modes.values():
        for follower in mode.leads_to:
            if follower not in modes:
                path = folder / f"{mode.id}.md"
                raise DefinitionError(path, 1, f"`leads_to` names `{follower}`.{did_you_mean(follower, modes)}")
    try:
        TopologicalSorter({mode.id: mode.leads_to for mode in modes.values()}).prepare()
    except CycleError as error:
        circle = error.args[1]
        raise DefinitionError(folder / f"{circle[0]}.md", 1, f"`leads_to` is circular: {' -> '.join(circle)}") from None
    return modes


def load_healthy() -> Evidenced:
    """What speaks for a healthy run, in the same terms as what speaks for a failure."""
    return frontmatter.parse(PROMPTS / "healthy.md").into(Evidenced)


def check_signals(modes: Collection[Evidenced], vocabulary: Collection[str], folder: Path = FOLDER) -> None:
    """Raise `DefinitionError` for a signal that no tool declares."""
    for mode in modes:
        for signal in mode.signals:
            if signal not in vocabulary:
                path = folder / f"{mode.id}.md"
                parsed = frontmatter.parse(path)
                hint = did_you_mean(signal, vocabulary)
                raise DefinitionError(
                    path, parsed.line(("signals", signal)), f"no tool emits the signal `{signal}`.{hint}"
                )


def _load(path: Path) -> FailureMode:
    parsed = frontmatter.parse(path)
    mode = parsed.into(FailureMode)
    if mode.id != path.stem:
        raise parsed.error("id", f"`id: {mode.id}` and the file name `{path.name}` differ")
    headings = tuple(re.findall(r"^## (.+?)\s*$", parsed.body, re.MULTILINE))
    if headings != HEADINGS:
        wrong = next((name for name in headings if name not in HEADINGS), None)
        said = f"has the heading `{wrong}`" if wrong else f"has {len(headings)} headings"
        raise DefinitionError(path, parsed.body_line, f"{said}; the headings are, in this order: {', '.join(HEADINGS)}")
    return mode.model_copy(update={"body": parsed.body})


def issue_for(mode: FailureMode, facts: Mapping[str, Fact]) -> str:
    """The failure in one sentence, with as many of the facts as its wording can use."""
    return _first_that_fits(mode.issue, facts)


def fix_for(mode: FailureMode, facts: Mapping[str, Fact]) -> Fix:
    """The fix with concrete values; the diff comes from the tool that saw the faulty line."""
    diff = facts.get("diff")
    return Fix(
        summary=_first_that_fits(mode.fix.summary, facts),
        diff=diff if isinstance(diff, str) else None,
        expected=_first_that_fits(mode.fix.expected, facts),
        verify=_first_that_fits(mode.fix.verify, facts),
        fallback=_first_that_fits(mode.fix.fallback, facts),
    )


def fact_text(value: object) -> object:
    """Numbers as a person writes them: four significant digits, no trailing zeros."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return value
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def _first_that_fits(alternatives: Sequence[str], facts: Mapping[str, Fact]) -> str:
    from jinja2 import UndefinedError

    for wording in alternatives:
        try:
            said = _sentences().from_string(wording).render(facts).strip()
            return said if said.endswith((".", "!", "?", ":")) else f"{said}."
        except UndefinedError:
            continue
    raise LookupError(f"the last wording must need no facts: {alternatives[-1]!r}")


@cache
def _sentences() -> Environment:
    from jinja2 import StrictUndefined
    from jinja2.sandbox import SandboxedEnvironment

    return SandboxedEnvironment(undefined=StrictUndefined, finalize=fact_text, autoescape=False)
