"""The failure modes: one file each under `prompts/failure_modes/`, a project's own under `.traindx/failure_modes/`.

A file's front matter says which signals speak for and against the failure mode and how clearly; how much that is in
log-odds is fitted on labelled runs (`weights`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationInfo, field_validator

from traindx.contract import Severity
from traindx.definitions import frontmatter
from traindx.definitions.content import PROMPTS
from traindx.diagnosis.changes.declared import Change
from traindx.diagnosis.checks.declared import DeclaredCheck
from traindx.diagnosis.harms import spelled_out
from traindx.errors import DefinitionError, did_you_mean

FOLDER = PROMPTS / "failure_modes"
HEALTHY = PROMPTS / "healthy.md"
HEADINGS = (
    "What it is",
    "How it shows",
    "How to tell it from its neighbours",
    "Fix",
    "Verify",
    "If that fails",
)
Tier = Literal["weak", "strong", "decisive"]
TIERS: tuple[Tier, ...] = ("weak", "strong", "decisive")
Kind = Literal["direct", "circumstantial"]
Live = Literal["at-once", "later", "at-the-end"]


class Speaks(BaseModel):
    """How clearly a signal speaks: `strong`, or `decisive, direct`."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    tier: Tier
    kind: Kind = "circumstantial"

    @classmethod
    def parse(cls, words: str) -> Speaks:
        """`decisive, direct`; raises `ValueError` for anything else."""
        tier, _, kind = (part.strip() for part in words.partition(","))
        if tier not in TIERS:
            hint = did_you_mean(tier, TIERS) or f" Use one of {', '.join(TIERS)}."
            raise ValueError(f"`{tier}` is no tier.{hint}")
        if kind not in {"", "direct", "circumstantial"}:
            raise ValueError(f"`{kind}` is no kind of evidence: write `direct`, or nothing")
        return cls.model_validate({"tier": tier, "kind": kind or "circumstantial"})


class Hypothesis(BaseModel):
    """Anything that can be believed about a run: a failure mode, or that it is healthy."""

    model_config = ConfigDict(extra="forbid", frozen=True, populate_by_name=True)

    id: str
    speaks_for: dict[str, Speaks] = Field(alias="for", min_length=1)
    speaks_against: dict[str, Speaks] = Field(default_factory=dict, alias="against")

    @field_validator("speaks_for", "speaks_against", mode="before")
    @classmethod
    def _parsed(cls, given: object) -> object:
        if not isinstance(given, dict):
            return given
        return {key: Speaks.parse(row) if isinstance(row, str) else row for key, row in given.items()}

    def weighed(self) -> Iterator[tuple[str, Speaks, int]]:
        """Every signal with its tier and its sign."""
        for signal, speaks in self.speaks_for.items():
            yield signal, speaks, 1
        for signal, speaks in self.speaks_against.items():
            yield signal, speaks, -1


