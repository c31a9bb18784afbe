"""A labelled case: a folder with `run/` and `truth.yaml`."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from traindx.errors import DefinitionError, UnreadableInput

TRUTH = "truth.yaml"


class Truth(BaseModel):
    """What a right diagnosis of the case says."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    message: str = ""
    expect: Literal["diagnosis", "healthy", "needs_more_data"]
    primary: tuple[str, ...] = Field(default=(), description="any of these as the first cause is right")
    also: tuple[str, ...] = Field(default=(), description="may be named without being wrong")
    never: tuple[str, ...] = Field(default=(), description="naming one with confidence >= 0.7 is a false alarm")
    where: str = Field(default="", description="file, or file:line, of the fault")
    specialist: tuple[str, ...] = ()
    origin: str = ""
    source: str = ""

    @field_validator("specialist", mode="before")
    @classmethod
    def _one_or_several(cls, given: object) -> object:
        return (given,) if isinstance(given, str) else given


class LabelledCase(BaseModel):
    """A case on disk."""

    model_config = ConfigDict(frozen=True)

    name: str
    run: Path
    truth: Truth


def find_cases(folder: Path) -> list[LabelledCase]:
    """Every case below a folder, by name; raises when there is none or one is malformed."""
    paths = sorted(folder.rglob(TRUTH)) if folder.is_dir() else []
    if not paths:
        raise UnreadableInput(folder, f"no `{TRUTH}` below it: a case is a folder with `run/` and `{TRUTH}`")
    return [_load(path, folder) for path in paths]


def _load(path: Path, folder: Path) -> LabelledCase:
    try:
        truth = Truth.model_validate(yaml.safe_load(path.read_text(encoding="utf-8")))
    except (yaml.YAMLError, ValidationError, UnicodeDecodeError) as error:
        raise DefinitionError(path, 1, " ".join(str(error).split())) from None
    run = path.parent / "run"
    if not run.is_dir():
        raise DefinitionError(path, 1, "there is no folder `run/` beside it")
    return LabelledCase(name=path.parent.relative_to(folder).as_posix(), run=run, truth=truth)
