"""The examples are real: their trainings, run again, do what the committed logs show."""

from __future__ import annotations

import shutil
import subprocess
import sys

import pytest

from traindx.definitions.content import EXAMPLES
from traindx.readers import Run, Scope, Series


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Run]:
    """Both trainings, run again beside each other in copies of their folders."""
    pytest.importorskip("torch")
    root = tmp_path_factory.mktemp("examples")
    trainings = []
    for name in ("schedule-change", "schedule-change-healthy"):
        shutil.copytree(EXAMPLES / name, root / name, ignore=shutil.ignore_patterns("*.log", "*.csv"))
        trainings.append(subprocess.Popen([sys.executable, str(root / name / "train.py")]))
    assert [training.wait(timeout=120) for training in trainings] == [0, 0]
    return {folder.name: Run(Scope.of(folder)) for folder in root.iterdir()}


def _series(run: Run, name: str, source: str = "metrics.csv") -> Series:
    (series,) = [series for series in run.series if (series.name, series.source) == (name, source)]
    assert (series.axis, series.at.tolist()) == ("epoch", list(range(1, 13)))
    return series


@pytest.mark.slow
def test_the_training_breaks_when_its_schedule_raises_the_rate(trained: dict[str, Run]) -> None:
    run = trained["schedule-change"]
    loss, norm, rate = (_series(run, name).values for name in ("train/loss", "grad_norm", "lr"))
    assert loss[5] < 0.2
    assert loss[6] > 1.0
    assert loss[6:].min() > 10 * loss[:6].min()
    assert norm[6] > 3 * norm[:6].max()
    assert rate[6] > 10 * rate[5]
    assert _series(run, "train/loss", "train.log").values.tolist() == loss.tolist()


@pytest.mark.slow
def test_its_twin_converges(trained: dict[str, Run]) -> None:
    run = trained["schedule-change-healthy"]
    loss, held_out, rate = (_series(run, name).values for name in ("train/loss", "val/loss", "lr"))
    assert rate[6] < rate[5]
    assert loss[-1] == pytest.approx(loss.min(), rel=0.05)
    assert held_out[-1] < 1.5 * loss[-1]
    assert held_out[-1] < 1.1 * held_out.min()


def test_the_twins_differ_in_one_line() -> None:
    ours, theirs = (EXAMPLES / name for name in ("schedule-change", "schedule-change-healthy"))
    assert (ours / "train.py").read_bytes() == (theirs / "train.py").read_bytes()
    lines = zip(
        (ours / "config.yaml").read_text().splitlines(), (theirs / "config.yaml").read_text().splitlines(), strict=True
    )
    assert [pair for pair in lines if pair[0] != pair[1]] == [("    lr: 0.4", "    lr: 0.004")]


@pytest.mark.parametrize("name", ["schedule-change", "schedule-change-healthy", "poor-folder"])
def test_examples_are_small_and_know_no_machine(name: str) -> None:
    files = [path for path in (EXAMPLES / name).iterdir() if path.is_file()]
    assert sum(path.stat().st_size for path in files) < 200_000
    assert not [path for path in files if b"/home/" in path.read_bytes() or b"/tmp/" in path.read_bytes()]
