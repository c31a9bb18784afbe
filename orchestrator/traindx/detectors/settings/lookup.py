"""The settings that the analyses ask for, whatever a project calls them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from traindx.readers.code.codeunit import CodeUnit
from traindx.readers.model import Series, Setting
from traindx.vocabulary.optimizers import KNOWN_OPTIMIZERS
from traindx.vocabulary.settings import CLIP, OPTIMIZER, RATE

NO_CLIP = 1e5

_OF_ADAM = {"beta1", "beta2", "betas", "adambeta1", "adambeta2", "adamepsilon"}
_OF_SGD = {"momentum", "mom", "nesterov", "sgdmomentum"}
_OF_POLICIES = {"approx_kl", "clip_fraction"}
_OF_HUGGING_FACE = {"per_device_train_batch_size", "lr_scheduler_type", "num_train_epochs"}
_PLAIN_OF_HUGGING_FACE = {name.replace("_", "") for name in _OF_HUGGING_FACE}


def is_number(setting: Setting) -> bool:
    """Whether the value is a number (a bool is not)."""
    return isinstance(setting.value, int | float) and not isinstance(setting.value, bool)


def rates(settings: Sequence[Setting]) -> list[Setting]:
    """Every learning rate that is configured, in the order of the settings."""
    numbers = [row for row in settings if is_number(row) and 0 < float(row.value) < 100]
    return [row for row in numbers if RATE.search(row.key.rsplit(".", 1)[-1])]


def clip_threshold(settings: Sequence[Setting]) -> Setting | None:
    """The gradient-clipping threshold, where one is set to something above zero."""
    # A threshold that nothing reaches is how people measure the norm without clipping.
    numbers = [row for row in settings if is_number(row) and 0 < float(row.value) < NO_CLIP]
    return next((row for row in numbers if CLIP.search(row.key)), None)


def in_force(found: list[Setting]) -> list[Setting]:
    """The rates that ran: in the config, or printed; defaults in the code only count where there is no other.

    A program that builds optimizers of several kinds has no one rate: each holds for some of the weights.
    """
    configured = [row for row in found if not row.coded]
    if configured or len(_kinds_built(found)) < 2:
        return configured or found
    return []


def _kinds_built(settings: Sequence[Setting]) -> set[str]:
    """The kinds of optimizers that the code constructs: `Adam.lr` and `Muon.lr` are of two."""
    built = (row.key.partition(".")[0] for row in settings if row.coded and "." in row.key)
    return {kind.lower() for kind in built if KNOWN_OPTIMIZERS.fullmatch(kind)}


def peak_rate(settings: Sequence[Setting], rate: Series | None) -> float | None:
    """The highest learning rate: of the logged one where there is one, else as configured."""
    if rate is not None:
        finite = rate.values[np.isfinite(rate.values)]
        return float(finite.max()) if len(finite) else None
    found = in_force(rates(settings))
    return max((float(row.value) for row in found), default=None)


def optimizer(settings: Sequence[Setting], code: Sequence[CodeUnit], series: Sequence[Series]) -> str | None:
    """The optimizer's name in lower case: from the configuration, else from the class the code constructs."""
    for row in settings:
        if isinstance(row.value, str) and OPTIMIZER.search(row.key):
            found = KNOWN_OPTIMIZERS.search(row.value)
            if found:
                return found.group().lower()
    for row in settings if len(_kinds_built(settings)) < 2 else ():
        found = KNOWN_OPTIMIZERS.match(row.key)
        if found and row.key[found.end() :].startswith((".", "W.")):
            return found.group().lower()
    # Two optimizers in the code and a word in no config: which of them ran is not known.
    coded = {
        trait.removeprefix("optimizer-") for unit in code for trait in unit.traits if trait.startswith("optimizer-")
    }
    if len(coded) == 1:
        return coded.pop()
    return None if coded else _by_custom(settings, code, series)


def _by_custom(settings: Sequence[Setting], code: Sequence[CodeUnit], series: Sequence[Series]) -> str | None:
    """The optimizer that the name of a logged rate tells, or that a trainer takes when nobody says otherwise."""
    for row in series:
        found = KNOWN_OPTIMIZERS.search(row.original) if row.name == "lr" else None
        if found:
            return found.group().lower()
    # Who logs these runs PPO, and nobody gives it another optimizer than Adam.
    if any(row.name.rpartition("/")[2] in _OF_POLICIES for row in series):
        return "adam"
    keys = {_plain(row.key.rsplit(".", 1)[-1]) for row in settings}
    if {row.key for row in settings} & _OF_HUGGING_FACE or (_from_scratch(code) and keys & _PLAIN_OF_HUGGING_FACE):
        return "adamw"
    # A momentum is SGD's, and a pair of betas is of Adam's family.
    return "adam" if keys & _OF_ADAM else "sgd" if keys & _OF_SGD else None


def _from_scratch(code: Sequence[CodeUnit]) -> bool:
    """Whether the code is here and loads no weights: a rate for fine-tuning is then none for this run."""
    return bool(code) and all(unit.names.isdisjoint({"from_pretrained", "load_state_dict"}) for unit in code)


def named(settings: Sequence[Setting], *names: str) -> Setting | None:
    """The first numeric setting whose last key is one of the names, underscores and case aside."""
    wanted = {_plain(name) for name in names}
    return next((row for row in settings if is_number(row) and _plain(row.key.rsplit(".", 1)[-1]) in wanted), None)


def _plain(name: str) -> str:
    return name.lower().replace("_", "").replace("-", "")


def also_set(settings: Sequence[Setting], setting: Setting) -> list[Setting]:
    """Other places that give the same value to the same name: the config, the log that printed it, the default."""
    last = _plain(setting.key.rsplit(".", 1)[-1])
    return [
        row
        for row in settings
        if row.value == setting.value
        and _plain(row.key.rsplit(".", 1)[-1]) == last
        and (row.source, row.line) != (setting.source, setting.line)
    ]
