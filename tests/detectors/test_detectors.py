"""Detectors work on values alone, and declare the signals that they give."""

from __future__ import annotations

import ast
import importlib
import pkgutil
from collections import defaultdict
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from traindx import detectors
from traindx.contract import SignalKind
from traindx.detectors.curves import breaks, rhythm
from traindx.detectors.curves.objective import objective
from traindx.detectors.settings import capacity, logged_rate, unusual_rate
from traindx.monitor.probing.declaration import probes
from traindx.readers.model import Excerpt, Series, Setting
from traindx.runtime.discovery import load_tool, tool_names

NAMES = [found.name for found in pkgutil.walk_packages(detectors.__path__, f"{detectors.__name__}.") if not found.ispkg]
MODULES = [importlib.import_module(name) for name in NAMES]
DECLARING = [module for module in MODULES if hasattr(module, "SIGNALS")]
EMITTED = {signal: kind for name, path in tool_names().items() for signal, kind in load_tool(name, path).emits.items()}


def given_by(module: ModuleType) -> set[str]:
    """The ids that stand in the calls of a module which make a signal."""
    assert module.__file__ is not None
    tree = ast.parse(Path(module.__file__).read_text("utf-8"))
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
    return {
        str(word.value.value)
        for call in calls
        if isinstance(call.func, ast.Name) and call.func.id == "Signal"
        for word in call.keywords
        if word.arg == "id" and isinstance(word.value, ast.Constant)
    }


@pytest.mark.parametrize("module", MODULES, ids=NAMES)
def test_what_a_detector_gives_is_declared_beside_it(module: ModuleType) -> None:
    assert given_by(module) <= set(getattr(module, "SIGNALS", {}))


def test_the_signals_of_the_detectors_are_those_of_the_tools() -> None:
    declared = {signal for module in DECLARING for signal in module.SIGNALS}
    measured = {signal for probe in probes().values() for signal in probe.signals}
    assert declared | measured == set(EMITTED)


def test_a_group_has_several_readings() -> None:
    groups: dict[str, set[str]] = defaultdict(set)
    for module in DECLARING:
        for signal, kind in module.SIGNALS.items():
            if isinstance(kind, SignalKind) and kind.group:
                groups[kind.group].add(signal)
    assert groups == {
        "loss-fell": {"loss-fell", "loss-fell-far"},
        "lr-above-usual": {"lr-absurd", "lr-far-above-usual"},
        "regularised": {"regularised-absurdly", "regularised-heavily"},
        "non-finite": {"error-not-finite", "grad-norm-non-finite", "loss-non-finite"}
        | {name for module in DECLARING for name in module.SIGNALS if name.startswith("origin-in-")},
    }


def curve(values: list[float], **more: object) -> Series:
    """A loss by step, with no file behind it."""
    count = np.arange(len(values))
    at = count.astype(np.float64)
    return Series("train/loss", "loss", "memory", "step", at, np.array(values), count + 1, **more)  # type: ignore[arg-type]


def test_a_curve_in_memory_is_judged_as_one_from_a_file() -> None:
    values = [*(2.0 - 0.05 * step for step in range(30)), *[9.0] * 10]
    series = [curve(values, texts=tuple(map(str, values)))]
    goal = objective(series)
    assert goal is not None
    found = breaks.detect(goal, series)
    assert [signal.id for signal in found] == ["loss-diverged"]
    assert [(place.locator, place.quote) for place in found[0].citations] == [
        ("line 30, step 29", str(values[29])),
        ("line 31, step 30", "9.0"),
    ]
    assert rhythm.detect(goal) == []


def test_settings_need_no_file_to_be_judged() -> None:
    found = unusual_rate.detect([Setting("lr", 3.0, "config.yaml", 4)], None, "adam")
    assert [signal.id for signal in found] == ["lr-far-above-usual", "lr-absurd"]
    assert (found[0].citations[0].source, found[0].citations[0].locator) == ("config.yaml", "line 4")


def test_a_program_with_optimizers_of_several_kinds_has_no_one_rate() -> None:
    rates = [Setting("Adam.lr", 0.6, "train.py", 4, coded=True), Setting("Muon.lr", 0.05, "train.py", 5, coded=True)]
    assert unusual_rate.detect(rates, None, None) == []
    assert unusual_rate.detect(rates[:1], None, "adam")
    assert unusual_rate.detect([Setting("lr", 3.0, "config.yaml", 4), *rates], None, "adam")


def test_lines_come_as_excerpts() -> None:
    head = Excerpt("train.log", 1, 200, ("starting", "parameters: 33"))
    (signal,) = capacity.detect([], [head])
    assert (signal.citations[0].locator, signal.citations[0].quote) == ("line 2", "parameters: 33")


@pytest.mark.parametrize(
    ("rates", "zero_from"),
    [
        ([0.002 * max(0.0, 1 - n / 12) for n in range(30)], 12),  # each a multiple of the last step before zero
        ([round(0.0003 * 0.9**n, 4) for n in range(30)], None),  # 0.0000 may be half of 0.0001
        ([0.0] + [0.001] * 29, None),
    ],
)
def test_a_zero_of_a_ramp_is_no_rounded_one(rates: list[float], zero_from: int | None) -> None:
    rate = Series("lr", "lr", "memory", "step", np.arange(30.0), np.array(rates), np.arange(1, 31))
    assert logged_rate.stalled_from(rate, 29.0) == zero_from
