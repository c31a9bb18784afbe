"""A run that only a tracker saw is diagnosed like any other, its records cited and opened again."""

import warnings
from pathlib import Path

import pytest

from traindx import diagnose
from traindx.walk import gather_context

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    tensorboard = pytest.importorskip("torch.utils.tensorboard")


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("runs")
    with tensorboard.SummaryWriter(str(folder)) as writer:
        for step in range(60):
            rate = 0.01 if step < 40 else 0.5
            writer.add_scalar("train/loss", 0.2 + 2 / (step + 1) + (5.0 if step >= 40 else 0.0), step * 100)
            writer.add_scalar("lr", rate, step * 100, new_style=True)
    return folder


def test_the_series_are_there_with_their_steps(run: Path) -> None:
    series = {row.name: row for row in gather_context(run).series}
    assert (series["train/loss"].points, series["train/loss"].axis, series["train/loss"].end) == (60, "step", 5900)
    assert series["lr"].last == 0.5


def test_the_cause_is_named_with_verified_records(run: Path) -> None:
    cause = diagnose(run, "the loss jumped up").root_causes[0]
    assert cause.id == "lr-schedule-spike"
    assert cause.confidence >= 0.9
    assert all(piece.verified for piece in cause.evidence)
    assert any("step 4000 of train/loss" in piece.locator for piece in cause.evidence)
