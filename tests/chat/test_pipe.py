"""A chat in a pipe: questions stand above their answers, no colours, and nothing written where it must not be."""

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.chat.kit import command, environment, spoken

pytestmark = pytest.mark.slow

SECRET = "ghp_" + "k7Qz" * 9


def kept(state: Path) -> list[Path]:
    return sorted((state / "traindx" / "chats").glob("*.json"))


@pytest.fixture
def state(tmp_path: Path) -> Path:
    return tmp_path / "state"


def test_questions_in_answers_out(broken_run: Path) -> None:
    done = spoken(["why?", "", "/evidence 1", "what if I halve the lr?"], broken_run, "-m", "loss went up")
    assert (done.returncode, done.stderr) == (0, "")
    assert "DIAGNOSIS" in done.stdout
    assert "> 17      lr: 0.4" in done.stdout
    assert "0.2 instead of 0.4" in done.stdout
    asked = [row for row in done.stdout.splitlines() if row.startswith("traindx> ")]
    assert asked == ["traindx> why?", "traindx> /evidence 1", "traindx> what if I halve the lr?"]
    assert "\x1b" not in done.stdout
    assert max(map(len, done.stdout.splitlines())) <= 80


def test_a_poor_folder_asks_for_what_is_missing(poor_run: Path) -> None:
    assert "To continue, I need to know:" in spoken([], poor_run).stdout


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["/nowhere/at/all"], "no such file or folder"),
        ([], "which run?"),
        (["-"], "save the log to a file"),
        (["{run}", "--json"], "no JSON output"),
        (["{run}", "--resume"], "there is no chat about"),
        (["{run}", "--resume", "nothing-like-that"], "no such chat"),
        (["{run}", "--resume", "-m", "x"], "describe what you see now"),
        (["{run}", "--specialist", "nobody"], "there is no specialist"),
    ],
)
def test_what_cannot_begin_is_one_sentence(broken_run: Path, arguments: list[str], words: str) -> None:
    done = spoken(["why?"], *(part.format(run=broken_run) for part in arguments))
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.count("\n") == 1
    assert words in done.stderr


def test_the_run_is_left_as_it_was(
    copied_run: Path, hashes: Callable[[Path], dict[str, str]], tmp_path: Path, state: Path
) -> None:
    before = hashes(copied_run)
    lines = ["why?", "/evidence", "/run", "/tools Read path=config.yaml", "diagnose again", "/specialist ml-debugger"]
    done = spoken([*lines, "/save here.md", f"/save {tmp_path / 'out.md'}"], copied_run, cwd=copied_run)
    assert done.returncode == 0
    assert "inside the run" in done.stdout
    assert hashes(copied_run) == before
    assert (tmp_path / "out.md").is_file()
    assert len(kept(state)) == 1


def test_a_state_folder_inside_the_run_is_not_written(
    copied_run: Path, hashes: Callable[[Path], dict[str, str]]
) -> None:
    before = hashes(copied_run)
    done = spoken(["why?"], copied_run, env={"XDG_STATE_HOME": str(copied_run / "state")})
    assert done.returncode == 0
    assert hashes(copied_run) == before


def test_a_state_folder_that_cannot_be_written_does_not_stop_the_chat(broken_run: Path, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    done = spoken(["why?"], broken_run, env={"XDG_STATE_HOME": str(tmp_path / "file")})
    assert (done.returncode, done.stderr) == (0, "")
    assert "narrow valley" in done.stdout


def test_resume_goes_on_without_diagnosing_again(copied_run: Path, state: Path) -> None:
    spoken(["why?", "what was the lr at epoch 7?"], copied_run, "-m", "loss went up")
    first = json.loads(kept(state)[0].read_text())
    done = spoken(["how do I fix it?"], copied_run, "--resume")
    assert done.returncode == 0
    assert "Resumed: 2 questions so far" in done.stdout
    assert "Your last question: what was the lr at epoch 7?" in done.stdout
    assert "+    lr: 0.015" in done.stdout
    again = json.loads(kept(state)[0].read_text())
    assert len(kept(state)) == 1
    assert again["diagnosis"] == first["diagnosis"]
    assert [turn["asked"] for turn in again["turns"]] == ["why?", "what was the lr at epoch 7?", "how do I fix it?"]
    assert kept(state)[0].stat().st_mode & 0o077 == 0


def test_resume_takes_a_name_a_path_or_only_the_folder(copied_run: Path, broken_run: Path, state: Path) -> None:
    spoken(["why?"], copied_run)
    name = kept(state)[0].stem
    for arguments in (
        [copied_run, "--resume", name],
        ["--resume", kept(state)[0]],
        ["--resume", copied_run],
    ):
        done = spoken(["when did it start?"], *arguments)
        assert "Resumed:" in done.stdout, done.stderr
        assert "At epoch 7" in done.stdout
    other = spoken(["why?"], broken_run, "--resume", name)
    assert other.returncode == 2
    assert "that chat is about" in other.stderr


def test_resume_notices_what_has_changed_and_what_is_gone(copied_run: Path, state: Path) -> None:
    spoken(["why?"], copied_run)
    metrics = copied_run / "metrics.csv"
    metrics.write_text(metrics.read_text())
    done = spoken(["diagnose again"], copied_run, "--resume")
    assert "`metrics.csv` changed since" in done.stdout
    assert "Read again." in done.stdout
    copied_run.rename(copied_run.with_name("elsewhere"))
    gone = spoken(["why?"], "--resume", kept(state)[0])
    assert gone.returncode == 2
    assert "no such file or folder" in gone.stderr


def test_a_spoilt_chat_is_one_sentence(copied_run: Path, state: Path) -> None:
    spoken([], copied_run)
    kept(state)[0].write_text("{")
    done = spoken([], copied_run, "--resume")
    assert done.returncode == 2
    assert "not a chat" in done.stderr


def test_what_was_added_is_seen_when_it_is_said(copied_run: Path) -> None:
    config = copied_run / "config.yaml"
    text = config.read_text()
    config.unlink()
    with_it = spoken(["which lr?"], copied_run).stdout
    assert "config.yaml" not in with_it.split("Fix:")[0]
    config.write_text(text)
    assert "config.yaml:17" in spoken(["I added the config file"], copied_run).stdout


def test_secrets_stay_out_of_what_is_kept(copied_run: Path, state: Path, tmp_path: Path) -> None:
    out = tmp_path / "chat.md"
    spoken([f"my token is {SECRET}, why?", f"/save {out}"], copied_run)
    assert SECRET not in kept(state)[0].read_text()
    assert SECRET not in out.read_text()
    assert "[masked:" in out.read_text()


def test_bytes_that_are_no_text_are_survived(broken_run: Path) -> None:
    done = subprocess.run(
        command([broken_run]), input=b"why\xff\xfe?\n\x00\n/\xff\n", env=environment(), capture_output=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, b"")


def test_help_has_examples() -> None:
    done = spoken([], "--help")
    assert "printf 'why?\\n/evidence 1\\n' | traindx chat runs/42" in done.stdout
    assert max(map(len, done.stdout.splitlines())) <= 120
