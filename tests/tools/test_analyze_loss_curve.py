"""The loss curve tool looks at curves that can be learned from, and quotes them as their file has them."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.tools.calling import call, load
from traindx.readers import Run, Scope
from traindx.runtime import NoData

TOOL = "analyze_loss_curve"


def table(folder: Path) -> Run:
    rows = [f"{n},{2.0 * 0.9**n:.4f},{1000 + n},0.{n:02d}1,0.001" for n in range(30)]
    text = "\n".join(["step,loss,gpu_memory_mb,step_time,lr", *rows])
    (folder / "metrics.csv").write_text(text + "\n")
    return Run(Scope.of(folder))


@pytest.mark.parametrize(
    ("series", "said"),
    [("gpu_memory_mb", "profile_memory"), ("step_time", "check_throughput"), ("lr", "check_schedule")],
)
def test_a_curve_that_is_not_about_learning_is_refused(tmp_path: Path, series: str, said: str) -> None:
    with pytest.raises(NoData, match=f"`{series}` says nothing about learning.*{said}"):
        call(load(TOOL), table(tmp_path), series=series)


def test_the_loss_is_not(tmp_path: Path) -> None:
    assert call(load(TOOL), table(tmp_path), series="loss").points == 30


def test_claims_quote_the_values_of_the_file(broken_run: Path) -> None:
    """Every number with decimals in a claim about a point stands at that point."""
    found = call(load(TOOL), Run(Scope.of(broken_run)))
    text = (broken_run / "metrics.csv").read_text()
    places = [place for signal in found.signals for place in signal.citations if place.source == "metrics.csv"]
    assert places
    assert all(place.quote in text for place in places)
