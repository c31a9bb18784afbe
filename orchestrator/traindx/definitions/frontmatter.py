"""Markdown files with YAML front matter, read strictly: every complaint names file, line and the right spelling."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import yaml
from pydantic import BaseModel, ValidationError

from traindx.errors import DefinitionError, did_you_mean

Model = TypeVar("Model", bound=BaseModel)
Place = tuple[str | int, ...]

# The C loader reads the whole catalog in a tenth of the time; it is absent from a few builds of PyYAML.
_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


@dataclass(frozen=True)
class FrontMatter:
    """A parsed file: the values above, the text below, and the line of every key."""

    path: Path
    values: dict[str, Any]
    lines: dict[Place, int]
    body: str
    body_line: int

    def line(self, place: Place) -> int:
        """The line where a key stands, or its nearest parent's."""
        while place and place not in self.lines:
            place = place[:-1]
        return self.lines.get(place, 1)

    def error(self, key: str, problem: str) -> DefinitionError:
        """A complaint about one top-level key."""
        return DefinitionError(self.path, self.line((key,)), problem)

    def into(self, model: type[Model]) -> Model:
        """The values as a model; raises `DefinitionError` at the first thing that does not fit."""
        try:
            return model.model_validate(self.values)
        except ValidationError as error:
            problem = error.errors()[0]
            place = tuple(problem["loc"])
            raise DefinitionError(self.path, self.line(place), _sentence(problem, model, self.values)) from None


def parse(path: Path, *, required: bool = True) -> FrontMatter:
    """Read a file; raises `DefinitionError` when it cannot be read or its front matter is not a YAML mapping."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise DefinitionError(path, 1, f"cannot be read: {error}") from None
    head, body, body_line = _split(path, text, required)
    try:
        node = yaml.compose(head, Loader=_LOADER)
        values = yaml.load(head, Loader=_LOADER)  # noqa: S506 - the loader is a safe one
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark
        raise DefinitionError(path, (mark.line + 2) if mark else 1, f"not valid YAML: {error.problem}") from None
    except (yaml.YAMLError, RecursionError, ValueError) as error:
        raise DefinitionError(path, 1, f"not valid YAML: {error}") from None
    if values is None:
        values = {}
    if not isinstance(values, dict) or not all(isinstance(key, str) for key in values):
        raise DefinitionError(path, 2, "the front matter must be a mapping of names to values")
    lines = dict(_places(node, ())) if node is not None else {}
    return FrontMatter(path, values, lines, body, body_line)


def _split(path: Path, text: str, required: bool) -> tuple[str, str, int]:
    rows = text.splitlines(keepends=True)
    if not rows or rows[0].strip() != "---":
        if required:
            raise DefinitionError(path, 1, "must start with `---` and its front matter")
        return "", text, 1
    for number, row in enumerate(rows[1:], start=1):
        if row.strip() == "---":
            return "".join(rows[1:number]), "".join(rows[number + 1 :]).strip() + "\n", number + 2
    raise DefinitionError(path, 1, "the front matter is not closed by a second `---`")


def _places(node: yaml.Node, place: Place) -> Iterable[tuple[Place, int]]:
    # The head starts on line 2 of the file, and YAML counts lines from 0.
    if isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            here = (*place, str(key.value))
            yield here, key.start_mark.line + 2
            yield from _places(value, here)
    elif isinstance(node, yaml.SequenceNode):
        for index, value in enumerate(node.value):
            yield (*place, index), value.start_mark.line + 2
            yield from _places(value, (*place, index))


def _sentence(problem: Any, model: type[BaseModel], values: dict[str, Any]) -> str:
    place: Place = tuple(problem["loc"])
    name = ".".join(str(part) for part in place) or "front matter"
    if problem["type"] == "extra_forbidden":
        known = _spellings(model) if len(place) == 1 else []
        hint = did_you_mean(str(place[-1]), known)
        return f"unknown key `{name}`.{hint}"
    if problem["type"] == "missing":
        close = did_you_mean(str(place[-1]), values) if len(place) == 1 else ""
        return f"`{name}` is missing.{close}"
    given = problem["input"]
    message = str(problem["msg"]).removeprefix("Value error, ")
    return (
        f"`{name}`: {message} (given: {given!r})"
        if isinstance(given, str | int | float | bool)
        else f"`{name}`: {message}"
    )


def _spellings(model: type[BaseModel]) -> list[str]:
    return [field.alias or name for name, field in model.model_fields.items()]
