"""Other real clients: the inspector calls every tool, Codex and Gemini CLI take our manifests and settings."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.hosts.clients import client, environment, run
from traindx.definitions.content import EXAMPLES, ROOT

pytest.importorskip("mcp")
pytestmark = pytest.mark.slow

CALLS: dict[str, list[str]] = {
    "diagnose": ["run=schedule-change", "message=it diverged"],
    "gather": ["run=schedule-change"],
    "inspect": ["run=schedule-change", "analysis=analyze_loss_curve"],
    "explain": ["id=overfitting"],
    "compare_runs": ["good=schedule-change-healthy", "bad=schedule-change"],
    "verify_evidence": ["run=schedule-change", 'citations=[{"source":"config.yaml","line":17,"quote":"lr: 0.4"}]'],
}


def inspected(home: Path, *words: str) -> dict[str, Any]:
    done = run(
        client("mcp-inspector"), "--cli", sys.executable, "-m", "traindx", "mcp", *words, home=home, folder=EXAMPLES
    )
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def test_the_inspector_lists_every_tool(tmp_path: Path) -> None:
    tools = inspected(tmp_path, "--method", "tools/list")["tools"]
    assert sorted(tool["name"] for tool in tools) == sorted(CALLS)
    assert all(tool["annotations"]["readOnlyHint"] for tool in tools)


@pytest.mark.parametrize("tool", CALLS)
def test_the_inspector_calls_it(tmp_path: Path, tool: str) -> None:
    given = [word for pair in CALLS[tool] for word in ("--tool-arg", pair)]
    result = inspected(tmp_path, "--method", "tools/call", "--tool-name", tool, *given)
    assert not result.get("isError"), result
    assert result["structuredContent"]


def setup(home: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "traindx", "setup", "--yes", *words],
        env=environment(home), stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip


def test_codex_lists_the_server_that_setup_enters(tmp_path: Path) -> None:
    command = client("codex")
    assert setup(tmp_path, "--host", "codex").returncode == 0
    listed = run(command, "mcp", "list", home=tmp_path, folder=tmp_path)
    assert "traindx" in listed.stdout
    assert "-m traindx mcp" in listed.stdout
    assert setup(tmp_path, "--host", "codex", "--remove").returncode == 0
    assert "traindx" not in run(command, "mcp", "list", home=tmp_path, folder=tmp_path).stdout


def small_plugin(folder: Path) -> Path:
    """The plugin's own files: a host copies the whole folder, and a checkout holds an environment as well."""
    for name in ("skills", "agents", ".claude-plugin", ".codex-plugin", ".agents"):
        shutil.copytree(ROOT / name, folder / name)
    for name in ("plugin.json", "mcp.json", ".mcp.json", "gemini-extension.json", "AGENTS.md", "README.md"):
        shutil.copy2(ROOT / name, folder / name)
    return folder


@pytest.mark.skipif(not (ROOT / "pyproject.toml").is_file(), reason="the manifests need a checkout")
def test_codex_installs_the_plugin(tmp_path: Path) -> None:
    command, plugin = client("codex"), small_plugin(tmp_path / "plugin")
    for words in (("marketplace", "add", str(plugin)), ("add", "traindx@traindx")):
        done = run(command, "plugin", *words, home=tmp_path, folder=tmp_path)
        assert done.returncode == 0, done.stderr
    assert "serve.py" in run(command, "mcp", "list", home=tmp_path, folder=tmp_path).stdout


@pytest.mark.skipif(not (ROOT / "pyproject.toml").is_file(), reason="the manifests need a checkout")
def test_gemini_validates_the_extension_and_lists_what_setup_enters(tmp_path: Path) -> None:
    command, plugin = client("gemini"), small_plugin(tmp_path / "plugin")
    valid = run(command, "extensions", "validate", str(plugin), home=tmp_path, folder=tmp_path)
    assert valid.returncode == 0, valid.stdout + valid.stderr
    assert setup(tmp_path, "--host", "gemini-cli").returncode == 0
    listed = run(command, "mcp", "list", home=tmp_path, folder=tmp_path)
    assert "-m traindx mcp" in listed.stdout + listed.stderr
    skills = run(command, "skills", "list", home=tmp_path, folder=tmp_path)
    assert "ml-training-debugger" in skills.stdout + skills.stderr
