"""The learning rate that a run was meant to have, reconstructed from the settings of its scheduler."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np

from traindx.detectors.curves.shape import Numbers
from traindx.detectors.settings.scheduler_settings import Asked, Plan, Unclear, Unit, base_rate, scheduler_of
from traindx.program.analysis import Analysis
from traindx.readers.model import Setting

__all__ = ["Plan", "planned"]

_WARMUP_STEPS = ("warmup_steps", "num_warmup_steps", "warmup_iters", "warmup_updates", "lr_warmup_steps")


def planned(settings: Sequence[Setting], analyses: Sequence[Analysis]) -> Plan | None:
    """The schedule that config and code describe; None where there is none, or more than one."""
    kind, made, certain = scheduler_of(settings, analyses)
    base = base_rate(settings, kind)
    if kind not in _BUILDERS or base is None:
        return None
    try:
        return _BUILDERS[kind](Asked(settings, kind, base, made, certain))
    except Unclear:
        return None


def _step(asked: Asked) -> Plan | None:
    size, gamma = asked.number("step_size", "lr_step_size", "lr_step"), asked.number("gamma", "lr_gamma")
    if not size or size <= 0:
        return None
    factor = 0.1 if gamma is None else gamma
    return asked.plan(lambda at: asked.base * factor ** np.floor(at / size), size)


def _multi_step(asked: Asked) -> Plan | None:
    edges, gamma = np.array(sorted(asked.numbers("milestones")), float), asked.number("gamma", "lr_gamma")
    if not len(edges):
        return None
    factor = 0.1 if gamma is None else gamma

    def rate(at: Numbers) -> Numbers:
        return asked.base * np.power(factor, np.searchsorted(edges, at, side="right").astype(np.float64))

    return asked.plan(rate, float(edges[-1]))


def _exponential(asked: Asked) -> Plan | None:
    gamma = asked.number("gamma", "lr_gamma", "decay_rate")
    if gamma is None or not 0 < gamma < 2:
        return None
    return asked.plan(lambda at: asked.base * gamma**at, None)


def _cosine_annealing(asked: Asked) -> Plan | None:
    period, low = asked.number("T_max", "t_max"), asked.number("eta_min", "min_lr", "lr_min") or 0.0
    if not period or period <= 0:
        return None
    # torch's formula is periodic: past `T_max` the rate climbs again.
    return asked.plan(lambda at: low + (asked.base - low) * (1 + np.cos(np.pi * at / period)) / 2, period)


def _warm_restarts(asked: Asked) -> Plan | None:
    first, grown = asked.number("T_0", "t_0", "restart_period", "period"), asked.number("T_mult", "t_mult") or 1.0
    low = asked.number("eta_min", "min_lr") or 0.0
    # A multiplier of the peak is a project's own invention: what it does is not known.
    if not first or first <= 0 or grown < 1 or asked.number("restart_multiplier", "cycle_decay") not in (None, 1.0):
        return None

    def rate(at: Numbers) -> Numbers:
        if grown == 1:
            within, length = np.mod(at, first), np.full_like(at, first)
        else:
            cycle = np.floor(np.log(at / first * (grown - 1) + 1) / math.log(grown) + 1e-9)
            within = at - first * (grown**cycle - 1) / (grown - 1)
            length = first * grown**cycle
        shaped: Numbers = low + (asked.base - low) * (1 + np.cos(np.pi * within / length)) / 2
        return shaped

    return asked.plan(rate, first)


def _one_cycle(asked: Asked) -> Plan | None:
    total, share = asked.number("total_steps"), asked.number("pct_start")
    unit: Unit = ""
    if total is None and asked.number("steps_per_epoch") is not None:
        total = (asked.number("epochs") or 0.0) * (asked.number("steps_per_epoch") or 0.0)
    if not total:
        found = asked.horizon()
        if found is None:
            return None
        total, unit = found
    rise = 0.3 if share is None else share
    start = asked.base / (asked.number("div_factor") or 25.0)
    end = start / (asked.number("final_div_factor") or 1e4)
    # torch counts from 0: the last of `total_steps` rates is reached one step earlier.
    peak, last = max(rise * total - 1, 1e-9), max(total - 1, rise * total)

    def rate(at: Numbers) -> Numbers:
        up = start + (asked.base - start) * (1 - np.cos(np.pi * np.minimum(at, peak) / peak)) / 2
        down = end + (asked.base - end) * (1 + np.cos(np.pi * np.clip((at - peak) / (last - peak), 0, 1))) / 2
        return np.where(at <= peak, up, down)

    return asked.plan(rate, total, unit)


def _with_warmup(asked: Asked) -> Plan | None:
    """`linear`, `cosine` and `constant`, as trainers have them: up to the full rate, then down to zero at the end."""
    found = asked.horizon()
    period = asked.number("T_max", "t_max") if asked.kind == "cosine" else None
    if period is not None and asked.epochs is not None:
        found = (period, "epoch" if period <= float(asked.epochs.value) else "step")
    if found is None:
        return None
    total, unit = found
    warmup = asked.number(*_WARMUP_STEPS) if unit == "step" else asked.number("warmup_epochs")
    if not warmup:
        ratio = asked.number("warmup_ratio")
        warmup = (ratio or 0.0) * total
    low = asked.number("eta_min", "min_lr", "lr_min") or 0.0

    def rate(at: Numbers) -> Numbers:
        done = np.clip((at - warmup) / max(total - warmup, 1e-9), 0.0, 1.0)
        shape = {"linear": 1 - done, "cosine": (1 + np.cos(np.pi * done)) / 2}.get(asked.kind, np.ones_like(done))
        falling = low + (asked.base - low) * shape if asked.kind != "constant" else asked.base * shape
        return np.where(at < warmup, asked.base * at / max(warmup, 1e-9), falling)

    return asked.plan(rate, total, unit)


_BUILDERS: dict[str, Callable[[Asked], Plan | None]] = {
    "StepLR": _step,
    "MultiStepLR": _multi_step,
    "ExponentialLR": _exponential,
    "CosineAnnealingLR": _cosine_annealing,
    "CosineAnnealingWarmRestarts": _warm_restarts,
    "OneCycleLR": _one_cycle,
    "linear": _with_warmup,
    "cosine": _with_warmup,
    "constant": _with_warmup,
}
