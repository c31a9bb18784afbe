"""Health is shown by where a curve ends or by its best, never by its worst point."""

from __future__ import annotations

from pathlib import Path

import pytest

from traindx.api import gather_context
from traindx.brains.llm.weight import shows_health
from traindx.contract import Evidence


@pytest.mark.parametrize(
    ("step", "value", "shows"),
    [(1, "2.0000", False), (10, "0.2000", True), (9, "0.2222", False)],
)
def test_a_loss_shows_health_at_its_low_end_only(tmp_path: Path, step: int, value: str, shows: bool) -> None:
    rows = "".join(f"step {n} loss {2.0 / n:.4f}\n" for n in range(1, 11))
    (tmp_path / "train.log").write_text(rows)
    piece = Evidence(claim="c", kind="direct", source="train.log", locator=f"step {step} of loss", quote=value)
    assert shows_health(piece, gather_context(tmp_path)) is shows
