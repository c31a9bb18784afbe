"""Real public logs, where they are at hand: each yields its losses at the steps it printed."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from traindx.readers import Run, Scope

_SHARED = Path(__file__).parents[3] / "shared"
_HEALTHY = _SHARED / "data" / "healthy-language-models"
_CASES = sorted(_SHARED.glob("cases/*/run"))
_PRINTED = re.compile(r"(?:step:)?(\d+)/\d+ (?:.*? )?(train_loss|val_loss|loss): ?([\d.]+)")


@pytest.mark.skipif(not _HEALTHY.is_dir(), reason="the shared logs are not here")
def test_healthy_language_models_give_their_losses() -> None:
    run = Run(Scope.of(_HEALTHY))
    found = {
        (series.source, series.original): list(zip(series.at, series.texts, series.lines, strict=True))
        for series in reversed(run.series)
        if series.axis == "step"
    }
    logs = sorted(_HEALTHY.iterdir())
    assert len(logs) == 34
    for log in logs:
        printed: dict[str, list[tuple[int, str, int]]] = {}
        for number, line in enumerate(log.read_text(errors="replace").split("\n"), 1):
            match = _PRINTED.match(line)
            if match:
                printed.setdefault(match[2], []).append((int(match[1]), match[3], number))
        assert printed, log.name
        for original, points in printed.items():
            assert found[log.name, original] == points
    assert not [log_error for log_error in run.errors if log_error.kind == "error"]


@pytest.mark.parametrize("folder", _CASES, ids=[folder.parent.name for folder in _CASES])
def test_sample_cases_are_read_without_trouble(folder: Path) -> None:
    run = Run(Scope.of(folder))
    assert run.files
    for series in run.series:
        for line, text in list(zip(series.lines, series.texts, strict=False))[:20]:
            assert text in run.lines(series.source, int(line), int(line))[0]
    for log_error in run.errors:
        assert log_error.text[:500] in run.lines(log_error.source, log_error.line, log_error.line)[0]
