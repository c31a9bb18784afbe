"""What the documentation shows works as shown."""

import json
import re
import subprocess
from collections.abc import Callable
from importlib import import_module
from pathlib import Path

import pytest

from traindx.agents.load import load_specialist
from traindx.diagnosis.catalog import HEADINGS, read_folder
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


@pytest.mark.slow
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
    assert read_folder(tmp_path)["undertrained"].speaks_for["loss-still-falling"].tier == "strong"


@pytest.mark.slow
def test_the_readmes_output_is_what_the_demo_prints(traindx: Command) -> None:
    printed = traindx("demo").stdout
    block = next(text for text in re.findall(r"```text\n(.*?)```", README, re.DOTALL) if "DIAGNOSIS" in text)
    timeless = re.compile(r"\d+\.\d s\b|sandbox: \w+")
    assert timeless.sub("", " ".join(block.split())) == timeless.sub("", " ".join(printed.split()))


@pytest.mark.parametrize("command", ["make demo", "make test"])
def test_the_readme_starts_with_the_two_commands(command: str) -> None:
    assert command in README.split("## ")[1]


DOCUMENTS = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]
# Files that a reader of the page is told to write, or that belong to the user's own run.
EXAMPLES_OF_NAMES = {"count_epochs.py", "tools/count_epochs.py", ".traindx/tools/count_epochs.py", "train.py"}


def missing_paths(text: str) -> list[str]:
    """The files and modules that a text names and that do not exist."""
    files = re.findall(r"(?<![\w/.<])(?:\.?[\w-]+/)*[\w-]+\.py\b", text)
    roots = (ROOT, ROOT / "orchestrator" / "traindx")
    lost = [one for one in files if one not in EXAMPLES_OF_NAMES and not any((root / one).is_file() for root in roots)]
    modules = set(re.findall(r"\btraindx(?:\.[a-z_]\w*)+", text))
    return lost + [name for name in sorted(modules) if not importable(name)]


def importable(name: str) -> bool:
    """Whether this is a module, or a name inside one."""
    path = ROOT / "orchestrator" / name.replace(".", "/")
    if path.is_dir() or path.with_suffix(".py").is_file():
        return True
    module, _, attribute = name.rpartition(".")
    return module != "traindx" and importable(module) and hasattr(import_module(module), attribute)


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.name)
def test_files_and_modules_that_a_document_names_exist(path: Path) -> None:
    assert missing_paths(path.read_text(encoding="utf-8")) == []


def test_a_name_that_does_not_exist_is_found() -> None:
    text = "`orchestrator/traindx/walk.py`, `brain/local/belief.py`, `traindx.walk`, `traindx.runtime`, `tools/Read.py`"
    assert missing_paths(text) == ["orchestrator/traindx/walk.py", "brain/local/belief.py", "traindx.walk"]


def test_folders_that_the_architecture_names_exist() -> None:
    named = re.findall(r"`((?:[a-z_]+/)+)`", (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8"))
    roots = (ROOT, ROOT / "orchestrator" / "traindx")
    made_by_the_build = {"traindx/_content/"}
    assert [
        one for one in named if one not in made_by_the_build and not any((root / one).is_dir() for root in roots)
    ] == []
