"""What config and code say about the scheduler of a run: which one it is, and with which arguments."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from traindx.detectors.curves.shape import Numbers
from traindx.detectors.settings.lookup import is_number, named, rates
from traindx.readers.code.codeunit import CodeUnit
from traindx.readers.model import Setting
from traindx.vocabulary.settings import EPOCH_NAMES, RATE_NAMES, SCHEDULER, STEP_NAMES

Unit = Literal["step", "epoch", ""]
Rate = Callable[[Numbers], Numbers]
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
_OTHER_SHAPES = {"anneal_strategy", "three_phase"}


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


class Unclear(Exception):
    """An argument is given, and its value cannot be told without running the code."""


class Asked:
    """What the settings say to one kind of schedule; every setting that was used is remembered."""

    def __init__(
        self, settings: Sequence[Setting], kind: str, base: Setting, call: ast.Call | None, certain: bool
    ) -> None:
        self.kind, self.base = kind, float(base.value)
        self._call, self._certain = call, certain
        self._settings = settings
        self._used = [base]
        self.epochs = named(settings, *EPOCH_NAMES)
        self.steps = named(settings, *STEP_NAMES)

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
            raise Unclear
        return row

    def numbers(self, name: str) -> list[float]:
        """A list of numbers, which settings hold item by item."""
        form = re.compile(rf"(?:^|\.){re.escape(name)}\[\d+\]$", re.IGNORECASE)
        rows = [row for row in self._settings if is_number(row) and form.search(row.key)]
        own = [row for row in rows if row.key.startswith(f"{self.kind}.")] or rows
        first = [row for row in own if row.key.rpartition("[")[0] == own[0].key.rpartition("[")[0]]
        first = [row for row in first if row.source == own[0].source]
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


def scheduler_of(settings: Sequence[Setting], code: Sequence[CodeUnit]) -> tuple[str, ast.Call | None, bool]:
    """The one schedule that code or configuration name; with two of them nobody knows which one counts."""
    built = [found for unit in code for found in _called(unit.tree).items()]
    if len(built) > 1:
        return "", None, False
    if built:
        name, call = built[0]
        other = any(keyword.arg in _OTHER_SHAPES for keyword in call.keywords)
        # What a helper is given is computed as a rule; the run's length stands in for it.
        return _HELPERS.get(name, name) if not other else "", call if name in _TORCH else None, name in _TORCH
    for row in settings:
        if isinstance(row.value, str) and SCHEDULER.search(row.key) and not _of_a_class(row):
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


def base_rate(settings: Sequence[Setting], kind: str) -> Setting | None:
    """The learning rate that the schedule is a shape of."""
    names = ("max_lr", *RATE_NAMES) if kind == "OneCycleLR" else RATE_NAMES
    numbers = [row for row in rates(settings) if not row.key.startswith("OneCycleLR.") or kind == "OneCycleLR"]
    for name in names:
        found = named(numbers, name)
        if found is not None:
            return found
    return numbers[0] if numbers else None
