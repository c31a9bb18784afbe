"""The checks that a failure mode declares beside its sentence: a small closed vocabulary."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

SUBJECTS = ("gone", "past", "series", "error", "checkpoints")
RELATIONS = ("below", "above", "finite", "better", "steadier")


class DeclaredCheck(BaseModel):
    """One check: what it looks at, and what has to hold there."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    gone: Literal["own"] | tuple[str, ...] | None = Field(
        default=None, description="signals that must not be found: those listed, or `own`, what clearly speaks for it"
    )
    past: str | None = Field(
        default=None, description="where the new run must get: `end` of the old one, or a fact that names a place"
    )
    series: str | None = Field(default=None, description="`loss` for the judged curve, else part of a series' name")
    below: str | None = Field(default=None, description="a limit of `limits`, a fact, or a number")
    above: str | None = None
    finite: bool = Field(default=False, description="whether every value must be finite")
    better: bool = Field(default=False, description="whether it must do better than the old run at the same place")
    steadier: bool = Field(default=False, description="whether it must swing less than in the old run")
    over: Literal["whole", "end"] = "whole"
    since: str | None = Field(default=None, description="a fact that names the place from which the series counts")
    error: Literal["none"] | None = Field(default=None, description="the new run must not end in an error")
    checkpoints: Literal["finite"] | None = None

    @model_validator(mode="after")
    def _one_thing(self) -> DeclaredCheck:
        subjects = [name for name in SUBJECTS if getattr(self, name) is not None]
        if len(subjects) != 1:
            raise ValueError(f"a check looks at one of {', '.join(f'`{name}`' for name in SUBJECTS)}")
        relations = [name for name in RELATIONS if getattr(self, name) not in {None, False}]
        if (self.series is not None) != (len(relations) == 1):
            raise ValueError(f"a series takes one of {', '.join(f'`{name}`' for name in RELATIONS)}, nothing else does")
        return self


DEFAULT = (DeclaredCheck(gone="own"), DeclaredCheck(past="end"), DeclaredCheck(error="none"))
"""for failure modes that declare none: what spoke for it is gone, and the run got as far without another error"""
