"""When a log's values were written, and where a log says that its run was resumed."""

from __future__ import annotations

import logging
from datetime import datetime, timezone
from pathlib import Path

import numpy as np
import pytest

from traindx.readers import Run, Scope, Series


def _loss(folder: Path, text: str) -> Series:
    (folder / "train.log").write_text(text)
    return next(row for row in Run(Scope.of(folder)).series if row.name == "train/loss")


@pytest.mark.parametrize(
    "stamp",
    [
        "2024-02-28 {h:02d}:00:03,250 - trainer - INFO - ",
        "[2024-02-28 {h:02d}:00:03.250] ",
        "[2024-02-28T{h:02d}:00:03.250+00:00][INFO] ",
        "2024/02/28 {h:02d}:00:03.250 | ",
        "[rank0]: 2024-02-28 {h:02d}:00:03.250 ",
    ],
)
@pytest.mark.parametrize("repeats", [1, 200], ids=["few lines", "a large block"])
def test_stamps_of_the_usual_loggers(tmp_path: Path, stamp: str, repeats: int) -> None:
    hours = [hour for hour in range(24) for _ in range(repeats)]
    lines = [f"{stamp.format(h=hour)}step {step} loss {1 / (step + 1):.4f}" for step, hour in enumerate(hours)]
    walls = _loss(tmp_path, "\n".join(lines) + "\n").walls
    assert walls is not None
    midnight = datetime(2024, 2, 28, tzinfo=timezone.utc).timestamp()
    np.testing.assert_allclose(walls, [midnight + 3600 * hour + 3.25 for hour in hours], rtol=0, atol=1e-6)


def test_the_real_logging_module(tmp_path: Path) -> None:
    logger, handler = logging.getLogger("walls"), logging.FileHandler(tmp_path / "train.log")
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(message)s"))
    handler.formatter.converter = __import__("time").gmtime  # type: ignore[union-attr]
    logger.addHandler(handler)
    before = datetime.now(timezone.utc).timestamp()
    for step in range(5):
        logger.warning("step %d loss %.4f", step, 1 / (step + 1))
    handler.close()
    logger.removeHandler(handler)
    (series,) = Run(Scope.of(tmp_path)).series
    assert series.walls is not None
    assert np.all(np.abs(series.walls - before) < 5)


def test_a_line_without_a_stamp_has_the_time_of_the_line_before(tmp_path: Path) -> None:
    text = "step 0 loss 9.0\n" + "".join(
        f"2024-05-01 12:00:0{n} INFO saving\nstep {n + 1} loss {1 / (n + 1):.4f}\n" for n in range(5)
    )
    walls = _loss(tmp_path, text).walls
    assert walls is not None
    assert np.isnan(walls[0])
    assert np.diff(walls[1:]).tolist() == [1.0] * 4


def test_a_log_without_stamps_or_with_impossible_ones_has_no_times(tmp_path: Path) -> None:
    assert _loss(tmp_path, "".join(f"step {n} loss 1.{n}\n" for n in range(9))).walls is None
    assert _loss(tmp_path, "".join(f"2024-13-45 12:00:00 step {n} loss 1.{n}\n" for n in range(9))).walls is None


@pytest.mark.parametrize(
    "said",
    [
        "Resuming from checkpoint out/last.pt",
        "[INFO] Resuming training from checkpoint at out/step_5.ckpt",
        "=> loaded checkpoint 'out/last.pth' (epoch 3)",
        "Restored the latest checkpoint, step 5",
        "[resume] loaded ckpt.pt, continuing at epoch 11",
        "=== job 88120 requeued",
        "Continuing training from step 5",
        "restored last.pt (step 5)",
        "INFO reloaded weights and optimizer from runs/a/last.ckpt @ iter 5",
        "Loading state from ckpt/e003.pth, epoch 3",
        "node is back, restarting from step 5",
        "picked up at iteration 5",
    ],
)
@pytest.mark.parametrize("length", [10, 4_000], ids=["few lines", "a large block"])
def test_a_resumption_whose_step_goes_on_is_marked(tmp_path: Path, said: str, length: int) -> None:
    lines = [f"step {step} loss {1 / (step + 1):.4f}" for step in range(length)]
    assert _loss(tmp_path, "\n".join([*lines[:5], said, *lines[5:]])).restarts == (5,)


@pytest.mark.parametrize(
    "said",
    [
        "Loaded 5 shards from disk, epoch 3",
        "Resume is disabled",
        "presumably at step 5",
        "the loss continues to fall",
        "loaded best.pt (epoch 3) for the test",
        "stored last.txt (step 5)",
        "stored last.pt (step 5)",
        "the best model was loaded from last.pt, epoch 3",
        "loaded the teacher from big.pt (step 5)",
        "starting at epoch 1",
        "wrote last.pt (step 5)",
        "restored weights of pretrained.pt, epoch 90",
        "starting epoch 5",
        "restarting the loader",
    ],
)
def test_other_words_are_no_resumption(tmp_path: Path, said: str) -> None:
    lines = [f"step {step} loss {1 / (step + 1):.4f}" for step in range(10)]
    assert _loss(tmp_path, "\n".join([*lines[:5], said, *lines[5:]])).restarts == ()


def test_a_log_that_begins_with_a_resumption_has_nothing_to_mark(tmp_path: Path) -> None:
    lines = [f"step {step} loss {1 / (step + 1):.4f}" for step in range(100, 110)]
    assert _loss(tmp_path, "\n".join(["Resuming training from checkpoint-100", *lines])).restarts == ()
