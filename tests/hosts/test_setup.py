"""`traindx setup` on homes of our own: what was there stays, what was entered goes again."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from traindx.errors import UnknownName
from traindx.hosts.machine import Machine
from traindx.hosts.setup import SHARED_SKILLS, Planned, hosts, plan
from traindx.hosts.steps import BACKUP, carry_out

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

FILES = {
    "codex": (".codex/config.toml", 'model = "o3" # mine\n\n[mcp_servers.other]\ncommand = "x"\n'),
    "cursor": (".cursor/mcp.json", '{\n    "mcpServers": {"other": {"command": "x"}}\n}\n'),
    "gemini-cli": (".gemini/settings.json", '{"theme": "GitHub",\n\t"mcpServers": {}}'),
    "vs-code": (".config/Code/User/mcp.json", '{\n\t"servers": {\n\t\t"other": {"url": "http://localhost"}\n\t}\n}\n'),
}
OWN = tuple(FILES)


def machine(home: Path) -> Machine:
    """A machine without any command, so that only folders show what is there."""
    return Machine(home, {"PATH": ""}, "linux")


def written(home: Path, name: str, content: str | None = None) -> Path:
    path, usual = FILES[name]
    place = home / path
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text(usual if content is None else content)
    return place


def carried_out(rows: list[Planned]) -> int:
    steps = [step for row in rows for step in row.steps]
    carry_out(steps)
    return len(steps)


def server_in(path: Path) -> dict[str, Any] | None:
    held = tomllib.loads(path.read_text()) if path.suffix == ".toml" else json.loads(path.read_text())
    servers = held.get("mcp_servers") or held.get("mcpServers") or held.get("servers") or {}
    found: dict[str, Any] | None = servers.get("traindx")
    return found


def test_every_host_that_is_asked_for_is_known() -> None:
    assert set(hosts()) == {"claude-code", *OWN}


def test_on_a_bare_machine_there_is_nothing_to_do(tmp_path: Path) -> None:
    rows = plan(machine(tmp_path))
    assert not any(row.where or row.steps for row in rows)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", OWN)
def test_entering_keeps_what_was_there_and_removing_puts_it_back_to_the_letter(tmp_path: Path, name: str) -> None:
    path = written(tmp_path, name)
    before = path.read_bytes()
    assert carried_out(plan(machine(tmp_path)))
    entry = server_in(path)
    assert entry is not None
    assert entry["command"] == sys.executable
    assert entry["args"] == ["-m", "traindx", "mcp"]
    assert b"other" in path.read_bytes() or name == "gemini-cli"
    assert path.with_name(path.name + BACKUP).read_bytes() == before
    assert carried_out(plan(machine(tmp_path))) == 0
    assert carried_out(plan(machine(tmp_path), remove=True))
    assert path.read_bytes() == before
    assert not path.with_name(path.name + BACKUP).exists()
    assert carried_out(plan(machine(tmp_path), remove=True)) == 0


@pytest.mark.parametrize("name", OWN)
def test_what_changed_meanwhile_survives_the_removal(tmp_path: Path, name: str) -> None:
    path = written(tmp_path, name)
    carried_out(plan(machine(tmp_path), [name]))
    text = path.read_text()
    path.write_text(text.replace("other", "later") if "other" in text else text.replace("GitHub", "later"))
    carried_out(plan(machine(tmp_path), [name], remove=True))
    assert server_in(path) is None
    assert "later" in path.read_text()


@pytest.mark.parametrize("name", OWN)
def test_a_file_that_was_not_there_is_gone_again(tmp_path: Path, name: str) -> None:
    path = tmp_path / FILES[name][0]
    path.parent.mkdir(parents=True)
    carried_out(plan(machine(tmp_path), [name]))
    assert server_in(path)
    carried_out(plan(machine(tmp_path), [name], remove=True))
    assert not path.exists()


@pytest.mark.parametrize("name", OWN)
def test_an_entry_of_another_version_is_replaced(tmp_path: Path, name: str) -> None:
    path = written(tmp_path, name)
    carried_out(plan(machine(tmp_path), [name]))
    path.write_text(path.read_text().replace('mcp"]', 'old"]').replace('"mcp"\n', '"old"\n'))
    assert carried_out(plan(machine(tmp_path), [name])) == 1
    entry = server_in(path)
    assert entry is not None
    assert entry["args"][-1] == "mcp"


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("cursor", '{"mcpServers": {} // mine\n}'),
        ("vs-code", "[1, 2]"),
        ("gemini-cli", "not json"),
        ("codex", "a = [1,"),
    ],
)
def test_a_file_that_cannot_be_read_is_left_alone_and_the_others_are_done(
    tmp_path: Path, name: str, content: str
) -> None:
    path = written(tmp_path, name, content)
    other = written(tmp_path, "cursor" if name != "cursor" else "codex")
    rows = plan(machine(tmp_path))
    (problem,) = [row.problem for row in rows if row.problem]
    assert str(path) in problem
    assert "left alone" in problem
    carried_out(rows)
    assert path.read_text() == content
    assert server_in(other)


def test_the_skill_is_shared_and_kept_fresh(tmp_path: Path) -> None:
    written(tmp_path, "codex")
    carried_out(plan(machine(tmp_path)))
    skill = tmp_path / SHARED_SKILLS / "ml-training-debugger" / "SKILL.md"
    fresh = skill.read_bytes()
    skill.write_text("old")
    (skill.parent / "references" / "gone.md").write_text("of another version")
    assert carried_out(plan(machine(tmp_path))) == 2
    assert skill.read_bytes() == fresh
    carried_out(plan(machine(tmp_path), remove=True))
    assert not skill.parent.exists()


def test_a_linked_settings_file_stays_a_link(tmp_path: Path) -> None:
    path = written(tmp_path, "cursor")
    kept = tmp_path / "dotfiles.json"
    path.rename(kept)
    path.symlink_to(kept)
    before = kept.read_bytes()
    carried_out(plan(machine(tmp_path), ["cursor"]))
    assert path.is_symlink()
    assert server_in(kept)
    carried_out(plan(machine(tmp_path), ["cursor"], remove=True))
    assert path.is_symlink()
    assert kept.read_bytes() == before


def test_an_unknown_host_is_named_with_those_there_are(tmp_path: Path) -> None:
    with pytest.raises(UnknownName, match="cursor"):
        plan(machine(tmp_path), ["curser"])


def command(home: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "traindx", "setup", *words],
        env={"HOME": str(home), "PATH": "/usr/bin:/bin"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


@pytest.mark.slow
def test_the_command_shows_asks_does_and_undoes(tmp_path: Path) -> None:
    pytest.importorskip("mcp")
    path = written(tmp_path, "cursor")
    before = path.read_bytes()
    asked = command(tmp_path)
    assert asked.returncode == 2
    assert "nothing was changed" in asked.stderr
    assert "+" in asked.stdout
    assert path.read_bytes() == before
    assert command(tmp_path, "--dry-run").returncode == 0
    assert path.read_bytes() == before
    done = command(tmp_path, "--yes")
    assert done.returncode == 0, done.stderr
    assert "Done." in done.stdout
    assert server_in(path)
    assert "set up already" in command(tmp_path, "--yes").stdout
    assert command(tmp_path, "--remove", "--yes").returncode == 0
    assert path.read_bytes() == before


@pytest.mark.slow
def test_a_folder_that_cannot_be_written_is_a_sentence(tmp_path: Path) -> None:
    pytest.importorskip("mcp")
    path = written(tmp_path, "cursor")
    path.with_name(path.name + BACKUP).mkdir()
    (tmp_path / ".agents").write_text("a file where a folder should be")
    done = command(tmp_path, "--yes")
    assert done.returncode == 2
    assert "cannot be written" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.slow
def test_setups_at_the_same_time_leave_a_whole_file(tmp_path: Path) -> None:
    pytest.importorskip("mcp")
    path = written(tmp_path, "cursor")
    words = [sys.executable, "-m", "traindx", "setup", "--yes", "--host", "cursor"]
    started = [
        subprocess.Popen(words, env={"HOME": str(tmp_path), "PATH": os.defpath}, stdout=subprocess.DEVNULL)
        for _ in range(4)
    ]
    assert [one.wait(60) for one in started] == [0] * 4
    assert server_in(path)
    assert not [name for name in path.parent.iterdir() if name.name.startswith(".")]
