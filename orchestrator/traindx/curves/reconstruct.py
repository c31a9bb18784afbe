"""The learning rate that a run was meant to have, reconstructed from the settings of its scheduler."""

from __future__ import annotations

import ast
import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from traindx.artifacts import Run, Setting
from traindx.curves.settings import is_number, named, rates
from traindx.curves.shape import Numbers

Unit = Literal["step", "epoch", ""]
Rate = Callable[[Numbers], Numbers]
_BASES = ("lr", "learning_rate", "base_lr", "lr0", "peak_lr", "initial_lr", "max_lr")
_EPOCHS = ("epochs", "num_epochs", "max_epochs", "n_epochs", "num_train_epochs", "train_epochs")
_STEPS = ("max_steps", "total_steps", "num_steps", "n_steps", "steps", "max_iters", "iters", "num_training_steps")
_WARMUP_STEPS = ("warmup_steps", "num_warmup_steps", "warmup_iters", "warmup_updates", "lr_warmup_steps")
_KEY = re.compile(
    r"(?:^|[._])(?:lr_?)?sched(?:uler|ule)?(?:[._](?:type|name|kind))?$|lr_scheduler_type$|lr_decay_style$"
)
_WORDS = (
    ("CosineAnnealingWarmRestarts", re.compile(r"restart", re.IGNORECASE)),
    ("OneCycleLR", re.compile(r"one_?cycle", re.IGNORECASE)),
    ("CosineAnnealingLR", re.compile(r"^CosineAnnealingLR$")),
    ("MultiStepLR", re.compile(r"multi_?step", re.IGNORECASE)),
    ("StepLR", re.compile(r"^step(?:_?lr)?$", re.IGNORECASE)),
    ("ExponentialLR", re.compile(r"exponential", re.IGNORECASE)),
    ("cosine", re.compile(r"cos", re.IGNORECASE)),
    ("linear", re.compile(r"linear", re.IGNORECASE)),
    ("constant", re.compile(r"^(?:constant|none|fixed)", re.IGNORECASE)),
)
_TORCH = {"StepLR", "MultiStepLR", "ExponentialLR", "CosineAnnealingLR", "CosineAnnealingWarmRestarts", "OneCycleLR"}
_POSITIONS = {
    "StepLR": ("optimizer", "step_size", "gamma"),
    "MultiStepLR": ("optimizer", "milestones", "gamma"),
    "ExponentialLR": ("optimizer", "gamma"),
    "CosineAnnealingLR": ("optimizer", "T_max", "eta_min"),
    "CosineAnnealingWarmRestarts": ("optimizer", "T_0", "T_mult", "eta_min"),
    "OneCycleLR": ("optimizer", "max_lr", "total_steps"),
}
_HELPERS = {"get_linear_schedule_with_warmup": "linear", "get_cosine_schedule_with_warmup": "cosine"}


@dataclass(frozen=True, eq=False)
class Plan:
    """A schedule: the rate after so many calls of `scheduler.step()`, and what it was read from."""

    kind: str
    base: float
    rate: Rate
    unit: Unit
    """what a call of `step()` is meant to count, where the settings tell"""
    settings: tuple[Setting, ...]
    certain: bool
    """whether the code builds exactly this, or a trainer with a fixed meaning; a word in a config may mean anything"""

    def at(self, counts: Numbers) -> Numbers:
        """The planned rate after these numbers of scheduler steps."""
        with np.errstate(all="ignore"):
            return self.rate(np.maximum(np.asarray(counts, float), 0.0))


def planned(run: Run) -> Plan | None:
    """The schedule that config and code describe; None where there is none, or more than one."""
    kind, call, certain = _kind(run)
    base = _base(run.settings, kind)
    if kind not in _BUILDERS or base is None:
        return None
    try:
        return _BUILDERS[kind](_Asked(run, kind, base, call, certain))
    except _Unclear:
        return None


class _Unclear(Exception):
    """An argument is given, and its value cannot be told without running the code."""


