"""How much a signal counts, in log-odds: fitted on labelled runs where there are any, else by its tier.

`prompts/weights.json` is written by `benchmarks/fit_weights.py`; nobody edits it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from traindx.definitions.content import PROMPTS
from traindx.diagnosis.catalog import Hypothesis, Speaks

FEWEST_CASES = 3
WEIGHTS = PROMPTS / "weights.json"


@dataclass(frozen=True)
class Weights:
    """Magnitudes by tier, and what was fitted for each hypothesis that labelled runs show."""

    tiers: Mapping[str, float]
    against: Mapping[str, float]
    prior: float
    root_bonus: float
    priors: Mapping[str, float] = field(default_factory=dict)
    fitted: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    cases: Mapping[str, int] = field(default_factory=dict)
    """labelled runs behind each hypothesis"""

    def prior_of(self, hypothesis: Hypothesis) -> float:
        """Log-odds against knowing nothing, before any signal."""
        return self.priors.get(hypothesis.id, self.prior)

    def of(self, hypothesis: Hypothesis, signal: str, speaks: Speaks, sign: int) -> float:
        """Log-odds of a signal at full strength; below zero it speaks against."""
        fitted = self.fitted.get(hypothesis.id, {}).get(signal)
        if fitted is not None:
            return fitted
        return self.tiers[speaks.tier] if sign > 0 else -self.against[speaks.tier]

    def tried(self, hypothesis: Hypothesis) -> bool:
        """Whether enough labelled runs show it to know how it competes."""
        return self.cases.get(hypothesis.id, 0) >= FEWEST_CASES

    @classmethod
    def parse(cls, text: str) -> Weights:
        """From the generated file."""
        return cls(**json.loads(text))


@cache
def load_weights(path: Path = WEIGHTS) -> Weights:
    """The weights that ship."""
    return Weights.parse(path.read_text(encoding="utf-8"))