class FixWording(BaseModel):
    """Alternatives for each part of a fix; the first whose values are all known is used."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    summary: tuple[str, ...] = Field(min_length=1)
    expected: tuple[str, ...] = Field(min_length=1)
    verify: tuple[str, ...] = Field(min_length=1)
    fallback: tuple[str, ...] = Field(min_length=1)
    prevention: tuple[str, ...] = Field(
        default=(), description="the assertion, test, log line or setting that catches it next time"
    )


class FailureMode(Hypothesis):
    """A failure mode as its file declares it."""

    title: str
    specialist: str
    severity: Severity
    benign: bool = Field(default=False, description="whether a run that shows it may be healthy all the same")
    shows_as: tuple[str, ...] = Field(
        default=(),
        description="signals, or names of harms, of which one must be there: a fault without harm is a lead, no cause",
    )
    live: Live | None = Field(
        default=None,
        description="when it is told of a run that is still going on: `at-once` where an event shows it, `later` (the"
        " usual) where it has to hold while the run grows, `at-the-end` where an unfinished run looks the same",
    )
    leads_to: tuple[str, ...] = Field(default=(), description="failure modes that are only consequences of this one")
    set_by: tuple[str, ...] = Field(
        default=(),
        description="names of settings that bring it about; those that the run has are cited, first come first",
    )
    issue: tuple[str, ...] = Field(min_length=1)
    fix: FixWording
    change: tuple[Change, ...] = Field(
        default=(), description="what the fix changes in the run's files; the first that has a place there is made"
    )
    limits: dict[str, str] = Field(
        default_factory=dict, description="numbers that the sentences and the checks share, made of facts"
    )
    checks: tuple[DeclaredCheck, ...] = Field(
        default=(), description="what has to hold in a run with the fix; without them, the default"
    )
    asks: tuple[str, ...] = Field(min_length=1, description="the cheapest observations that would settle it")
    source: Path = Field(default=Path(), exclude=True)

    @property
    def told(self) -> Live:
        """When it is told of a run that is still going on; what an error message decides is an event."""
        by_error = any(name.startswith("error-") and row.tier == "decisive" for name, row in self.speaks_for.items())
        return self.live or ("at-once" if by_error else "later")

    @field_validator("shows_as", mode="before")
    @classmethod
    def _spelled_out(cls, given: object) -> object:
        return spelled_out(given) if isinstance(given, list) else given

    @field_validator("checks")
    @classmethod
    def _own_signals(cls, given: tuple[DeclaredCheck, ...], info: ValidationInfo) -> tuple[DeclaredCheck, ...]:
        known = info.data.get("speaks_for", {})
        for check in given:
            for name in check.gone if isinstance(check.gone, tuple) else ():
                if name not in known:
                    raise ValueError(
                        f"`gone` names `{name}`, which does not stand under `for`.{did_you_mean(name, known)}"
                    )
        return given

    @cached_property
    def body(self) -> str:
        """The page below the front matter."""
        return frontmatter.parse(self.source).body


@dataclass(frozen=True)
class Catalog(Mapping[str, FailureMode]):
    """Failure modes by id, and what speaks for health."""

    modes: Mapping[str, FailureMode]
    healthy: Hypothesis

    def __getitem__(self, name: str) -> FailureMode:
        return self.modes[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.modes)

    def __len__(self) -> int:
        return len(self.modes)

    @property
    def of_the_project(self) -> list[FailureMode]:
        """The failure modes that a project brings; our own are checked before they ship."""
        return [mode for mode in self.modes.values() if mode.source.parent != FOLDER]

    @property
    def hypotheses(self) -> list[Hypothesis]:
        """Everything that competes for a run."""
        return [*self.modes.values(), self.healthy]


def load_catalog(folders: Sequence[Path] = ()) -> Catalog:
    """Ours and those of `folders`; raises `DefinitionError` at the first wrong file."""
    from traindx.diagnosis.compiled import read_compiled

    ours = read_compiled() or read_folder(FOLDER)
    modes = dict(ours)
    for folder in folders:
        for name, mode in read_folder(folder).items():
            if name in modes:
                raise DefinitionError(mode.source, 1, f"there is a failure mode `{name}` already; choose another id")
            modes[name] = mode
    _check_followers(modes)
    return Catalog(modes, frontmatter.parse(HEALTHY).into(Hypothesis))


def read_folder(folder: Path) -> dict[str, FailureMode]:
    """The failure modes of one folder, read from their files."""
    return {path.stem: _read(path) for path in sorted(folder.glob("*.md"))}


def _read(path: Path) -> FailureMode:
    parsed = frontmatter.parse(path)
    mode = parsed.into(FailureMode)
    if mode.id != path.stem:
        raise parsed.error("id", f"`id: {mode.id}` and the file name `{path.name}` differ")
    headings = tuple(re.findall(r"^## (.+?)\s*$", parsed.body, re.MULTILINE))
    if headings != HEADINGS:
        wrong = next((name for name in headings if name not in HEADINGS), None)
        said = f"has the heading `{wrong}`" if wrong else f"has {len(headings)} headings"
        raise DefinitionError(path, parsed.body_line, f"{said}; the headings are, in this order: {', '.join(HEADINGS)}")
    return mode.model_copy(update={"source": path})


def _check_followers(modes: Mapping[str, FailureMode]) -> None:
    for mode in modes.values():
        for follower in mode.leads_to:
            if follower not in modes:
                raise DefinitionError(mode.source, 1, f"`leads_to` names `{follower}`.{did_you_mean(follower, modes)}")
    try:
        TopologicalSorter({mode.id: mode.leads_to for mode in modes.values()}).prepare()
    except CycleError as error:
        circle = error.args[1]
        raise DefinitionError(modes[circle[0]].source, 1, f"`leads_to` is circular: {' -> '.join(circle)}") from None
