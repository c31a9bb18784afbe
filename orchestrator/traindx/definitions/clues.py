"""How an exception is known by what it is, where it was raised and what it speaks of, whatever its wording."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from pydantic import BaseModel, ConfigDict, Field, field_validator


@dataclass(frozen=True)
class Raised:
    """An exception as its traceback shows it."""

    name: str
    """its class with its module, as printed"""
    message: str
    places: tuple[str, ...] = ()
    """the innermost frames, innermost last: `torch/nn/functional.py:linear`, of the user's own `train.py:resume`"""
    refused: bool = False
    """whether somebody raised it on purpose: a library, or a `raise` or `assert` of the user's own"""
    code: str = ""
    """the line of code that raised it, where it is shown"""
    installed: bool = False
    """whether the innermost frame stands in an installed package"""


class Clue(BaseModel):
    """Conditions that hold together for an exception of a family; case does not matter but in `raises`."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    raises: str = Field(default="", description="searched in the name of the exception's class")
    says: tuple[str, ...] = Field(default=(), description="each is found in its message")
    inside: str = Field(default="", description="searched in the last frames, each `package/module.py:function`")
    code: str = Field(default="", description="searched in the line of code that raised it")
    refused: bool = Field(default=False, description="a library raised it, or a `raise` or `assert` of the user's")
    installed: bool = Field(default=False, description="the innermost frame stands in an installed package")
    unless: str = Field(default="", description="not where the message or a frame has this")
    first: bool = Field(default=False, description="asked before the words of the families")
    general: bool = Field(default=False, description="asked where no other clue holds")

    @field_validator("raises", "inside", "code", "unless")
    @classmethod
    def _one(cls, given: str) -> str:
        compiled(given)
        return given

    @field_validator("says")
    @classmethod
    def _each(cls, given: tuple[str, ...]) -> tuple[str, ...]:
        for one in given:
            compiled(one)
        return given

    @property
    def conditions(self) -> int:
        """How many conditions it has: of two clues that hold, the one with more says more."""
        return len(self.says) + sum(map(bool, (self.raises, self.inside, self.code, self.refused, self.installed)))

    def holds(self, raised: Raised) -> bool:
        """Whether every condition is met."""
        if (self.refused and not raised.refused) or (self.installed and not raised.installed):
            return False
        if self.raises and not re.search(self.raises, raised.name):
            return False
        if not all(compiled(one).search(raised.message) for one in self.says):
            return False
        if self.code and not compiled(self.code).search(raised.code):
            return False
        places = "\n".join(raised.places)
        if self.inside and not compiled(self.inside).search(places):
            return False
        return not (self.unless and compiled(self.unless).search(f"{raised.name}: {raised.message}\n{places}"))


@lru_cache(maxsize=1_024)
def compiled(pattern: str) -> re.Pattern[str]:
    """The pattern, whatever the case; a `ValueError` says what is wrong with it."""
    try:
        return re.compile(pattern, re.IGNORECASE | re.MULTILINE)
    except re.error as error:
        raise ValueError(f"not a regular expression: {error}") from None
