"""Slash commands, on a run that stays open."""

from collections.abc import Callable
from pathlib import Path

import pytest

from traindx.chat.commands import COMMANDS, completions
from traindx.chat.session import ChatSession, Leave
from traindx.definitions.content import EXAMPLES
from traindx.errors import TraindxError

Ask = Callable[..., str]


def test_help_lists_every_command_within_eighty_columns(ask: Ask) -> None:
    said = ask("/help")
    assert all(f"/{row.name}" in said and row.help in said for row in COMMANDS)
    assert max(map(len, said.splitlines())) <= 78


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("/evidnce", "There is no command `/evidnce`. Did you mean `/evidence`?"),
        ("/zzz", "There is no command `/zzz`. `/help` lists the commands."),
        ("/", "There is no command `/`. `/help` lists the commands."),
    ],
)
def test_an_unknown_command_is_one_line_with_the_nearest(ask: Ask, line: str, said: str) -> None:
    assert ask(line) == said


def test_run_tells_what_was_read(ask: Ask) -> None:
    said = ask("/run")
    for words in (
        "training logs: train.log",
        "`train_loss`: 12 points",
        "`batch_size` = 50 (config.yaml:3)",
        "sandbox",
    ):
        assert words in said
    assert "no Python code" in ask("/run", of="poor-folder")


def test_evidence_opens_the_lines_around_each_citation(ask: Ask) -> None:
    said = ask("/evidence 1")
    assert "  16    - from_epoch: 7\n> 17      lr: 0.4" in said
    assert ">  8  7,0.4,27.6908" in said
    assert ask("/evidence") == said


def test_explain_shows_the_catalog(ask: Ask) -> None:
    assert "How to tell it from its neighbours" in ask("/explain")
    assert "learning individual samples" in ask("/explain overfitting")
    assert "`dead-relu`" in ask("/explain", of="schedule-change-healthy")
    with pytest.raises(TraindxError, match="Did you mean `overfitting`"):
        ask("/explain overfiting")


@pytest.mark.parametrize(
    "line",
    [
        "/tools Read path=config.yaml start_line=16",
        "/tools Read config.yaml start_line=16",
        "/tools Read --path config.yaml --start-line 16",
        '/tools Read {"path": "config.yaml", "start_line": 16}',
    ],
)
def test_a_tool_is_called_by_hand(ask: Ask, line: str) -> None:
    assert "17      lr: 0.4" in ask(line)


def test_tools_are_listed_described_and_refuse_in_one_sentence(ask: Ask) -> None:
    assert "`analyze_loss_curve`: Measure" in ask("/tools")
    assert "`start_line`: first line to show" in ask("/tools Read ?")
    assert "loss-diverged" in ask("/tools analyze_loss_curve")
    for line, words in (
        ("/tools Raed path=x", "Did you mean `Read`?"),
        ("/tools Read colour=red", "its fields: "),
        ("/tools Read path=../../etc/passwd", "not allowed"),
        ("/tools Read path=config.yaml start_line=zero", "`Read` failed"),
        ("/tools Read {broken", "not a JSON object"),
        ("/tools Read 'open", "quotation"),
    ):
        with pytest.raises(TraindxError, match=words.replace("?", r"\?")):
            ask(line)


def test_another_specialist_can_be_sent(ask: Ask, talks: Callable[[str], ChatSession]) -> None:
    assert "`training-monitor` (was sent)" in ask("/specialist")
    said = ask("/specialist ml-debugger")
    assert "`ml-debugger`" in said
    assert talks("schedule-change").diagnosis.request.specialists == ["ml-debugger"]
    with pytest.raises(TraindxError, match="Did you mean `ml-debugger`"):
        ask("/specialist ml-debuger")


def test_the_local_investigator_costs_nothing(ask: Ask) -> None:
    assert ask("/cost") == "0 tokens, $0.0000 in this chat: the local investigator costs nothing."


def test_save_writes_markdown_once(ask: Ask, tmp_path: Path) -> None:
    out = tmp_path / "chat.md"
    assert "Saved to" in ask(f"/save {out}")
    assert out.read_text().startswith("# traindx chat")
    with pytest.raises(TraindxError, match="overwrites it"):
        ask(f"/save {out}")
    for forced in (f"/save! {out}", f"/save {out} !"):
        assert "Saved to" in ask(forced)
    assert [path.name for path in tmp_path.iterdir()] == ["chat.md"]


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("", "which file"),
        (".", "is a folder"),
        ("no/such/folder/x.md", "there is no folder"),
        ("RUN/x.md", "inside the run"),
    ],
)
def test_save_refuses_with_the_reason(
    ask: Ask, name: str, words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "RUN").symlink_to(EXAMPLES / "schedule-change")
    with pytest.raises(TraindxError, match=words):
        ask(f"/save! {name}")


def test_quit_leaves(ask: Ask) -> None:
    with pytest.raises(Leave):
        ask("/quit")


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("/ev", ["/evidence"]),
        ("/explain lr-", ["lr-decayed-to-zero", "lr-schedule-spike"]),
        ("/tools ana", ["analyze_architecture", "analyze_loss_curve"]),
        ("/tools Read st", ["start_line="]),
        ("/specialist m", ["ml-debugger"]),
        ("/evidence ", ["1"]),
        ("why ", []),
        ("/nothing ", []),
    ],
)
def test_what_tab_offers(talks: Callable[[str], ChatSession], line: str, found: list[str]) -> None:
    assert completions(talks("schedule-change"), line) == found


def test_files_are_completed_for_save(
    talks: Callable[[str], ChatSession], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "a.md").touch()
    monkeypatch.chdir(tmp_path)
    session = talks("schedule-change")
    assert completions(session, "/save no") == ["notes/"]
    assert completions(session, "/save notes/") == ["notes/a.md"]
