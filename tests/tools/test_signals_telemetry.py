"""What a monitor inside the training saw."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.tools.signal_case import Case, case, check

TOOL = "inspect_telemetry"
ORIGINS = "origin-in-inputs origin-in-weights origin-in-own-module origin-in-layer origin-in-gradient"


def others(name: str) -> str:
    return " ".join(one for one in ORIGINS.split() if one != name)


def telemetry(*events: dict[str, Any], **columns: list[float]) -> dict[str, str]:
    rows = [{"step": 1, "event": "start", "model": "Net on cpu"}]
    rows += [dict(zip(columns, values, strict=True)) for values in zip(*columns.values(), strict=True)]
    for number, row in enumerate(rows):
        row["step"] = number + 1
    return {"traindx-monitor.jsonl": "".join(json.dumps(row, separators=(",", ":")) + "\n" for row in [*rows, *events])}


def event(origin: str, at: str, kind: str, found: str = "is NaN", step: int = 31) -> dict[str, Any]:
    return {"step": step, "event": "non-finite", "from": origin, "at": at, "class": kind, "found": found}


FALLING = [1.0 / (1 + step) for step in range(30)]
EVEN = [0.01 * (step % 3) for step in range(30)]
ONES = [1.0 + 0.01 * (step % 2) for step in range(30)]


def inputs(mean: float, spread: float) -> dict[str, str]:
    values = {"input_mean": EVEN, "input_std": ONES, "val/input_mean": [mean] * 30, "val/input_std": [spread] * 30}
    return telemetry(**values, loss=FALLING)


CASES = [
    case(TOOL, "a batch with NaN", telemetry(event("input", "argument 0", "Tensor"), loss=FALLING),
         "origin-in-inputs", others("origin-in-inputs")),
    case(TOOL, "weights that were NaN before", telemetry(event("weight", "parameter fc.weight", "torch.nn.Linear")),
         "origin-in-weights", others("origin-in-weights")),
    case(TOOL, "a logarithm in the program", telemetry(event("module", "module head.log", "model.Log", "is Inf")),
         "origin-in-own-module", others("origin-in-own-module")),
    case(TOOL, "a layer that overflows", telemetry(event("module", "module fc", "torch.nn.Linear", "is Inf")),
         "origin-in-layer", others("origin-in-layer")),
    case(TOOL, "a gradient", telemetry(event("gradient", "parameter fc.weight", "torch.nn.Linear")),
         "origin-in-gradient", others("origin-in-gradient")),
    case(TOOL, "the earliest of several",
         telemetry(event("module", "module fc", "torch.nn.Linear", step=40), event("input", "argument 0", "Tensor")),
         "origin-in-inputs", others("origin-in-inputs")),
    case(TOOL, "nothing broke", telemetry(loss=FALLING), silent=ORIGINS),
    case(TOOL, "damaged and unknown events",
         {"traindx-monitor.jsonl": '{"step":1,"event":"non-finite"}\n{"step":2,"event":"non-finite","from":"mo\n'
          + json.dumps(event("moon", "module x", "y")) + "\n"}, silent=ORIGINS),
    case(TOOL, "pixels that are scaled in training alone", inputs(120.0, 60.0), "eval-inputs-on-other-scale",
         "eval-inputs-alike"),
    case(TOOL, "noise in training alone", inputs(0.02, 0.7), "eval-inputs-alike", "eval-inputs-on-other-scale"),
    case(TOOL, "a shifted mean of wide inputs", inputs(0.5, 1.4), "eval-inputs-alike", "eval-inputs-on-other-scale"),
    case(TOOL, "training alone", telemetry(input_mean=EVEN, input_std=ONES),
         silent="eval-inputs-on-other-scale eval-inputs-alike"),
]  # fmt: skip


@pytest.mark.parametrize("one", CASES, ids=lambda one: one.label)
def test_a_signal_fires_where_it_must_and_only_there(one: Case, tmp_path: Path) -> None:
    check(one, tmp_path)