class _Asked:
    """What the settings say to one kind of schedule; every setting that was used is remembered."""

    def __init__(self, run: Run, kind: str, base: Setting, call: ast.Call | None, certain: bool) -> None:
        self.kind, self.base = kind, float(base.value)
        self._call, self._certain = call, certain
        self._settings = run.settings
        self._used = [base]
        self.epochs = named(run.settings, *_EPOCHS)
        self.steps = named(run.settings, *_STEPS)

    def number(self, *names: str) -> float | None:
        """A value by the name of its argument: given to the class itself, or in the configuration."""
        own = [row for row in self._settings if is_number(row) and row.key in {f"{self.kind}.{name}" for name in names}]
        plain = [row for row in self._settings if not _of_a_class(row)]
        if own:
            row: Setting | None = own[0]
        elif self._call is not None:
            row = self._given(self._call, plain, names)
        else:
            row = named(plain, *names)
        if row is None:
            return None
        self._used.append(row)
        return float(row.value)

    def _given(self, call: ast.Call, plain: Sequence[Setting], names: Sequence[str]) -> Setting | None:
        """The setting behind an argument such as `args.epochs` or `cfg["t_max"]`; None where the default holds."""
        places = dict(zip(_POSITIONS.get(self.kind, ()), call.args, strict=False))
        places |= {keyword.arg: keyword.value for keyword in call.keywords if keyword.arg}
        value = next((places[name] for name in names if name in places), None)
        if value is None:
            return None
        row = named(plain, _last_name(value))
        if row is None:
            raise _Unclear
        return row

    def numbers(self, name: str) -> list[float]:
        """A list of numbers, which settings hold item by item."""
        form = re.compile(rf"(?:^|\.){re.escape(name)}\[\d+\]$", re.IGNORECASE)
        rows = [row for row in self._settings if is_number(row) and form.search(row.key)]
        first = [row for row in rows if row.source == rows[0].source]
        self._used += first[:1]
        return [float(row.value) for row in first]

    def plan(self, rate: Rate, horizon: float | None, unit: Unit = "") -> Plan:
        """The plan, counted in epochs where its horizon fits into the epochs of the run, else in steps."""
        if not unit and horizon is not None and self.epochs is not None:
            unit = "epoch" if horizon <= float(self.epochs.value) else "step"
        return Plan(self.kind, self.base, rate, unit, tuple(self._used), self._certain)

    def horizon(self) -> tuple[float, Unit] | None:
        """How long the run is meant to be: in steps where they are set, else in epochs."""
        if self.steps is not None and float(self.steps.value) > 0:
            self._used.append(self.steps)
            return float(self.steps.value), "step"
        if self.epochs is not None and float(self.epochs.value) > 0:
            self._used.append(self.epochs)
            return float(self.epochs.value), "epoch"
        return None


def _of_a_class(row: Setting) -> bool:
    return re.match(r"[A-Z]\w*(?:LR|Restarts|Plateau)\.", row.key) is not None


def _last_name(value: ast.expr) -> str:
    """`epochs` of `args.epochs`, `cfg["epochs"]` and `EPOCHS`; nothing of what is computed."""
    if isinstance(value, ast.Attribute):
        return value.attr
    if isinstance(value, ast.Subscript) and isinstance(value.slice, ast.Constant):
        return str(value.slice.value)
    return value.id if isinstance(value, ast.Name) else ""


def _kind(run: Run) -> tuple[str, ast.Call | None, bool]:
    """The one schedule that code or configuration name; with two of them nobody knows which one counts."""
    built = [found for unit in run.code for found in _called(unit.tree).items()]
    if len(built) > 1:
        return "", None, False
    if built:
        name, call = built[0]
        return _HELPERS.get(name, name), call if name in _TORCH else None, True
    for row in run.settings:
        if isinstance(row.value, str) and _KEY.search(row.key) and not _of_a_class(row):
            kind = next((kind for kind, form in _WORDS if form.search(row.value)), "")
            # Transformers' argument, whose values have one meaning each.
            return kind, None, row.key.endswith("lr_scheduler_type") and row.value in {"linear", "cosine", "constant"}
    return "", None, False


def _called(tree: ast.Module) -> dict[str, ast.Call]:
    names: dict[str, ast.Call] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            if name in _HELPERS or re.fullmatch(
                r"[A-Z]\w*LR|CosineAnnealingWarmRestarts|ReduceLROnPlateau|ChainedScheduler", name
            ):
                names[name] = node
    return names


def _base(settings: Sequence[Setting], kind: str) -> Setting | None:
    names = ("max_lr", *_BASES) if kind == "OneCycleLR" else _BASES
    numbers = [row for row in rates(settings) if not row.key.startswith("OneCycleLR.") or kind == "OneCycleLR"]
    for name in names:
        found = named(numbers, name)
        if found is not None:
            return found
    return numbers[0] if numbers else None


def _step(asked: _Asked) -> Plan | None:
    size, gamma = asked.number("step_size", "lr_step_size", "lr_step"), asked.number("gamma", "lr_gamma")
    if not size or size <= 0:
        return None
    factor = 0.1 if gamma is None else gamma
    return asked.plan(lambda at: asked.base * factor ** np.floor(at / size), size)


def _multi_step(asked: _Asked) -> Plan | None:
    edges, gamma = np.array(sorted(asked.numbers("milestones")), float), asked.number("gamma", "lr_gamma")
    if not len(edges):
        return None
    factor = 0.1 if gamma is None else gamma

    def rate(at: Numbers) -> Numbers:
        return asked.base * np.power(factor, np.searchsorted(edges, at, side="right").astype(np.float64))

    return asked.plan(rate, float(edges[-1]))


def _exponential(asked: _Asked) -> Plan | None:
    gamma = asked.number("gamma", "lr_gamma", "decay_rate")
    if gamma is None or not 0 < gamma < 2:
        return None
    return asked.plan(lambda at: asked.base * gamma**at, None)


def _cosine_annealing(asked: _Asked) -> Plan | None:
    period, low = asked.number("T_max", "t_max"), asked.number("eta_min", "min_lr", "lr_min") or 0.0
    if not period or period <= 0:
        return None
    # torch's formula is periodic: past `T_max` the rate climbs again.
    return asked.plan(lambda at: low + (asked.base - low) * (1 + np.cos(np.pi * at / period)) / 2, period)


def _warm_restarts(asked: _Asked) -> Plan | None:
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


def _one_cycle(asked: _Asked) -> Plan | None:
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


def _with_warmup(asked: _Asked) -> Plan | None:
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


_BUILDERS: dict[str, Callable[[_Asked], Plan | None]] = {
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
