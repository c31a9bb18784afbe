"""A good and a bad run: where they part, and the difference that matters comes first."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any

import numpy as np
import pytest

from tests.tools.calling import call, load
from traindx.readers import Run, Scope
from traindx.runtime import NoData, Toolbelt

Command = Callable[..., CompletedProcess[str]]
CODE = """import torch
SEED = {seed}
model = torch.nn.Linear(4, 2)
optimizer = torch.optim.SGD(model.parameters(), lr={lr})
for step in range(100):
    loss = model(torch.randn(8, 4)).pow(2).{reduction}()
    loss.backward()
    optimizer.step()
    print(step, loss.item())
"""


def make(folder: Path, seed: int, *, breaks: int | None = None, config: str = "", code: str = "") -> Path:
    folder.mkdir(parents=True)
    loss = 0.3 + 2 * np.exp(-np.arange(80) / 20) + np.random.default_rng(seed).normal(0, 0.02, 80)
    if breaks is not None:
        loss[breaks:] += 2.0
    (folder / "train.log").write_text("".join(f"step {at} loss {value:.5f}\n" for at, value in enumerate(loss)))
    if config:
        (folder / "config.yaml").write_text(config)
    if code:
        (folder / "train.py").write_text(code)
    return folder


def compared(*paths: Path, **question: str) -> Any:
    scope = Scope.of(*paths)
    output = call(load("compare_runs"), Run(scope), **question)
    for row in [*output.metrics, *output.differences]:
        if row.quote:
            line = int(row.locator.removeprefix("line ").split(",")[0])
            assert row.quote in (scope.root / row.source).read_text().splitlines()[line - 1]
    return output


def test_the_parting_is_found_to_the_step_and_the_learning_rate_comes_first(tmp_path: Path) -> None:
    config = "lr: {lr}\nbatch_size: {batch}\nseed: {seed}\noutput_dir: {out}\n"
    good = make(tmp_path / "a", 0, config=config.format(lr=0.01, batch=32, seed=1, out="runs/a"))
    bad = make(tmp_path / "b", 1, breaks=50, config=config.format(lr=0.3, batch=64, seed=2, out="runs/b"))
    output = compared(good, bad)
    assert (output.good, output.bad) == ("a", "b")
    assert output.first_parting == "train/loss at step 50"
    assert [row.name for row in output.differences] == ["lr", "batch_size", "seed", "output_dir"]
    assert "30-fold" in output.differences[0].reason
    assert output.differences[0].source == "b/config.yaml"


def test_two_seeds_of_one_run_do_not_part(tmp_path: Path) -> None:
    output = compared(make(tmp_path / "a", 0), make(tmp_path / "b", 1))
    assert output.first_parting == ""
    assert [row.at for row in output.metrics] == [""]


def scattered(folder: Path, seed: int, floor: float, points: int = 400) -> Path:
    """A loss of single samples: its scatter is as large as what it learns."""
    folder.mkdir(parents=True)
    scatter = np.random.default_rng(seed).lognormal(0, 1, points)
    loss = floor * scatter / 1.65
    (folder / "train.log").write_text("".join(f"step {at} loss {value:.5f}\n" for at, value in enumerate(loss)))
    return folder


def test_curves_that_scatter_widely_part_by_their_means(tmp_path: Path) -> None:
    apart = compared(scattered(tmp_path / "good", 1, 0.17), scattered(tmp_path / "bad", 2, 2.37))
    assert apart.first_parting.startswith("train/loss at step")
    alike = compared(scattered(tmp_path / "one", 1, 2.37), scattered(tmp_path / "two", 2, 2.37))
    assert alike.first_parting == ""


def test_too_few_points_are_said_to_be_too_few(tmp_path: Path) -> None:
    short = compared(scattered(tmp_path / "good", 1, 0.17, 3), scattered(tmp_path / "bad", 2, 2.37, 3))
    assert "too few points" in short.metrics[0].reason


def test_a_spike_that_is_over_is_no_parting(tmp_path: Path) -> None:
    good, bad = make(tmp_path / "a", 0), make(tmp_path / "b", 0)
    lines = (bad / "train.log").read_text().splitlines()
    lines[40:43] = [f"step {step} loss 9.0" for step in (40, 41, 42)]
    (bad / "train.log").write_text("\n".join(lines))
    assert compared(good, bad).first_parting == ""


def test_runs_of_one_seed_are_equal_to_the_digit_before(tmp_path: Path) -> None:
    output = compared(make(tmp_path / "a", 0), make(tmp_path / "b", 0, breaks=30))
    assert output.metrics[0].identical_points == 30
    assert output.metrics[0].at == "step 30"


def test_a_nan_is_a_parting(tmp_path: Path) -> None:
    good, bad = make(tmp_path / "a", 0), make(tmp_path / "b", 1)
    lines = (bad / "train.log").read_text().splitlines()
    (bad / "train.log").write_text("\n".join([*lines[:60], *(f"step {step} loss nan" for step in range(60, 80))]))
    assert compared(good, bad).first_parting == "train/loss at step 60"


def test_code_of_the_loss_ranks_above_comments_and_a_constant_is_told_once(tmp_path: Path) -> None:
    good = make(tmp_path / "a", 0, code=CODE.format(seed=1, lr=0.1, reduction="mean"))
    bad = make(tmp_path / "b", 1, breaks=40, code=CODE.format(seed=1, lr=0.1, reduction="sum"))
    (good / "notes.py").write_text("# one\nx = 1\n")
    (bad / "notes.py").write_text("# two\nx = 1\n")
    rows = compared(good, bad).differences
    assert [row.name for row in rows] == ["train.py", "notes.py"]
    assert "sum()" in rows[0].quote
    assert rows[0].suspicion > 0.8
    assert rows[1].suspicion < 0.1
    assert "+    loss = model" in rows[0].diff
    (bad / "train.py").write_text(CODE.format(seed=1, lr=0.9, reduction="mean"))
    rows = compared(good, bad).differences
    assert [(row.kind, row.name) for row in rows if row.suspicion > 0.1] == [("setting", "SGD.lr")]


def test_added_and_removed_settings_are_told_and_a_missing_file_is_not_a_hundred_of_them(tmp_path: Path) -> None:
    good = make(tmp_path / "a", 0, config="lr: 0.1\nclip_grad_norm: 1.0\n")
    bad = make(tmp_path / "b", 1, config="lr: 0.1\nfp16: true\n")
    rows = {row.name: row for row in compared(good, bad).differences}
    assert (rows["clip_grad_norm"].bad, rows["fp16"].good) == ("(not set)", "(not set)")
    assert rows["clip_grad_norm"].source == "a/config.yaml"
    (bad / "config.yaml").unlink()
    assert compared(good, bad).differences == []


def test_a_folder_of_two_runs_tells_the_good_one_by_its_curve(tmp_path: Path) -> None:
    make(tmp_path / "first", 0, breaks=50)
    make(tmp_path / "second", 1)
    output = compared(tmp_path)
    assert (output.good, output.bad) == ("second", "first")
    make(tmp_path / "third", 2)
    with pytest.raises(NoData, match="`third`"):
        compared(tmp_path)
    assert compared(tmp_path, good="third", bad="first").good == "third"


def test_two_logs_and_the_commits_they_name(tmp_path: Path) -> None:
    good, bad = make(tmp_path / "a", 0), make(tmp_path / "b", 1, breaks=50)
    for folder, digit in ((good, "a"), (bad, "b")):
        (folder / "git_commit.txt").write_text(f"commit {digit * 40}\n")
    (row,) = compared(good, bad).differences
    assert (row.kind, row.good, row.bad) == ("git", "a" * 12, "b" * 12)
    assert compared(good / "train.log", bad / "train.log").first_parting == "train/loss at step 50"


@pytest.mark.slow
def test_on_the_command_line_and_in_the_sandbox(traindx: Command, tmp_path: Path) -> None:
    good = make(tmp_path / "a", 0, config="lr: 0.01\n")
    bad = make(tmp_path / "b", 1, breaks=50, config="lr: 0.3\n")
    done = traindx("tool", "compare_runs", good, bad, "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["output"]["first_parting"] == "train/loss at step 50"
    with Toolbelt(Scope.of(good, bad)) as toolbelt:
        refused = toolbelt.call("compare_runs", {"good": "../x", "bad": "b"})
    assert refused.status == "failed"
    assert ".." in refused.reason
