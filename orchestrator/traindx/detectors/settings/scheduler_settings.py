"""What config and code say about the scheduler of a run: which one it is, and with which arguments."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from traindx.detectors.curves.shape import Numbers
from traindx.detectors.settings.lookup import is_number, named, rates
from traindx.program.analysis import Analysis
from traindx.program.queries import class_of
from traindx.program.trace import Event
from traindx.program.uncalled import events_beside
from traindx.program.values import Guess, Made, Plain, Value, is_none
from traindx.readers.code.syntax import name_of
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
_CLASS = re.compile(r"[A-Z]\w*LR|CosineAnnealingWarmRestarts|ReduceLROnPlateau|ChainedScheduler")
_MAKING = ("scheduler", "own-scheduler", "foreign")
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

    def __init__(self, settings: Sequence[Setting], kind: str, base: Setting, made: Made | None, certain: bool) -> None:
        self.kind, self.base = kind, float(base.value)
        self._made, self._certain = made, certain
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
        elif self._made is not None:
            row = self._given(self._made, plain, names)
        else:
            row = named(plain, *names)
        if row is None:
            return None
        self._used.append(row)
        return float(row.value)

    def _given(self, made: Made, plain: Sequence[Setting], names: Sequence[str]) -> Setting | None:
        """The setting behind an argument such as `args.epochs` or `cfg["t_max"]`; None where the default holds."""
        places = dict(zip(_POSITIONS.get(self.kind, ()), made.args, strict=False)) | made.keywords
        value = next((places[name] for name in names if name in places), None)
        if value is None or is_none(value):
            return None
        row = named(plain, _last_name(value)) if _last_name(value) else None
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


def _last_name(value: Value) -> str:
    """`epochs` of `args.epochs`, `cfg["epochs"]` and a number bound to that name; nothing of what is computed."""
    words = re.findall(r"\w+", value.name) if isinstance(value, Guess | Plain) else []
    return str(words[-1]) if words else ""


def scheduler_of(settings: Sequence[Setting], analyses: Sequence[Analysis]) -> tuple[str, Made | None, bool]:
    """The one schedule that code or configuration name; with two of them nobody knows which one counts."""
    built = _built(analyses)
    if len(built) > 1:
        return "", None, False
    if built:
        name, made = built[0]
        other = any(keyword in _OTHER_SHAPES for keyword in made.keywords)
        # What a helper is given is computed as a rule; the run's length stands in for it.
        return _HELPERS.get(name, name) if not other else "", made if name in _TORCH else None, name in _TORCH
    for row in settings:
        if isinstance(row.value, str) and SCHEDULER.search(row.key) and not _of_a_class(row):
            kind = next((kind for kind, form in _WORDS if form.search(row.value)), "")
            # Transformers' argument, whose values have one meaning each.
            return kind, None, row.key.endswith("lr_scheduler_type") and row.value in {"linear", "cosine", "constant"}
    return "", None, False


def _built(analyses: Sequence[Analysis]) -> list[tuple[str, Made]]:
    """The schedulers that the programs make, each once for a file, with the last one's arguments."""
    events = [event for analysis in analyses for event in analysis.trace.of(*_MAKING)]
    events += events_beside(analyses, _makes, *_MAKING)
    found = {(event.place.unit.path, name): made for event in events for name, made in _scheduler(event)}
    return [(name, made) for (_, name), made in found.items()]


def _scheduler(event: Event) -> Iterator[tuple[str, Made]]:
    """The class of a scheduler with its arguments, also of one that only its name tells of."""
    made = event.subject
    if event.kind == "scheduler" and isinstance(made, Made):
        name = class_of(made)
    else:
        call = event.facts["call"]
        name = str(event.facts["name"]).rpartition(".")[2]
        made = Made(kind="scheduler", args=tuple(call.args), keywords=call.keywords)
    if name in _HELPERS or _CLASS.fullmatch(name):
        yield name, made


def _makes(node: ast.AST) -> bool:
    name = name_of(node.func) if isinstance(node, ast.Call) else ""
    return name in _HELPERS or _CLASS.fullmatch(name) is not None


def base_rate(settings: Sequence[Setting], kind: str) -> Setting | None:
    """The learning rate that the schedule is a shape of."""
    names = ("max_lr", *RATE_NAMES) if kind == "OneCycleLR" else RATE_NAMES
    numbers = [row for row in rates(settings) if not row.key.startswith("OneCycleLR.") or kind == "OneCycleLR"]
    for name in names:
        found = named(numbers, name)
        if found is not None:
            return found
    return numbers[0] if numbers else None
