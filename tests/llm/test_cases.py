"""Case files: everything is written down, shown again offline, and gone on with after an interruption."""

import json
import socket
from pathlib import Path
from typing import Any

import pytest

from tests.llm.kit import MESSAGE, Serve, answer, holds, is_sceptic, quick
from traindx import TraindxError, diagnose
from traindx.cli import main
from traindx.pipeline.transcript import read_transcript
from traindx.testing import ScriptedMessagesServer, call, say, status, submit

pytestmark = pytest.mark.slow

READ = {"path": "config.yaml", "start_line": 1, "max_lines": 200, "tail": False}


def run_it(server: ScriptedMessagesServer, run: Path, **choices: Any) -> Any:
    server.script(holds(), when=is_sceptic, forever=True)
    return diagnose(run, MESSAGE, brain="claude", specialist="training-monitor", options=quick(server), **choices)


def test_every_step_is_in_the_transcript(served: Serve, broken_run: Path, tmp_path: Path) -> None:
    case = tmp_path / "case.jsonl"
    diagnosis = run_it(served(say("hm") + call("Read", READ), submit(answer())), broken_run, save_case=case)
    record = read_transcript(case)
    assert record.request["message"] == MESSAGE
    assert record.of("context")[0]["context"]["run"] == "schedule-change"
    turns = record.of("turn")
    assert [turn["who"] for turn in turns] == ["training-monitor", "training-monitor", "training-monitor/sceptic"]
    assert turns[0]["blocks"][0] == {"type": "text", "text": "hm"}
    tools = record.of("tool")
    assert tools[0]["asked"].startswith("Read ")
    assert "lr: 0.4" in tools[0]["result"]["output"]["text"]
    assert record.diagnosis == diagnosis


def test_with_a_model_it_lies_in_the_users_cache(
    served: Serve, broken_run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    run_it(served(submit(answer())), broken_run)
    (case,) = (tmp_path / "cache" / "traindx" / "cases").iterdir()
    assert "schedule-change" in case.name
    assert case.stat().st_mode & 0o077 == 0
    assert read_transcript(case).diagnosis is not None


def test_without_a_model_it_is_kept_on_request_only(
    broken_run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    diagnose(broken_run, MESSAGE, brain="local")
    assert not (tmp_path / "cache").exists()
    diagnose(broken_run, MESSAGE, brain="local", save_case=tmp_path / "local.jsonl")
    found = read_transcript(tmp_path / "local.jsonl").diagnosis
    assert found is not None
    assert found.provenance.brain == "local"


def test_a_cache_that_cannot_be_written_costs_a_note(
    served: Serve, broken_run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    diagnosis = run_it(served(submit(answer())), broken_run)
    assert any("no transcript was kept" in note for note in diagnosis.provenance.notes)
    with pytest.raises(TraindxError, match="cannot write the transcript"):
        run_it(served(submit(answer())), broken_run, save_case=tmp_path / "file" / "case.jsonl")


def test_replay_shows_it_offline(
    served: Serve, broken_run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    case = tmp_path / "case.jsonl"
    diagnosis = run_it(served(say("I look.") + call("Read", READ), submit(answer())), broken_run, save_case=case)

    def no_network(*_: Any, **__: Any) -> None:
        raise AssertionError("replay reached for the network")

    monkeypatch.setattr(socket.socket, "connect", no_network)
    assert main(["replay", str(case)]) == 0
    shown = capsys.readouterr().out
    assert "lr-schedule-spike" in shown
    assert "claude-sonnet-5-5" in shown
    assert main(["replay", str(case), "-v"]) == 0
    told = capsys.readouterr().out
    assert "I look." in told
    assert '-> Read {"path": "config.yaml"' in told
    assert main(["replay", str(case), "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == json.loads(diagnosis.model_dump_json())


def test_an_interrupted_one_goes_on_where_it_broke(served: Serve, broken_run: Path, tmp_path: Path) -> None:
    case = tmp_path / "case.jsonl"
    first = served(call("Read", READ), call("find_changes"), status(401), forever=True)
    broken = run_it(first, broken_run, save_case=case)
    assert broken.provenance.brain == "local"
    lines = case.read_text().splitlines()
    # As if the power had failed: the diagnosis is not there, and the last line is torn.
    case.write_text("\n".join([line for line in lines if '"kind": "diagnosis"' not in line]) + '\n{"kind": "tu')
    second = served(submit(answer()))
    diagnosis = run_it(second, broken_run, resume_case=case)
    asked = [request for request in second.requests if not is_sceptic(request)]
    assert len(asked) == 1
    used = [b["name"] for m in asked[0].messages for b in m["content"] if b["type"] == "tool_use"]
    assert used == ["Read", "find_changes"]
    # A result that is recalled keeps the number that the model knows it by.
    before = [request for request in first.requests if not is_sceptic(request)][2]
    assert list(asked[0].results().values()) == list(before.results().values())
    assert "lr: 0.4" in next(iter(asked[0].results().values()))
    assert diagnosis.root_causes[0].confidence == 0.96
    assert read_transcript(case).diagnosis == diagnosis


def test_a_finished_one_asks_nobody_again(served: Serve, broken_run: Path, tmp_path: Path) -> None:
    case = tmp_path / "case.jsonl"
    once = run_it(served(call("Read", READ), submit(answer())), broken_run, save_case=case)
    silent = served()
    again = run_it(silent, broken_run, resume_case=case, save_case=tmp_path / "again.jsonl")
    assert silent.requests == []
    assert again.root_causes == once.root_causes
    assert read_transcript(tmp_path / "again.jsonl").diagnosis == again


def test_an_interrupted_record_is_shown_as_far_as_it_goes(
    served: Serve, broken_run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    case = tmp_path / "case.jsonl"
    run_it(served(say("I look.") + call("Read", READ), submit(answer())), broken_run, save_case=case)
    kept = [line for line in case.read_text().splitlines() if '"kind": "diagnosis"' not in line]
    case.write_text("\n".join(kept) + "\n")
    assert main(["replay", str(case)]) == 0
    shown = capsys.readouterr().out
    assert "I look." in shown
    assert "--resume-case" in shown


@pytest.mark.parametrize("text", ["", "not json\n{}\n", '{"kind": "turn"}\n', "[1]\n[2]\n"])
def test_something_else_is_refused_in_one_sentence(
    tmp_path: Path, text: str, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "x.jsonl"
    path.write_text(text)
    assert main(["replay", str(path)]) == 2
    assert capsys.readouterr().err.count("\n") == 1


def test_no_secret_is_written_down(served: Serve, broken_run: Path, tmp_path: Path) -> None:
    run = tmp_path / "run"
    run.mkdir()
    for path in broken_run.iterdir():
        (run / path.name).write_text(path.read_text())
    with (run / "config.yaml").open("a") as file:
        file.write("db_password: hunter2hunter2\n")
    case = tmp_path / "case.jsonl"
    run_it(served(call("Read", READ), submit(answer())), run, save_case=case)
    assert "hunter2hunter2" not in case.read_text()
