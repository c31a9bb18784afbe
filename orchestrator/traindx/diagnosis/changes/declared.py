"""The change that a failure mode declares: a setting and its new value, a rewriting of code, or why there is none."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

from traindx.errors import did_you_mean
from traindx.vocabulary.settings import GROUPS

Rewriting = Literal[
    "detach-state",
    "assign-detached",
    "drop-retain-graph",
    "guard-math",
    "clip-gradients",
    "detect-anomaly",
    "swap-activation",
    "ordinary-initialisation",
    "restore-optimizer",
    "bfloat16",
    "add-warmup",
    "clear-gradients",
    "add-backward",
    "add-step",
    "order-steps",
    "divide-loss",
    "move-clipping",
    "evaluation-mode",
    "training-mode",
    "without-gradients",
    "keep-number",
    "drop-minus",
    "drop-activation",
    "logits-loss",
    "last-axis",
    "same-shape",
    "add-activation",
    "module-list",
    "all-parameters",
    "reset-state",
    "in-order",
    "shuffle",
    "step-scheduler",
    "trainable-adapter",
]


class Companion(BaseModel):
    """A second setting that changes with the first, where the run has it."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    setting: str = Field(description="a group of `vocabulary/settings.py`, e.g. `lr`")
    to: tuple[str, ...] = Field(
        min_length=1, description="alternatives for the new value; the first whose facts are all known is used"
    )

    @field_validator("setting")
    @classmethod
    def _known(cls, given: str) -> str:
        if given and given not in GROUPS:
            hint = did_you_mean(given, GROUPS) or f" Use one of {', '.join(sorted(GROUPS))}."
            raise ValueError(f"`{given}` is no group of settings.{hint}")
        return given


class Change(Companion):
    """One change; of the several that a failure mode lists, the first that the run has a place for is made."""

    setting: str = ""
    to: tuple[str, ...] = ()
    place: str = Field(default="", description="the fact that names the place, as `file:line`")
    present: str = Field(default="", description="the fact that holds the present value, where the place is not known")
    also: tuple[Companion, ...] = ()
    code: Rewriting | None = Field(default=None, description="a rewriting of code, instead of `setting` and `to`")
    unknown: str = Field(default="", description="what no artifact tells and a diff would need, instead of a change")

    @model_validator(mode="after")
    def _one_of_three(self) -> Change:
        if [bool(self.setting), bool(self.code), bool(self.unknown)].count(True) != 1 or bool(self.setting) != bool(
            self.to
        ):
            raise ValueError("give either `setting` with `to`, or `code`, or `unknown`")
        return self
