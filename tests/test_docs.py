"""What the documentation shows works as shown."""

import json
import re
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from traindx.agents.load import load_specialist
from traindx.diagnosis.catalog import HEADINGS, load_catalog
from traindx.runtime import tool_names

ROOT = Path(__file__).resolve().parents[1]
CONTRIBUTING = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
README = (ROOT / "README.md").read_text(encoding="utf-8")
Command = Callable[..., subprocess.CompletedProcess[str]]


def shown(language: str, marker: str) -> str:
    """The code block of a language that holds the marker."""
    blocks: list[str] = re.findall(rf"```{language}\n(.*?)```", CONTRIBUTING, re.DOTALL)
    return next(text for text in blocks if marker in text)


@pytest.fixture
def project(tmp_path: Path, broken_run: Path) -> Path:
    run = tmp_path / "run"
    run.mkdir()
    (run / "metrics.csv").write_bytes((broken_run / "metrics.csv").read_bytes())
    return run


def test_the_tool_in_contributing_works_with_one_file(traindx: Command, project: Path) -> None:
    folder = project.parent / ".traindx" / "tools"
    folder.mkdir(parents=True)
    (folder / "count_epochs.py").write_text(shown("python", "count_epochs"))
    result = json.loads(traindx("tool", "count_epochs", project, "--planned", "20", "--json").stdout)
    assert result["output"]["epochs"] == 12
    assert [signal["id"] for signal in result["output"]["signals"]] == ["stopped-short"]
    assert "count_epochs" in traindx("tools", project).stdout


def test_the_agent_in_contributing_loads(tmp_path: Path) -> None:
    path = tmp_path / "data-auditor.md"
    path.write_text(shown("markdown", "name: data-auditor"))
    assert load_specialist(path, tool_names([])).headings == ("Data Status", "Findings", "Fix")


def test_the_failure_mode_in_contributing_loads(tmp_path: Path) -> None:
    text = shown("markdown", "id: undertrained").split("## What it is")[0]
    (tmp_path / "undertrained.md").write_text(text + "".join(f"## {heading}\nx\n" for heading in HEADINGS))
    assert load_catalog(tmp_path)["undertrained"].signals["loss-still-falling"].weight == 2.5


def test_the_readmes_output_is_what_the_demo_prints(traindx: Command) -> None:
    printed = traindx("demo").stdout
    block = next(text for text in re.findall(r"```text\n(.*?)```", README, re.DOTALL) if "DIAGNOSIS" in text)
    timeless = re.compile(r"\d+\.\d s\b|sandbox: \w+")
    assert timeless.sub("", " ".join(block.split())) == timeless.sub("", " ".join(printed.split()))


@pytest.mark.parametrize("command", ["make demo", "make test"])
def test_the_readme_starts_with_the_two_commands(command: str) -> None:
    assert command in README.split("## ")[1]
