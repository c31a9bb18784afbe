"""A project's own `.traindx/` folder: profile, specialists, tools."""

from pathlib import Path

import pytest

from traindx import TraindxError, diagnose
from traindx.api import gather_context
from traindx.definitions.project import Project

PROFILE = """\
---
layout:
  models: src/models
invariants:
  - sequence length 1, state preserved between samples
---
Logs live in slurm_logs/.
"""
AGENT = """\
---
name: rattle-watcher
description: Use when the flux capacitor rattles during a training run.
tools: Read, count_lines
---
You listen for rattles.

## Report headings
1. **Rattle Status**: what was heard
2. **Evidence**: where
"""
TOOL = '''\
"""Counts lines."""
from traindx.readers import Run
from traindx.runtime import ToolInput, ToolOutput, tool


class Input(ToolInput):
    """Nothing."""


class Count(ToolOutput):
    """The count."""

    lines: int


@tool()
def count_lines(given: Input, run: Run) -> Count:
    """Count the lines of every log."""
    return Count(lines=sum(1 for file in run.files))
'''


@pytest.fixture
def project(tmp_path: Path) -> Path:
    for name, text in {"project.md": PROFILE, "agents/rattle-watcher.md": AGENT, "tools/count_lines.py": TOOL}.items():
        path = tmp_path / ".traindx" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    run = tmp_path / "runs" / "42"
    run.mkdir(parents=True)
    rows = "\n".join(f"epoch {n} loss {2.0 / n:.3f}" for n in range(1, 20))
    (run / "train.log").write_text(rows + "\n")
    return run


def test_the_profile_is_carried_into_the_context_package(project: Path) -> None:
    profile = gather_context(project).project
    assert profile is not None
    assert profile.facts["invariants"] == ["sequence length 1, state preserved between samples"]
    assert profile.prose == "Logs live in slurm_logs/."


@pytest.mark.slow
def test_its_specialist_and_its_tool_work(project: Path) -> None:
    diagnosis = diagnose(project, "why", specialist="rattle-watcher")
    assert list(diagnosis.sections) == ["Rattle Status", "Evidence"]


@pytest.mark.slow
def test_its_specialist_is_sent_when_the_message_fits_its_description(project: Path) -> None:
    diagnosis = diagnose(project, "the flux capacitor rattles again during training")
    assert "rattle-watcher" in diagnosis.request.specialists


def test_the_nearest_project_counts(project: Path) -> None:
    inner = project / ".traindx"
    inner.mkdir()
    assert Project.around(project).home == inner


def test_no_project_is_no_profile(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert Project.around(tmp_path).profile() is None


def test_a_broken_profile_is_one_sentence_with_its_line(project: Path) -> None:
    (project.parents[1] / ".traindx" / "project.md").write_text("---\nlayout: [src\n---\n")
    with pytest.raises(TraindxError, match=r"project\.md:\d+: not valid YAML"):
        diagnose(project)
