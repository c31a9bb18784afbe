"""A run that only a tracker saw is diagnosed like any other, its records cited and opened again."""

from pathlib import Path

import pytest

from tests.extras import tensorboard
from traindx import diagnose
from traindx.api import gather_context

pytestmark = pytest.mark.slow


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


def test_epochs_logged_beside_steps_are_lined_up_by_when_they_were_logged(tmp_path: Path) -> None:
    with tensorboard.SummaryWriter(str(tmp_path)) as writer:
        for epoch in range(20):
            rate = 0.01 if epoch < 8 else 0.5
            for batch in range(8):
                step = 8 * epoch + batch
                writer.add_scalar("batch/loss", 0.2 + 2 / (step + 1) + (5.0 if epoch >= 8 else 0.0), 5 * step)
            writer.add_scalar("epoch/lr", rate, epoch)
    axes = {row.name: row.axis for row in gather_context(tmp_path).series}
    assert axes == {"train/loss": "step", "lr": "epoch"}
    cause = diagnose(tmp_path, "the net unlearns everything").root_causes[0]
    assert cause.id == "lr-schedule-spike"
    assert any("epoch 8 of lr" in piece.locator for piece in cause.evidence)


def test_a_series_of_the_first_steps_counts_no_epochs(tmp_path: Path) -> None:
    with tensorboard.SummaryWriter(str(tmp_path)) as writer:
        for step in range(200):
            writer.add_scalar("train/loss", 2 / (step + 1), step)
            if step < 10:
                writer.add_scalar("debug/init_scale", 0.1 * step, step)
    assert {row.axis for row in gather_context(tmp_path).series} == {"step"}
