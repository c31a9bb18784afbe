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
    assert offered(script, "schema", "") == ["diagnosis", "context", "event", "verification"]
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


FISH = 'source "$argv[1]"; complete -C "$argv[2]" | string split -f1 \\t'
# An interactive zsh in a terminal of its own: `compadd` is what every completion ends in, and prints its matches here.
ZSH = r"""
zmodload zsh/zpty
zpty z zsh -f -i
zpty -w z 'PROMPT=; autoload -Uz compinit; compinit -D -u; source "'$1'"; bindkey "^I" complete-word'
zpty -w z 'compadd() {
  if [[ ${@[1,(i)(-|--)]} == *-(O|A|D)\ * ]]; then builtin compadd "$@"; return $?; fi
  local -a hits; builtin compadd -A hits "$@"; local hit; for hit in $hits; do print -r -- "<h""it>$hit"; done
  builtin compadd "$@"
}'
zpty -w z 'comppostfuncs=(done-completing); done-completing() { print "<the" "end>"; exit }'
sleep 0.2
zpty -n -w z "$2"$'\t'
while zpty -r z line; do print -r -- "$line"; [[ $line == *'<the end>'* ]] && break; done
"""


def offered_by(shell: str, script: str, line: str, folder: Path) -> set[str]:
    """What fish or zsh offers at the end of a line."""
    (folder / "script").write_text(script)
    how = ["--no-config", "-c", FISH] if shell == "fish" else ["-f", "-c", ZSH, "-"]
    command = [shell, *how, str(folder / "script"), line]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60, cwd=folder)
    if shell == "fish":
        return set(done.stdout.split())
    return {row.partition("<hit>")[2].strip() for row in done.stdout.splitlines() if "<hit>" in row}


@pytest.mark.slow
@pytest.mark.parametrize("shell", ["zsh", "fish"])
@pytest.mark.parametrize(
    ("line", "offers"),
    [
        ("traindx di", {"diagnose"}),
        ("traindx diagnose --max-", {"--max-input", "--max-usd", "--max-seconds"}),
        ("traindx diagnose --brain ", {"auto", "local", "claude"}),
        ("traindx diagnose runs --fail-on h", {"high"}),
        ("traindx explain lr-sch", {"lr-schedule-spike"}),
        ("traindx tool analyze", {"analyze_architecture", "analyze_loss_curve"}),
        ("traindx schema ", {"diagnosis", "context", "event", "verification"}),
    ],
)
def test_zsh_and_fish_complete_commands_options_and_names(
    scripts: dict[str, str], shell: str, line: str, offers: set[str], tmp_path: Path
) -> None:
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not installed")
    assert offered_by(shell, scripts[shell], line, tmp_path) == offers
