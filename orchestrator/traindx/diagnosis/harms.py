"""How a harm shows that many faults do: what `shows_as` of a failure mode may name instead of its signals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

HARMS: Mapping[str, tuple[str, ...]] = {
    "learning-harmed": (
        "loss-never-fell", "loss-at-chance", "loss-at-variance", "loss-constant", "loss-stays-high",
        "loss-above-its-start", "loss-diverged", "loss-thrown-up", "loss-stepped-level", "loss-shifted-level",
        "loss-non-finite", "accuracy-low-in-training", "accuracy-frozen", "accuracy-at-majority", "accuracy-lost",
        "one-class-predicted", "outputs-constant", "outputs-collapsed", "reward-constant", "grad-norm-faded",
        "grad-norm-tiny", "worse-than-baseline", "said-not-learning", "said-poor-results", "said-one-answer",
    ),
}  # fmt: skip


def spelled_out(names: Sequence[str]) -> list[str]:
    """The signals, with those of a harm in place of its name."""
    return [signal for name in names for signal in HARMS.get(name, (name,))]
