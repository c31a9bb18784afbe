"""Small definitions in YAML, one file each, named after what they define: error patterns, code rules, log formats.

Ours stand in `prompts/<kind>/`, a project's own in `.traindx/<kind>/`. A wrong file is named with its line.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Literal, TypeVar

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from traindx.definitions.clues import Clue, compiled
from traindx.definitions.content import PROMPTS
from traindx.errors import DefinitionError, did_you_mean

ErrorRole = Literal["root", "cascade", "teardown", "advice", "survived", "warning"]
_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class Rule(BaseModel):
    """A definition; its name is the file's."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: str
    source: Path


class ErrorPattern(Rule):
    """A family of errors: texts that mean one thing. Their named groups become facts: `(?P<path>...)`."""

    means: str
    role: ErrorRole = Field(
        default="root",
        description="`root` names a cause; `cascade` names one where no root is found; `teardown` (what ends after"
        " something else did), `advice` and `survived` (the line says that the run goes on) never do; a `warning`"
        " ends nothing, and names a fault that may be the cause of what came later",
    )
    rank: int = Field(default=100, description="where several match a line, the lowest names the error")
    group: str = Field(
        default="", description="other readings of the same fact, of which the one that says most counts"
    )
    strength: float = Field(
        default=1.0, gt=0, le=1, description="how much it says; below 1 where others explain it too"
    )
    matches: tuple[str, ...] = Field(default=(), description="searched in an error's own line, whatever the case")
    alone: tuple[str, ...] = Field(
        default=(), description="a line with such a text is an error by itself; case matters"
    )
    unless: tuple[str, ...] = Field(default=(), description="a line with such a text is none of these errors")
    unless_raised_by: tuple[str, ...] = Field(
        default=(),
        description="an error whose message and line of code, joined by ` @ `, have such a text is none of these",
    )
    before_start: bool = Field(
        default=False, description="it keeps a run from starting: where values were logged, it was overcome"
    )
    lingers: bool = Field(
        default=False, description="it ends a run that may log some more steps before it is killed: they do not count"
    )
    follows: tuple[str, ...] = Field(
        default=(), description="families that bring this one about, named instead where one of them is there as well"
    )
    set_in: tuple[str, ...] = Field(
        default=(),
        description="lines that bring the error about, searched in the run's scripts and configurations, and where none"
        " has it in its programs, whatever the case; the first text that is found anywhere is cited",
    )

    clues: tuple[Clue, ...] = Field(
        default=(), description="how an exception of the family is known whose words no family lists"
    )

    @field_validator("matches", "alone", "unless", "unless_raised_by", "set_in")
    @classmethod
    def _compile(cls, given: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(_checked(one) for one in given)

    @property
    def names_a_cause(self) -> bool:
        """Whether it can be what ended a run, or what went wrong before."""
        return self.role in {"root", "cascade", "warning"}

    def found_in(self, text: str, code: str = "") -> dict[str, str] | None:
        """The facts in the line of an error that belongs to the family; None for any other line.

        `code` is the line of the program that raised it, where it is known.
        """
        if self._any.search(text) is None or (self.unless and self._but.search(text)):
            return None
        if code and any(one.search(f"{text} @ {code}") for one in self._not_by):
            return None
        found = next(match for one in self._each if (match := one.search(text)))
        return {name: value.strip() for name, value in found.groupdict().items() if value and value.strip()}

    def places_in(self, text: str) -> list[re.Match[str]]:
        """Where its texts stand in a line, each of them once."""
        return [found for one in self._each if (found := one.search(text)) is not None]

    @cached_property
    def _each(self) -> tuple[re.Pattern[str], ...]:
        return tuple(re.compile(one, re.IGNORECASE) for one in self.matches) + tuple(map(re.compile, self.alone))

    @cached_property
    def _any(self) -> re.Pattern[str]:
        # One search says no for nearly every line; names of groups could clash in it.
        loose = [f"(?i:{without_names(one)})" for one in self.matches]
        return re.compile("|".join([*loose, *(f"(?:{without_names(one)})" for one in self.alone)]) or r"(?!)")

    @cached_property
    def _not_by(self) -> tuple[re.Pattern[str], ...]:
        return tuple(map(re.compile, self.unless_raised_by))

    @cached_property
    def _but(self) -> re.Pattern[str]:
        return re.compile("|".join(f"(?:{one})" for one in self.unless), re.IGNORECASE)


class CodeRule(Rule):
    """A statement that should not be there, searched in simple statements without comments and line breaks."""

    means: str
    statement: str
    unless: str = Field(default="", description="silent in a file in which this is found")

    @field_validator("statement", "unless")
    @classmethod
    def _compile(cls, given: str) -> str:
        return _checked(given)


class LogFormat(Rule):
    """A line of a log, as a regular expression whose named groups are `epoch`, `step` and metrics."""

    line: str

    @field_validator("line")
    @classmethod
    def _compile(cls, given: str) -> str:
        if not re.compile(_checked(given)).groupindex:
            raise ValueError("needs named groups: `(?P<epoch>\\d+)`, `(?P<train_loss>\\S+)`")
        return given


def without_names(pattern: str) -> str:
    """The pattern with its named groups unnamed, so that it can stand beside others."""
    return re.sub(r"\(\?P<\w+>", "(?:", pattern)


KINDS: dict[type[Rule], str] = {ErrorPattern: "error_patterns", CodeRule: "code_rules", LogFormat: "log_formats"}
Found = TypeVar("Found", bound=Rule)


def load_rules(kind: type[Found], project: Path | None = None) -> list[Found]:
    """Ours, then those of a project's `.traindx/` folder; raises `DefinitionError` at the first wrong file."""
    folders = [PROMPTS / KINDS[kind], *([project / KINDS[kind]] if project is not None else [])]
    found: dict[str, Found] = {}
    for folder in folders:
        for path in sorted(folder.glob("*.yaml")):
            if path.stem in found:
                raise DefinitionError(path, 1, f"`{path.stem}` is already defined in `{found[path.stem].source}`")
            found[path.stem] = _load(path, kind)
    return list(found.values())


def _load(path: Path, kind: type[Found]) -> Found:
    try:
        values = yaml.load(path.read_text(encoding="utf-8"), Loader=_LOADER)  # noqa: S506 - the loader is a safe one
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else 1
        raise DefinitionError(path, line, f"not valid YAML: {error.problem}") from None
    except (OSError, ValueError, yaml.YAMLError) as error:
        raise DefinitionError(path, 1, f"cannot be read: {error}") from None
    if not isinstance(values, dict):
        raise DefinitionError(path, 1, "must be a mapping of names to values")
    try:
        return kind.model_validate({**values, "name": path.stem, "source": path})
    except ValidationError as error:
        raise DefinitionError(path, *_complaint(error, path, list(kind.model_fields))) from None


def _complaint(error: ValidationError, path: Path, known: Sequence[str]) -> tuple[int, str]:
    problem = error.errors()[0]
    key = str(problem["loc"][0]) if problem["loc"] else ""
    rows = path.read_text(encoding="utf-8").splitlines()
    line = next((number for number, row in enumerate(rows, 1) if row.startswith(f"{key}:")), 1)
    if problem["type"] == "extra_forbidden":
        return line, f"unknown key `{key}`.{did_you_mean(key, known)}"
    if problem["type"] == "missing":
        return 1, f"`{key}` is missing"
    return line, f"`{key}`: {str(problem['msg']).removeprefix('Value error, ')}"


def _checked(pattern: str) -> str:
    compiled(pattern)
    return pattern
