"""What Python's own exceptions mean in a training script: `prompts/exceptions.yaml` is the only home of the texts."""

from __future__ import annotations

from functools import cache

import yaml
from pydantic import BaseModel, ConfigDict, TypeAdapter

from traindx.definitions.content import PROMPTS

_FILE = PROMPTS / "exceptions.yaml"


class KnownException(BaseModel):
    """One class of exceptions."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    means: str
    look: str


@cache
def known_exceptions() -> dict[str, KnownException]:
    """Everything that is known, by the name of the class."""
    return TypeAdapter(dict[str, KnownException]).validate_python(yaml.safe_load(_FILE.read_text(encoding="utf-8")))
