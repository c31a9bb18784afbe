"""Series that are short, broken, huge, tiny, upside down or several: an honest answer to each of them."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from traindx import Diagnosis, diagnose
from traindx.definitions.content import TOOLS
from traindx.readers import Run, Scope
from traindx.runtime import NoData
from traindx.runtime.discovery import load_tool, tool_names

pytestmark = pytest.mark.slow

NAN = float("nan")
SURE = 0.5
CURVE_TOOLS = ("analyze_loss_curve", "check_gradients", "check_hyperparameters", "inspect_outputs", "compare_metrics")


def falling(points: int = 60, noise: float = 0.01, floor: float = 0.3, start: float = 2.0) -> list[float]:
    """A run that learns well and has arrived."""
    share = np.arange(points) / points
    wobble = np.random.default_rng(7).normal(0, noise, points)
    values: list[float] = (floor + start * np.exp(-6 * share) + wobble).tolist()
    return values


def broken(points: int = 60, at: float = 0.6) -> list[float]:
    """A run that learns, and jumps up for good."""
    return [value + (3.0 if n >= at * points else 0.0) for n, value in enumerate(falling(points))]


def table(axis: str = "step", at: Sequence[float] | None = None, /, **columns: Sequence[float]) -> str:
    """A metrics table; the positions count from 1 unless they are given."""
    rows = list(zip(*columns.values(), strict=True))
    places = at if at is not None else range(1, len(rows) + 1)
    body = [f"{place},{','.join(map(repr, row))}" for place, row in zip(places, rows, strict=True)]
    return "\n".join([f"{axis},{','.join(columns)}", *body]) + "\n"


def asked(folder: Path, text: str, name: str = "metrics.csv", **more: str) -> Diagnosis:
    """The diagnosis of a folder with this table; no tool may have failed on it."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text(text)
    for other, content in more.items():
        (folder / other.replace("_", ".")).write_text(content)
    found = diagnose(folder)
    assert [use for use in found.provenance.tools if use.status == "failed"] == []
    return found


def sure(found: Diagnosis) -> list[str]:
    """What the diagnosis would have somebody act on."""
    return [cause.id for cause in found.root_causes if cause.confidence >= SURE]


def signals(folder: Path, text: str) -> dict[str, set[str]]:
    """What each tool that looks at curves says of a table."""
    folder.mkdir()
    (folder / "metrics.csv").write_text(text)
    run = Run(Scope.of(folder))
    heard: dict[str, set[str]] = {}
    for name in CURVE_TOOLS:
        tool = load_tool(name, TOOLS / f"{name}.py")
        try:
            heard[name] = {signal.id for signal in tool(tool.input(), run).signals}
        except NoData:
            heard[name] = set()
    return heard


@pytest.mark.parametrize(
    "values", [[2.3], [2.3, 2.1], [NAN], [NAN, NAN, 2.0]], ids=["one point", "two points", "one nan", "one number"]
)
def test_too_little_to_judge_is_said_to_be_too_little(tmp_path: Path, values: list[float]) -> None:
    found = asked(tmp_path, table(loss=values))
    assert found.status in {"needs_more_data", "partial"} or set(sure(found)) <= {"non-finite-loss"}
    assert "overfitting" not in sure(found)


def test_nothing_but_nan_is_a_loss_that_is_not_finite(tmp_path: Path) -> None:
    found = asked(tmp_path, table(loss=[NAN] * 40))
    assert found.status != "healthy"
    assert found.root_causes
    assert found.root_causes[0].id == "non-finite-loss"


def test_a_constant_loss_is_not_healthy_and_not_divergence(tmp_path: Path) -> None:
    found = asked(tmp_path, table(loss=[1.7] * 60))
    assert found.status != "healthy"
    assert not {"overfitting", "learning-rate-too-high", "exploding-gradients", "undertrained"} & set(sure(found))


def test_missing_steps_change_nothing(tmp_path: Path) -> None:
    kept = np.sort(np.random.default_rng(2).choice(400, 120, replace=False))
    whole, gaps = falling(400), table("step", (kept + 1).tolist(), loss=np.array(falling(400))[kept].tolist())
    one, other = asked(tmp_path / "whole", table(loss=whole)), asked(tmp_path / "gaps", gaps)
    assert (one.status, sure(one)) == (other.status, sure(other)) == ("healthy", [])


def test_steps_out_of_order_are_no_break(tmp_path: Path) -> None:
    places = np.arange(1, 121)
    places[10:110] = places[10:110].reshape(-1, 2)[:, ::-1].ravel()
    curve = np.array(falling(120))
    found = asked(tmp_path, table("step", places.tolist(), loss=curve[places - 1].tolist()))
    assert sure(found) == []


def test_two_runs_in_one_file_are_no_break(tmp_path: Path) -> None:
    again = table(loss=falling(60)) + table(loss=falling(60)).split("\n", 1)[1]
    found = asked(tmp_path, again)
    assert not {"learning-rate-too-high", "lr-schedule-spike", "exploding-gradients", "overfitting"} & set(sure(found))


