"""The picture marks what happened, where it happened, and nothing that did not."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any

import numpy as np
import pytest

from tests.tools.calling import call, load
from traindx.readers import Run, Scope
from traindx.runtime import NoData, Toolbelt

Command = Callable[..., CompletedProcess[str]]


def table(folder: Path, **columns: Sequence[float]) -> None:
    rows = zip(*columns.values(), strict=True)
    body = "".join(f"{at},{','.join(map(str, row))}\n" for at, row in enumerate(rows, 1))
    (folder / "metrics.csv").write_text(f"step,{','.join(columns)}\n{body}")


def falling(points: int, noise: float = 0.01) -> list[float]:
    wobble = np.random.default_rng(0).normal(0, noise, points)
    values: list[float] = (0.3 + 2 * np.exp(-5 * np.arange(points) / points) + wobble).tolist()
    return values


def drawn(folder: Path, **question: str) -> dict[str, object]:
    output: dict[str, Any] = call(load("visualize_loss_curve"), Run(Scope.of(folder)), **question).model_dump()
    for mark in output["marks"]:
        line = int(mark["locator"].removeprefix("line ").split(",")[0])
        assert mark["quote"] in (folder / mark["source"]).read_text().splitlines()[line - 1]
    return output


def kinds(output: dict[str, object]) -> dict[str, str]:
    marks = output["marks"]
    assert isinstance(marks, list)
    return {mark["what"]: mark["at"] for mark in marks}


def test_a_healthy_run_has_its_best_point_marked_and_nothing_else(tmp_path: Path) -> None:
    table(tmp_path, loss=falling(50), val_loss=[value + 0.1 for value in falling(50)], lr=[0.1] * 50)
    output = drawn(tmp_path)
    assert set(kinds(output)) == {"best"}
    assert "val/loss" in str(output["marks"])
    assert "learning rate" in str(output["pictures"])


def test_the_subtitle_gives_the_values_of_the_file(tmp_path: Path) -> None:
    values = [*falling(38), 34.81, 32.55]
    table(tmp_path, loss=values)
    said = str(drawn(tmp_path)["pictures"])
    assert f"starts at {values[0]:.4g}" in said
    assert "ends at 32.55" in said
    assert f"best {min(values):.4g}" in said


def test_a_break_and_a_nan_are_marked_where_they_are(tmp_path: Path) -> None:
    broken = falling(40)
    broken[25:] = [4.0] * 15
    table(tmp_path, loss=broken)
    assert kinds(drawn(tmp_path))["onset"] == "step 26"
    lost = falling(40)
    lost[30:] = [float("nan")] * 10
    table(tmp_path, loss=lost)
    found = kinds(drawn(tmp_path))
    assert found["lost"] == "step 31"
    assert "onset" not in found


@pytest.mark.parametrize("points", [60, 5_000])
def test_a_spike_of_one_point_is_marked_and_noise_is_not(tmp_path: Path, points: int) -> None:
    spiked = falling(points)
    spiked[points // 2] += 3.0
    table(tmp_path, loss=spiked)
    assert kinds(drawn(tmp_path))["spike"] == f"step {points // 2 + 1}"
    table(tmp_path, loss=falling(points, noise=0.1))
    assert "spike" not in kinds(drawn(tmp_path))


def test_a_resumption_is_a_seam(tmp_path: Path) -> None:
    steps = [*range(1, 31), *range(25, 55)]
    body = "".join(f"step {step} loss {2 / step:.4f}\n" for step in steps)
    (tmp_path / "train.log").write_text(body)
    assert kinds(drawn(tmp_path))["seam"] == "step 25"


def test_a_gan_is_drawn_as_two_lines_and_a_vae_as_its_parts(tmp_path: Path) -> None:
    table(tmp_path, d_loss=falling(30), g_loss=falling(30)[::-1])
    assert len(drawn(tmp_path)["lines"]) == 2  # type: ignore[arg-type]
    table(tmp_path, loss=falling(30), recon=falling(30), kl=[0.1] * 30)
    assert [row.split(":")[0] for row in drawn(tmp_path)["lines"]] == ["train/loss", "train/recon", "train/kl"]  # type: ignore[attr-defined]


def test_evaluations_counted_in_epochs_stand_at_their_steps(tmp_path: Path) -> None:
    body = "".join(
        f"step {step} loss {3 / step:.4f}\n"
        + (f"epoch {step // 10} val_loss {4 / step:.4f}\n" if step % 10 == 0 else "")
        for step in range(1, 61)
    )
    (tmp_path / "train.log").write_text(body)
    output = drawn(tmp_path)
    assert "val/loss" in str(output["lines"])


def test_a_chosen_series_and_one_that_is_not_there(tmp_path: Path) -> None:
    table(tmp_path, loss=falling(30), acc=np.linspace(0, 1, 30).tolist())
    assert "acc" in str(drawn(tmp_path, series="acc")["lines"])
    with pytest.raises(NoData, match="`f1`"):
        drawn(tmp_path, series="f1")


@pytest.mark.slow
def test_in_the_sandbox_a_png_needs_no_file(tmp_path: Path) -> None:
    pytest.importorskip("PIL")
    table(tmp_path, loss=falling(50))
    with Toolbelt(Scope.of(tmp_path)) as toolbelt:
        result = toolbelt.call("visualize_loss_curve", {"format": "both"})
    assert result.status == "ok", result.reason
    assert base64.b64decode(result.output["pictures"]["png"]).startswith(b"\x89PNG")
    assert result.output["pictures"]["svg"].startswith("<svg")


@pytest.mark.slow
def test_the_command_writes_where_it_is_told_and_never_into_the_run(traindx: Command, tmp_path: Path) -> None:
    run = tmp_path / "run"
    run.mkdir()
    table(run, loss=falling(50))
    out = tmp_path / "loss.svg"
    done = traindx("tool", "visualize_loss_curve", run, "--out", out)
    assert done.returncode == 0, done.stderr
    assert out.read_text().startswith("<svg")
    assert str(out) in done.stdout
    for place, why in ((run / "loss.png", "read-only"), (tmp_path, "it is a folder"), (tmp_path / "loss.pdf", "*.png")):
        refused = traindx("tool", "visualize_loss_curve", run, "--out", place)
        assert refused.returncode == 2
        assert why in refused.stderr
        assert len(refused.stderr.strip().splitlines()) == 1
    assert [path.name for path in run.iterdir()] == ["metrics.csv"]


@pytest.mark.slow
def test_without_a_place_the_command_says_how_to_get_the_file(traindx: Command, tmp_path: Path) -> None:
    table(tmp_path, loss=falling(50))
    done = traindx("tool", "visualize_loss_curve", tmp_path)
    assert "best" in done.stdout
    assert "--out FILE.png" in done.stdout
    assert "<svg" not in done.stdout


@pytest.mark.slow
def test_a_diagnosis_with_its_picture(traindx: Command, tmp_path: Path) -> None:
    run, out = tmp_path / "run", tmp_path / "curve.svg"
    run.mkdir()
    broken = falling(40)
    broken[25:] = [4.0] * 15
    table(run, loss=broken)
    done = traindx("diagnose", run, "--plot", out, "--json")
    assert json.loads(done.stdout)["analysis_artifacts"] == {"loss_visualization": str(out)}
    assert "rose permanently from step 26" in out.read_text()
    refused = traindx("diagnose", run, "--plot", run / "curve.svg")
    assert (refused.returncode, [path.name for path in run.iterdir()]) == (2, ["metrics.csv"])


@pytest.mark.slow
def test_a_diagnosis_without_a_curve_says_so(traindx: Command, tmp_path: Path) -> None:
    run, out = tmp_path / "run", tmp_path / "curve.svg"
    run.mkdir()
    (run / "config.yaml").write_text("lr: 0.1\n")
    done = traindx("diagnose", run, "--plot", out, "--json")
    assert done.returncode == 0, done.stderr
    assert "was not drawn" in str(json.loads(done.stdout)["missing"])
    assert not out.exists()
