"""Amazon SageMaker Debugger, built-in rule VanishingGradient.

The mean of the absolute gradients of a layer falls below `threshold` (1e-7).
"""

from __future__ import annotations

from baselines.rule import Rule, meaning
from baselines.seen import Seen

THRESHOLD = 1e-7


def judge(seen: Seen) -> list[str]:
    """Look for any layer at any step."""
    return ["VanishingGradient"] if any((layer < THRESHOLD).any() for layer in seen.gradients) else []


RULE = Rule(
    name="SageMaker VanishingGradient",
    source="https://docs.aws.amazon.com/sagemaker/latest/dg/debugger-built-in-rules.html",
    means={"VanishingGradient": meaning("vanishing-gradients", "dead-relu", "saturated-activations")},
    judge=judge,
)
