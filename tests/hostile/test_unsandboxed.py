"""Where nothing confines tools, a project's own are not run unless the user says so."""

import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

pytestmark = [pytest.mark.slow, pytest.mark.skipif(sys.platform != "linux", reason="a filter of Linux's kernel")]

TOOL = '''
from pathlib import Path

from traindx.readers import Run
from traindx.runtime import ToolInput, ToolOutput, tool


class Input(ToolInput):
    """Nothing."""


class Answer(ToolOutput):
    """What is answered."""

    text: str


@tool()
def my_own(request: Input, run: Run) -> Answer:
    """Answer."""
    return Answer(text="it ran")
'''
Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def project(tmp_path: Path, broken_run: Path) -> Path:
    (tmp_path / ".traindx" / "tools").mkdir(parents=True)
    (tmp_path / ".traindx" / "tools" / "my_own.py").write_text(TOOL)
    shutil.copy(broken_run / "metrics.csv", tmp_path)
    return tmp_path


@pytest.fixture
def unconfined(project: Path) -> Run:
    """The command on a kernel that knows no Landlock."""

    def run(*words: str) -> subprocess.CompletedProcess[str]:
        wrapper = Path(__file__).with_name("without_landlock.py")
        command = [sys.executable, str(wrapper), sys.executable, "-m", "traindx", *words]
        done = subprocess.run(command, cwd=project, capture_output=True, text=True, check=False)
        if done.returncode == 77:
            pytest.skip("no filter can be installed here")
        return done

    return run


def test_a_projects_own_tools_are_withheld_and_the_report_says_so(unconfined: Run) -> None:
    done = unconfined("diagnose", ".", "--json")
    assert done.returncode == 0, done.stderr
    said = json.loads(done.stdout)
    assert said["provenance"]["sandbox"] == "none"
    assert said["root_causes"]
    assert any("`my_own`" in row and "--allow-unsandboxed-tools" in row for row in said["notable"])
    by_hand = unconfined("tool", "my_own", ".")
    assert (by_hand.returncode, by_hand.stdout) == (2, "")
    assert "--allow-unsandboxed-tools" in by_hand.stderr


def test_with_leave_they_run(unconfined: Run) -> None:
    assert "it ran" in unconfined("tool", "--allow-unsandboxed-tools", "my_own", ".").stdout
    said = json.loads(unconfined("diagnose", ".", "--json", "--allow-unsandboxed-tools").stdout)
    assert not any("`my_own`" in row for row in said["notable"])


def test_confined_they_run_without_asking(project: Path, traindx: Run) -> None:
    assert "it ran" in traindx("tool", "my_own", project).stdout