@pytest.mark.parametrize(("curve", "healthy"), [(falling(200), True), (broken(200), False)], ids=["falls", "breaks"])
def test_three_billion_steps(tmp_path: Path, curve: list[float], healthy: bool) -> None:
    far = [3_000_000_000 + 10_000_000 * n for n in range(200)]
    near, distant = asked(tmp_path / "near", table(loss=curve)), asked(tmp_path / "far", table("step", far, loss=curve))
    assert near.status == distant.status
    assert (near.status == "healthy") is healthy
    assert sure(near) == sure(distant)
    assert re.search(r"\d[eE]\+\d", distant.model_dump_json(exclude={"provenance"})) is None


@pytest.mark.parametrize("curve", [falling, broken], ids=["falls", "breaks"])
def test_ten_points_and_a_hundred_thousand_say_the_same(tmp_path: Path, curve: Callable[[int], list[float]]) -> None:
    rates = {10: [0.01] * 10, 100_000: [0.01] * 100_000}
    few, many = (
        asked(tmp_path / str(points), table("step", None, loss=curve(points), lr=rates[points]))
        for points in (10, 100_000)
    )
    assert few.status == many.status
    assert [cause.id for cause in few.root_causes][:1] == [cause.id for cause in many.root_causes][:1]


SHAPES: Mapping[str, Mapping[str, list[float]]] = {
    "falls": {"loss": falling()},
    "breaks": {"loss": broken()},
    "swings": {"loss": [1.0 + (0.8 if n % 2 else -0.5) for n in range(60)]},
    "overfits": {
        "loss": falling(floor=0.02),
        "val_loss": [max(0.6, value) + 0.02 * max(0, n - 20) for n, value in enumerate(falling())],
    },
    "gradients explode": {"loss": broken(), "grad_norm": [1.0] * 30 + [100.0] * 30},
    "still falling": {"loss": np.linspace(3, 1, 60).tolist()},
    "spike": {"loss": [value + (4.0 if n == 40 else 0.0) for n, value in enumerate(falling())]},
}


@pytest.mark.parametrize("factor", [1e-9, 1e9])
@pytest.mark.parametrize("shape", SHAPES)
def test_a_scale_changes_no_signal(tmp_path: Path, shape: str, factor: float) -> None:
    plain = signals(tmp_path / "plain", table(**SHAPES[shape]))
    scaled = {name: [value * factor for value in values] for name, values in SHAPES[shape].items()}
    assert signals(tmp_path / "scaled", table(**scaled)) == plain
    assert any(plain.values())


@pytest.mark.parametrize("shift", [-5.0, -50.0, -1000.0])
def test_negative_losses(tmp_path: Path, shift: float) -> None:
    good = asked(tmp_path / "good", table(nll=[value + shift for value in falling(200)]))
    bad = asked(tmp_path / "bad", table(nll=[value + shift for value in broken(200)]))
    assert sure(good) == []
    assert good.status == "healthy"
    assert bad.status != "healthy"


def test_a_reward_that_rises_is_healthy_and_one_that_falls_is_not(tmp_path: Path) -> None:
    rising = [-value for value in falling(200, noise=0.05)]
    falls = [-value for value in broken(200)]
    good = asked(tmp_path / "good", table(mean_reward=rising, policy_loss=[0.01 * (-1) ** n for n in range(200)]))
    bad = asked(tmp_path / "bad", table(mean_reward=falls, policy_loss=[0.01 * (-1) ** n for n in range(200)]))
    assert sure(good) == []
    assert bad.status != "healthy"


def test_adversaries_in_balance_are_healthy(tmp_path: Path) -> None:
    chance = np.random.default_rng(4)
    d, g = (level + chance.normal(0, 0.1, 300) for level in (1.38, 0.8))
    found = asked(tmp_path, table(d_loss=d.tolist(), g_loss=g.tolist()))
    assert sure(found) == []


def test_a_total_that_rises_with_the_warm_up_of_its_kl_is_no_divergence(tmp_path: Path) -> None:
    beta = np.minimum(1.0, np.arange(100) / 50)
    reconstruction, kl = np.array(falling(100, floor=20.0, start=60.0)), 15 * np.ones(100)
    found = asked(
        tmp_path,
        table(
            "epoch",
            None,
            loss=(reconstruction + beta * kl).tolist(),
            recon=reconstruction.tolist(),
            kl=kl.tolist(),
            beta=beta.tolist(),
        ),
    )
    assert sure(found) == []


def test_several_losses_at_once_that_all_fall_are_healthy(tmp_path: Path) -> None:
    parts = {f"{name}_loss": falling(150, floor=0.1 * n) for n, name in enumerate(("box", "cls", "mask"), 1)}
    total = np.sum(list(parts.values()), axis=0).tolist()
    found = asked(tmp_path, table(loss=total, **parts))
    assert found.status == "healthy"
    assert sure(found) == []


def untimed(found: Diagnosis) -> bytes:
    """The JSON without what a clock decides."""
    told: dict[str, Any] = json.loads(found.model_dump_json())
    del told["provenance"]["seconds"]
    for use in told["provenance"]["tools"]:
        del use["seconds"]
    return json.dumps(told).encode()


@pytest.mark.parametrize("run", ["broken_run", "healthy_run", "poor_run"])
def test_the_same_folder_gives_the_same_answer_to_the_byte(run: str, request: pytest.FixtureRequest) -> None:
    folder: Path = request.getfixturevalue(run)
    one, other = (untimed(diagnose(folder, "what happened?")) for _ in range(2))
    assert one == other


def test_the_tools_that_look_at_curves_exist() -> None:
    assert set(CURVE_TOOLS) <= set(tool_names())
