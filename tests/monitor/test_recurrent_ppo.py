"""The health of a policy's state, from every `evaluate_actions` to the metrics, the telemetry and the diagnosis."""

from __future__ import annotations

import json
import math
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import Command
from tests.extras import torch
from traindx.definitions.content import EXAMPLES
from traindx.monitor import LstmHealth, LstmHealthTracker, compute_lstm_health
from traindx.vocabulary.telemetry import STATE_KEYS

SCRIPT = EXAMPLES / "recurrent-ppo" / "train.py"
RUNS = {
    "healthy": [],
    "explode": ["--fault", "explode"],
    "nan": ["--fault", "nan"],
    "mlp": ["--policy", "mlp", "--updates", "10"],
}


def test_norms_are_averaged_maxima_kept_and_flags_joined() -> None:
    tracker = LstmHealthTracker()
    for size in (1.0, 2.0, 6.0):
        tracker.add((torch.full((1, 1, 4), size), torch.full((1, 1, 1), 10 * size)))
    assert tracker.metrics() == {
        "lstm_h_norm": pytest.approx(6.0),
        "lstm_c_norm": pytest.approx(30.0),
        "lstm_h_max": 6.0,
        "lstm_c_max": 60.0,
        "lstm_has_nan": False,
        "lstm_has_inf": False,
    }
    assert tuple(tracker.metrics()) == STATE_KEYS


def test_one_epoch_that_broke_shows_whatever_its_place() -> None:
    for order in ([math.nan, 1.0], [1.0, math.nan]):
        tracker = LstmHealthTracker()
        for value in order:
            tracker.add((torch.tensor([[[value]]]), torch.ones(1, 1, 1)))
        metrics = tracker.metrics()
        assert (metrics["lstm_has_nan"], metrics["lstm_has_inf"]) == (True, False)
        assert math.isnan(metrics["lstm_h_norm"] or 0.0)
        assert math.isnan(metrics["lstm_h_max"] or 0.0)
        assert metrics["lstm_c_norm"] == 1.0


def test_without_a_recurrent_network_everything_is_none() -> None:
    tracker = LstmHealthTracker()
    assert tracker.add(None) is None
    assert set(tracker.metrics().values()) == {None}
    tracker.add(torch.ones(1, 2, 3))
    assert tracker.metrics()["lstm_c_norm"] is None
    assert tracker.metrics()["lstm_h_norm"] is not None
    tracker.reset()
    assert set(tracker.metrics().values()) == {None}


def test_health_that_was_computed_is_taken_as_it_is() -> None:
    health = compute_lstm_health(torch.ones(1, 2, 3))
    tracker = LstmHealthTracker()
    assert isinstance(health, LstmHealth)
    assert tracker.add(health) is health
    assert tracker.metrics()["lstm_h_max"] == 1.0


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The example, trained four times in folders of their own."""
    pytest.importorskip("torch")
    root = tmp_path_factory.mktemp("ppo")
    running = [
        subprocess.Popen([sys.executable, str(SCRIPT), "--out", str(root / name), *given])
        for name, given in RUNS.items()
    ]
    assert [one.wait(timeout=240) for one in running] == [0] * len(RUNS)
    return root


def telemetry(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / "telemetry.jsonl").read_text().splitlines()]


@pytest.mark.slow
def test_every_update_tells_of_the_state(trained: Path) -> None:
    healthy, exploding, broken, without = (telemetry(trained / name) for name in RUNS)
    assert all(set(STATE_KEYS) <= set(row) for run in (healthy, exploding, broken, without) for row in run)
    assert all(0 < row["lstm_h_norm"] < 40 and row["lstm_h_max"] <= 1 for row in healthy)
    assert not any(row["lstm_has_nan"] or row["lstm_has_inf"] for row in [*healthy, *exploding])
    assert healthy[-1]["episode_length"] > 3 * healthy[0]["episode_length"]
    assert exploding[-1]["lstm_c_norm"] > 1e6
    assert healthy[-1]["lstm_c_norm"] < 100
    assert [row["lstm_has_nan"] for row in broken] == [False] * 20 + [True] * 20
    assert all(row[key] is None for row in without for key in STATE_KEYS)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "cause"), [("healthy", ""), ("explode", "state-explosion"), ("nan", "state-non-finite"), ("mlp", "")]
)
def test_the_diagnosis_of_the_folder_names_the_cause(name: str, cause: str, trained: Path, traindx: Command) -> None:
    said = json.loads(traindx("diagnose", trained / name, "--json").stdout)
    likely = [one for one in said["root_causes"] if one["confidence"] >= 0.5]
    assert [one["id"] for one in likely] == ([cause] if cause else [])
    if cause:
        evidence = likely[0]["evidence"][0]
        assert evidence["verified"]
        assert evidence["source"] == "telemetry.jsonl"
    else:
        assert said["status"] == "healthy"
