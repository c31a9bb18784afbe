"""A labelled case: a folder with `run/` and `truth.yaml`, on disk or in an archive."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import Literal

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from traindx.errors import DefinitionError, UnreadableInput
from traindx.pipeline.inputs import laid_out
from traindx.vocabulary.file_magic import ARCHIVES

TRUTH = "truth.yaml"


class Truth(BaseModel):
    """What a right diagnosis of the case says."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    message: str = ""
    expect: Literal["diagnosis", "healthy", "needs_more_data"]
    primary: tuple[str, ...] = Field(default=(), description="any of these as the first cause is right")
    also: tuple[str, ...] = Field(default=(), description="may be named without being wrong")
    never: tuple[str, ...] = Field(default=(), description="naming one with confidence >= 0.7 is a false alarm")
    where: tuple[str, ...] = Field(default=(), description="file, or file:line, of the fault; any of several")
    specialist: tuple[str, ...] = ()
    origin: str = ""
    source: str = ""

    @field_validator("specialist", "where", mode="before")
    @classmethod
    def _one_or_several(cls, given: object) -> object:
        return (given,) if isinstance(given, str) else given or ()


class LabelledCase(BaseModel):
    """A case on disk."""

    model_config = ConfigDict(frozen=True)

    name: str
    run: Path
    truth: Truth


def find_cases(folder: Path) -> list[LabelledCase]:
    """Every case below a folder, by name; archives are not opened. Raises when there is none or one is malformed."""
    return _some(_below(folder, folder), folder)


@contextlib.contextmanager
def open_cases(path: Path) -> Iterator[list[LabelledCase]]:
    """Every case below a folder or in an archive, by name, also in archives below a folder.

    What was unpacked is gone afterwards. Raises when there is no case, or when a case or an archive is damaged.
    """
    with contextlib.ExitStack() as unpacked:
        cases = [] if path.is_file() else _below(path, path)
        for archive in [path] if path.is_file() else _archives(path):
            place, remarks = unpacked.enter_context(laid_out(archive))
            if place == archive:
                raise UnreadableInput(archive, "not an archive that can be unpacked, nor a folder of cases")
            if remarks:  # cases that are only partly there would give figures that mean nothing
                raise UnreadableInput(archive, remarks[0])
            within = Path() if path.is_file() else archive.parent.relative_to(path)
            cases += _below(place, archive, within)
        yield sorted(_some(cases, path), key=lambda case: case.name)


def _some(cases: list[LabelledCase], path: Path) -> list[LabelledCase]:
    if not cases:
        raise UnreadableInput(path, f"no `{TRUTH}` below it: a case is a folder with `run/` and `{TRUTH}`")
    return cases


def _archives(folder: Path) -> list[Path]:
    """The archives below a folder, except those that belong to a case."""
    found = [path for path in sorted(folder.rglob("*")) if path.name.lower().endswith(ARCHIVES) and path.is_file()]
    return [path for path in found if not any((parent / TRUTH).is_file() for parent in path.parents)]


def _below(folder: Path, shown: Path, within: Path = Path()) -> list[LabelledCase]:
    """The cases of a folder; `shown` stands for it in messages, `within` before the names."""
    return [_load(path, folder, shown, within) for path in sorted(folder.rglob(TRUTH))] if folder.is_dir() else []


def _load(path: Path, folder: Path, shown: Path, within: Path) -> LabelledCase:
    name = path.parent.relative_to(folder)
    told = shown / name / TRUTH
    try:
        truth = Truth.model_validate(yaml.safe_load(path.read_text(encoding="utf-8")))
    except (yaml.YAMLError, ValidationError, UnicodeDecodeError) as error:
        raise DefinitionError(told, 1, " ".join(str(error).split())) from None
    run = path.parent / "run"
    if not run.is_dir():
        raise DefinitionError(told, 1, "there is no folder `run/` beside it")
    return LabelledCase(name=(within / name).as_posix(), run=run, truth=truth)
