"""Weight decay and dropout far above the usual."""

from __future__ import annotations

import math
from collections.abc import Sequence

from traindx.contract import Fact, Signal, SignalKind
from traindx.detectors.citing import cite_setting
from traindx.detectors.settings.lookup import also_set, named
from traindx.readers.model import Setting

SIGNALS: dict[str, str | SignalKind] = {
    "regularised-heavily": SignalKind("weight decay or dropout above usual values", group="regularised"),
    "regularised-absurdly": SignalKind("weight decay thirty times a value that is already high", group="regularised"),
}

DECAYS = (
    "weight_decay",
    "wd",
    "l2",
    "l2_lambda",
    "l2_reg",
    "l2_penalty",
    "decay_lambda",
    "l1",
    "l1_lambda",
    "lambda_l2",
)
DROPOUTS = (
    "dropout",
    "dropout_rate",
    "p_drop",
    "drop_rate",
    "hidden_dropout_prob",
    "drop",
    "p_dropout",
    "dropout_p",
    "p",
)
# Decoupled decay is multiplied by the learning rate; decay added to the gradient counts as it stands.
MUCH_DECAY = {"sgd": 0.01, "adam": 0.01, "rmsprop": 0.05, "adagrad": 0.05, "nadam": 0.05, "lion": 1.0}
MUCH_DECAY_DECOUPLED = 0.3
MUCH_DROPOUT = 0.6
ABSURD = 30
"""times a value that is already high: no recipe goes there"""
ENTROPIES = ("ent_coef", "entropy_coef", "entropy_coeff", "entropy_weight", "ent_weight", "entropy_bonus")
# A bonus of a hundredth is usual; from a tenth on a policy is paid for not deciding.
MUCH_ENTROPY = 0.1
# An absolute value pulls on every weight alike, however small: a thousandth already empties most of a net.
MUCH_L1 = 0.003


def detect(settings: Sequence[Setting], optimizer: str | None) -> list[Signal]:
    """The regulariser that is far above the usual."""
    decay = named(settings, *DECAYS)
    much = MUCH_DECAY.get(optimizer or "", MUCH_DECAY_DECOUPLED)
    if decay is not None and "l1" in decay.key.lower():
        much = MUCH_L1
    elif decay is not None and "regularizer" in decay.key.lower():
        much = MUCH_DECAY["sgd"]
    if decay is not None and float(decay.value) > much:
        # From much to ten times as much: by then the penalty is the objective.
        strength = min(1.0, 0.3 + 0.7 * math.log10(float(decay.value) / much))
        heavy = _heavy(settings, decay, "weight_decay", much, strength)
        times = float(decay.value) / much
        said = f"`{decay.key}` = {decay.value:g} is {times:.0f} times a value that is already high"
        absurd = Signal(id="regularised-absurdly", claim=said, citations=heavy.citations, facts=heavy.facts)
        return [heavy, absurd] if times >= ABSURD else [heavy]
    entropy = named(settings, *ENTROPIES)
    if entropy is not None and float(entropy.value) > MUCH_ENTROPY:
        strength = min(1.0, 0.3 + 0.7 * math.log10(float(entropy.value) / MUCH_ENTROPY))
        return [_heavy(settings, entropy, "weight_decay", MUCH_ENTROPY, strength)]
    dropout = named(settings, *DROPOUTS)
    if dropout is not None and MUCH_DROPOUT < float(dropout.value) < 1 and "drop" in dropout.key.lower():
        strength = 0.4 + 0.6 * (float(dropout.value) - MUCH_DROPOUT) / (0.9 - MUCH_DROPOUT)
        return [_heavy(settings, dropout, "dropout", MUCH_DROPOUT, min(1.0, strength))]
    return []


def _heavy(settings: Sequence[Setting], setting: Setting, fact: str, much: float, strength: float) -> Signal:
    claim = f"`{setting.key}` = {setting.value:g}, and {much:g} is already high"
    facts: dict[str, Fact] = {fact: setting.value, "decay_place": f"{setting.source}:{setting.line}"}
    places = [cite_setting(row, claim) for row in [setting, *also_set(settings, setting)[:2]]]
    return Signal(id="regularised-heavily", claim=claim, strength=strength, citations=places, facts=facts)
