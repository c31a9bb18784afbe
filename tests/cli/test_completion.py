"""Completion scripts, made from the commands as they are and run in a real shell where there is one."""

import shutil
import subprocess
from pathlib import Path

import pytest

from traindx.cli import main
from traindx.cli.completion import SHELLS


@pytest.fixture
def scripts(capsys: pytest.CaptureFixture[str]) -> dict[str, str]:
    found = {}
    for shell in SHELLS:
        assert main(["completion", shell]) == 0
        found[shell] = capsys.readouterr().out
    return found


def offered(script: str, *words: str) -> list[str]:
    """What bash offers after these words, the last of which is being typed."""
    line = 'eval "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _traindx; printf "%s\\n" "${COMPREPLY[@]}"'
    done = subprocess.run(
        ["bash", "-c", line, "-", script, "traindx", *words], capture_output=True, text=True, check=True
    )
    assert done.stderr == ""
    return done.stdout.split()


def test_bash_completes_commands_options_and_names(scripts: dict[str, str]) -> None:
    script = scripts["bash"]
    assert offered(script, "di") == ["diagnose"]
    assert {"diagnose", "completion", "--version"} <= set(offered(script, ""))
    assert offered(script, "diagnose", "--max-") == ["--max-input", "--max-usd", "--max-seconds"]
    assert offered(script, "diagnose", "--brain", "") == ["auto", "local", "claude"]
    assert offered(script, "diagnose", "runs", "--fail-on", "h") == ["high"]
    assert offered(script, "diagnose", "--specialist", "ml") == ["ml-debugger"]
    assert offered(script, "explain", "lr-sch") == ["lr-schedule-spike"]
    assert offered(script, "tool", "analyze") == ["analyze_architecture", "analyze_loss_curve"]
    assert offered(script, "schema", "") == ["diagnosis", "context", "event"]
    assert offered(script, "completion", "") == list(SHELLS)
    assert offered(script, "diagnose", "") == []  # files: bash's own


def test_every_shell_knows_every_command_and_option(scripts: dict[str, str]) -> None:
    for name in ("diagnose", "gather", "chat", "schema", "completion"):
        assert all(name in script for script in scripts.values())
    assert "--fail-on[" in scripts["zsh"]
    assert "-l fail-on" in scripts["fish"]


@pytest.mark.parametrize(("shell", "check"), [("bash", "-n"), ("zsh", "-n"), ("fish", "--no-execute")])
def test_the_script_is_good_syntax(scripts: dict[str, str], shell: str, check: str, tmp_path: Path) -> None:
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not installed")
    (tmp_path / "script").write_text(scripts[shell])
    assert subprocess.run([shell, check, str(tmp_path / "script")], check=False).returncode == 0
