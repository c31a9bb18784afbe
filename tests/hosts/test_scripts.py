"""The skill's scripts: thin over the package, runnable alone, and plain about what they need."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from traindx.definitions.content import EXAMPLES, ROOT

SCRIPTS = ROOT / "skills" / "ml-training-debugger" / "scripts"
ANALYSES = ("analyze_loss_curve", "check_gradients", "count_parameters", "profile_memory")
pytestmark = pytest.mark.slow


def script(name: str, *words: str, bare: bool = False) -> subprocess.CompletedProcess[str]:
    python = [sys.executable, *(["-I", "-S"] if bare else [])]
    return subprocess.run(
        [*python, str(SCRIPTS / f"{name}.py"), *words], capture_output=True, text=True, timeout=60, check=False, cwd="/"
    )


@pytest.mark.parametrize("name", ANALYSES)
def test_a_script_is_the_analysis_of_its_name(name: str) -> None:
    done = script(name, str(EXAMPLES / "schedule-change"), "--json")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["tool"] == name
    assert found["status"] in {"ok", "no_data"}


@pytest.mark.parametrize("name", ANALYSES)
def test_without_the_package_it_says_how_to_get_it(name: str) -> None:
    done = script(name, "runs/42", bare=True)
    assert done.returncode == 1
    assert "pip install traindx" in done.stderr
    assert "Traceback" not in done.stderr


def test_the_launcher_starts_the_version_of_its_plugin() -> None:
    pytest.importorskip("mcp")
    done = subprocess.run(
        [shutil.which("python3") or sys.executable, str(SCRIPTS / "serve.py"), "--help"],
        env={"PATH": os.defpath, "TRAINDX_PYTHON": sys.executable},
        capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "traindx mcp" in done.stdout


def test_the_launcher_refuses_another_version_with_a_sentence(tmp_path: Path) -> None:
    plugin = tmp_path / "plugin"
    shutil.copytree(SCRIPTS, plugin / "skills" / "ml-training-debugger" / "scripts")
    (plugin / ".claude-plugin").mkdir()
    (plugin / ".claude-plugin" / "plugin.json").write_text('{"version": "99.0"}')
    done = subprocess.run(
        [sys.executable, str(plugin / "skills" / "ml-training-debugger" / "scripts" / "serve.py")],
        env={"PATH": os.defpath}, capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert done.returncode == 1
    assert "traindx 99.0 is not installed" in done.stderr
    assert "pip install" in done.stderr
    assert done.stdout == ""
