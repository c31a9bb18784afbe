"""An offer of the server: a name, what it takes, what it gives, and the function that answers."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import Field

from traindx.contract import Diagnosis, Value
from traindx.runtime import ToolInput

if TYPE_CHECKING:
    from traindx.mcp.workspace import Workspace

RUN = "run folder, log or archive, relative to the workspace"


@dataclass
class Asked:
    """One request: what may be looked at, and where progress is told."""

    workspace: Workspace
    tell: Callable[[str], None]
    kept: Kept

    def resolve(self, given: str) -> Path:
        """The path, where it exists and lies in the workspace; raises otherwise."""
        return self.workspace.resolve(given)


@dataclass
class Kept:
    """What outlives a request: the last diagnosis, and the run it is about."""

    diagnosis: Diagnosis | None = None
    run: Path | None = None


class Result(Value):
    """What an offer gives. `cut` says what was cut, and how to get at it."""

    cut: list[str] = Field(default_factory=list)


@dataclass(frozen=True)
class Said:
    """An answer: the structured result, the same as text, and whether the call failed."""

    result: Mapping[str, Any]
    text: str = ""
    failed: bool = False


@dataclass(frozen=True)
class Offer:
    """A tool of the server."""

    name: str
    title: str
    description: str
    input_schema: Mapping[str, Any]
    output_schema: Mapping[str, Any]
    answer: Callable[[Mapping[str, Any], Asked], Awaitable[Said]] = field(compare=False)
    narrow: str = ""
    """how a caller gets a shorter answer, or the rest of a long one"""


_GIVEN = frozenset({"type", "enum", "const", "items", "properties", "anyOf", "$ref", "$defs", "required"})
_TAKEN = _GIVEN | {"description", "additionalProperties", "minItems", "maxItems", "minimum", "maximum"}


@cache
def default_offers() -> dict[str, Offer]:
    """The offers of this folder, by name, in the order in which they are shown."""
    from traindx.mcp import offers

    folder = Path(offers.__file__).parent
    found: list[Offer] = [
        import_module(f"{offers.__name__}.{path.stem}").OFFER
        for path in sorted(folder.glob("*.py"))
        if path.stem != "__init__"
    ]
    return {offer.name: offer for offer in found}


def compact(schema: Mapping[str, Any], kept: frozenset[str] = _TAKEN) -> dict[str, Any]:
    """The schema without titles and defaults, which hosts would send with every conversation."""
    found: dict[str, Any] = {key: value for key, value in schema.items() if key in kept}
    for key in ("properties", "$defs"):
        if key in found:
            found[key] = {name: compact(part, kept) for name, part in found[key].items()}
    for key in ("items", "additionalProperties"):
        if isinstance(found.get(key), Mapping):
            found[key] = compact(found[key], kept)
    if "anyOf" in found:
        found["anyOf"] = [compact(part, kept) for part in found["anyOf"]]
    return found


def input_schema(model: type[ToolInput]) -> dict[str, Any]:
    """What an offer takes, with a description of every field."""
    schema = compact(model.model_json_schema())
    return {key: value for key, value in schema.items() if key != "description"}


def output_schema(model: type[Result]) -> dict[str, Any]:
    """What an offer gives: the fields that always mean the same; others may stand beside them."""
    return {**compact(model.model_json_schema(), _GIVEN), "type": "object"}


def as_text(result: Mapping[str, Any]) -> str:
    """The result for hosts that show text only."""
    return json.dumps(result, ensure_ascii=False)
