"""Whatever a host sends gets an answer, costs nothing but that message, and reaches nothing outside."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest

from tests.mcp.peer import HANDSHAKE, Peer, text_of
from traindx.definitions.content import EXAMPLES

pytest.importorskip("mcp")
pytestmark = pytest.mark.slow

Start = Callable[..., Peer]
PARSE_ERROR, INVALID_PARAMS, NO_METHOD = -32700, -32602, -32601
RUN = "schedule-change"

NOT_MESSAGES: list[bytes] = [
    b"hello",
    b"{",
    b"[]",
    b"[1, 2",
    b"null",
    b"true",
    b"42",
    b'"text"',
    b"{}",
    b'{"jsonrpc": "1.0", "id": 1, "method": "ping"}',
    b'{"jsonrpc": "2.0", "id": 1}',
    b'{"jsonrpc": "2.0", "id": {"a": 1}, "method": "ping"}',
    b'{"jsonrpc": "2.0", "id": 1, "method": 7}',
    b'{"jsonrpc": "2.0", "id": 1, "method": "ping", "params": 7}',
    b'{"jsonrpc": "2.0", "id": 1, "method": "ping"',
    b'{"id": 1, "method": "ping"}',
    b"\x00\x01\x02\xff\xfe",
    b"\xff\xff\xff",
    b"\xed\xa0\x80",
    b"[" * 50_000,
    b'{"a":' * 50_000,
    b"GET / HTTP/1.1",
    b"Content-Length: 20",
    b"<xml/>",
    b'{"jsonrpc": "2.0", "id": NaN, "method": "ping"}',
    b"9" * 100_000,
    b" " * 1000 + b"x",
    b"x" * (5 * 1024 * 1024),
]
WRONG_REQUESTS: list[tuple[str, Any, int]] = [
    ("nothing/of/the/kind", {}, NO_METHOD),
    ("", {}, NO_METHOD),
    ("x" * 10_000, {}, NO_METHOD),
    ("__class__", {}, NO_METHOD),
    ("resources/subscribe", {"uri": "traindx://diagnosis/last"}, NO_METHOD),
    (
        "completion/complete",
        {"ref": {"type": "ref/prompt", "name": "x"}, "argument": {"name": "a", "value": "b"}},
        NO_METHOD,
    ),
    ("tools/call", None, INVALID_PARAMS),
    ("tools/call", {}, INVALID_PARAMS),
    ("tools/call", {"name": None}, INVALID_PARAMS),
    ("tools/call", {"name": 5, "arguments": {}}, INVALID_PARAMS),
    ("tools/call", {"name": ["diagnose"]}, INVALID_PARAMS),
    ("tools/call", {"name": "diagnose", "arguments": []}, INVALID_PARAMS),
    ("tools/call", {"name": "diagnose", "arguments": "run"}, INVALID_PARAMS),
    ("tools/call", {"name": "diagnose", "arguments": 5}, INVALID_PARAMS),
    ("tools/list", {"cursor": 5}, INVALID_PARAMS),
    ("resources/read", {}, INVALID_PARAMS),
    ("resources/read", {"uri": "traindx://nothing"}, INVALID_PARAMS),
    ("resources/read", {"uri": "file:///etc/passwd"}, INVALID_PARAMS),
    ("resources/read", {"uri": "traindx://failure-modes/../../etc/passwd"}, INVALID_PARAMS),
    ("resources/read", {"uri": "traindx://failure-modes/%2e%2e/x"}, INVALID_PARAMS),
    ("resources/read", {"uri": "traindx://" + "x" * 100_000}, INVALID_PARAMS),
    ("resources/read", {"uri": 7}, INVALID_PARAMS),
    ("prompts/get", {}, INVALID_PARAMS),
    ("prompts/get", {"name": "nobody"}, INVALID_PARAMS),
    ("prompts/get", {"name": "ml-debugger", "arguments": {"run": 5}}, INVALID_PARAMS),
]
WRONG_CALLS: list[tuple[str, dict[str, Any], str]] = [
    ("nothing", {}, "no tool `nothing`"),
    ("", {}, "no tool"),
    ("../diagnose", {}, "no tool"),
    ("x" * 5000, {}, "no tool"),
    ("Bash", {"command": "touch /tmp/x"}, "no tool `Bash`"),
    ("diagnose", {"run": "/etc"}, "outside the workspace"),
    ("diagnose", {"run": "/"}, "outside the workspace"),
    ("diagnose", {"run": ".."}, "outside the workspace"),
    ("diagnose", {"run": "schedule-change/../../.."}, "outside the workspace"),
    ("diagnose", {"run": "~"}, "outside the workspace"),
    ("diagnose", {"run": "~root/.ssh"}, "outside the workspace"),
    ("diagnose", {"run": "/proc/self/environ"}, "outside the workspace"),
    ("diagnose", {"run": "file:///etc/passwd"}, "no such file"),
    ("diagnose", {"run": "https://example.org/run.zip"}, "no such file"),
    ("diagnose", {"run": "-"}, "no such file"),
    ("diagnose", {"run": "no\0thing"}, "null character"),
    ("diagnose", {"run": "x" * 100_000}, "cannot read"),
    ("diagnose", {"run": "nowhere"}, "no such file"),
    ("diagnose", {"run": 5}, "`run`"),
    ("diagnose", {"run": None}, "`run`"),
    ("diagnose", {"run": ["schedule-change"]}, "`run`"),
    ("diagnose", {"run": RUN, "message": 5}, "`message`"),
    ("diagnose", {"run": RUN, "message": "x" * 100_000}, "`message`"),
    ("diagnose", {"run": RUN, "specialist": "surgeon"}, "surgeon"),
    ("diagnose", {"run": RUN, "detail": "everything"}, "`detail`"),
    ("diagnose", {"run": RUN, "brain": "claude"}, "no field `brain`"),
    ("diagnose", {"path": RUN}, "no field `path`"),
    ("gather", {"run": "/root"}, "outside the workspace"),
    ("gather", {"rum": RUN}, "did you mean `run`?"),
    ("inspect", {"analysis": "nothing", "run": RUN}, "no tool `nothing`"),
    ("inspect", {"analysis": "../Read", "run": RUN}, "no tool"),
    ("inspect", {"analysis": 7, "run": RUN}, "`analysis`"),
    ("inspect", {"analysis": "Read", "run": RUN, "options": []}, "`options`"),
    ("inspect", {"analysis": "Read", "run": RUN, "options": {"path": "/etc/passwd"}}, "/etc/passwd"),
    ("inspect", {"analysis": "Read", "run": RUN, "options": {"path": "../../pyproject.toml"}}, "pyproject.toml"),
    ("inspect", {"analysis": "Grep", "run": RUN, "options": {"pattern": "("}}, "pattern"),
    ("inspect", {"analysis": "analyze_loss_curve", "run": "/var", "options": {}}, "outside the workspace"),
    ("compare_runs", {}, "`good` is missing"),
    ("compare_runs", {"good": RUN}, "`bad` is missing"),
    ("compare_runs", {"good": RUN, "bad": "/etc"}, "outside the workspace"),
    ("compare_runs", {"good": "/etc", "bad": RUN}, "outside the workspace"),
    ("explain", {"id": "nothing-of-the-kind"}, "nothing-of-the-kind"),
    ("explain", {"id": "../../etc/passwd"}, "etc/passwd"),
    ("explain", {"id": 5}, "`id`"),
    ("explain", {"id": "clip-gradients", "run": "/etc"}, "outside the workspace"),
    ("verify_evidence", {"run": RUN}, "`citations` is missing"),
    ("verify_evidence", {"run": RUN, "citations": []}, "`citations`"),
    ("verify_evidence", {"run": RUN, "citations": [{}] * 3}, "`citations.0.source` is missing"),
    ("verify_evidence", {"run": RUN, "citations": [{"source": "a"}] * 51}, "`citations`"),
    ("verify_evidence", {"run": RUN, "citations": [{"source": "metrics.csv", "line": -1}]}, "`citations.0.line"),
    ("verify_evidence", {"run": RUN, "citations": "all"}, "`citations`"),
]


def workers_of(process: int) -> list[psutil.Process]:
    return psutil.Process(process).children(recursive=True)


def gone(wanted: Callable[[], bool], seconds: float = 20.0) -> bool:
    """Whether something comes to be within a generous time."""
    end = time.monotonic() + seconds
    while not wanted():
        if time.monotonic() > end:
            return False
        time.sleep(0.05)
    return True


@pytest.fixture(scope="module")
def one() -> Iterator[Peer]:
    """One server that has to outlive every message of this file."""
    started = Peer(EXAMPLES)
    started.greet()
    yield started
    assert started.call("explain", id="overfitting")["structuredContent"]["id"] == "overfitting"
    assert started.close() == 0


def test_there_are_a_hundred_of_them() -> None:
    assert len(NOT_MESSAGES) + len(WRONG_REQUESTS) + len(WRONG_CALLS) >= 100


@pytest.mark.parametrize("line", NOT_MESSAGES, ids=lambda line: repr(line[:20]))
def test_what_is_no_message_is_answered_as_such(one: Peer, line: bytes) -> None:
    one.send(line)
    said = one.next()
    assert said["id"] is None
    assert said["error"]["code"] == PARSE_ERROR
    assert "result" in one.ask("ping")


@pytest.mark.parametrize(("method", "params", "code"), WRONG_REQUESTS, ids=lambda part: repr(part)[:30])
def test_a_wrong_request_is_refused(one: Peer, method: str, params: Any, code: int) -> None:
    said = one.ask(method, params)
    assert said["error"]["code"] == code
    assert said["error"]["message"]
    assert "Traceback" not in json.dumps(said)


@pytest.mark.parametrize(("tool", "given", "words"), WRONG_CALLS, ids=lambda part: repr(part)[:40])
def test_a_wrong_call_is_answered_with_a_sentence(one: Peer, tool: str, given: dict[str, Any], words: str) -> None:
    result = one.ask("tools/call", {"name": tool, "arguments": given})["result"]
    assert result["isError"] is True
    assert words in text_of(result)
    assert len(text_of(result)) < 2500
    assert "Traceback" not in text_of(result)


def test_a_request_before_the_handshake_is_refused(peer: Start) -> None:
    server = peer(EXAMPLES, greet=False)
    assert "error" in server.ask("tools/call", {"name": "explain", "arguments": {}})
    assert "result" in server.ask("initialize", HANDSHAKE)


def test_answers_to_questions_that_nobody_asked_are_passed_over(peer: Start) -> None:
    server = peer(EXAMPLES)
    server.send({"jsonrpc": "2.0", "id": 77, "result": {}})
    server.send({"jsonrpc": "2.0", "id": 78, "error": {"code": 1, "message": "no"}})
    server.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 99}})
    server.send({"jsonrpc": "2.0", "method": "notifications/nothing"})
    assert "result" in server.ask("ping")


def test_two_calls_at_once_do_not_wait_for_each_other_to_be_right(peer: Start) -> None:
    server = peer(EXAMPLES)
    for number, run in ((71, RUN), (72, "schedule-change-healthy"), (73, "nowhere")):
        given = {"name": "diagnose", "arguments": {"run": run}}
        server.send({"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": given})
    found: dict[int, dict[str, Any]] = {}
    while len(found) < 3:
        message = server.next()
        found[message["id"]] = message["result"]
    assert found[71]["structuredContent"]["root_causes"][0]["id"] == "lr-schedule-spike"
    assert found[72]["structuredContent"]["status"] == "healthy"
    assert found[73]["isError"]


def slow_run(folder: Path) -> Path:
    """A log that takes seconds to read."""
    with (folder / "train.log").open("w") as log:
        for step in range(1_500_000):
            log.write(
                f"2026-01-01 step {step} | loss {2 / (step % 997 + 1):.5f} | lr 0.001 | it/s {step % 13}.{step % 7}\n"
            )
    return folder


def test_a_cancelled_call_ends_its_worker_and_the_server_goes_on(peer: Start, tmp_path: Path) -> None:
    server = peer(slow_run(tmp_path))
    given = {"name": "diagnose", "arguments": {"run": "."}}
    server.send({"jsonrpc": "2.0", "id": 41, "method": "tools/call", "params": given})
    assert gone(lambda: bool(workers_of(server.process.pid)))
    server.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 41}})
    assert gone(lambda: not workers_of(server.process.pid))
    assert "result" in server.ask("ping")


def test_a_client_that_goes_in_the_middle_leaves_no_process(peer: Start, tmp_path: Path) -> None:
    server = peer(slow_run(tmp_path))
    given = {"name": "diagnose", "arguments": {"run": "."}}
    server.send({"jsonrpc": "2.0", "id": 41, "method": "tools/call", "params": given})
    assert gone(lambda: bool(workers_of(server.process.pid)))
    workers = workers_of(server.process.pid)
    assert server.close() == 0
    assert gone(lambda: not any(worker.is_running() and worker.status() != "zombie" for worker in workers))


def test_a_killed_server_leaves_no_process(peer: Start, tmp_path: Path) -> None:
    server = peer(slow_run(tmp_path))
    given = {"name": "diagnose", "arguments": {"run": "."}}
    server.send({"jsonrpc": "2.0", "id": 41, "method": "tools/call", "params": given})
    assert gone(lambda: bool(workers_of(server.process.pid)))
    workers = workers_of(server.process.pid)
    server.process.kill()
    assert gone(lambda: not any(worker.is_running() and worker.status() != "zombie" for worker in workers))


@pytest.mark.parametrize("number", [2, 15], ids=["interrupt", "terminate"])
def test_a_signal_ends_it_at_once(peer: Start, number: int) -> None:
    server = peer(EXAMPLES)
    os.kill(server.process.pid, number)
    assert server.process.wait(20) == 128 + number


def test_no_file_is_changed_by_anything_that_a_host_asks(
    peer: Start, hashes: Callable[[Path], dict[str, str]], tmp_path: Path
) -> None:
    import shutil

    shutil.copytree(EXAMPLES / RUN, tmp_path / RUN)
    before = hashes(tmp_path)
    server = peer(tmp_path)
    for tool, given in (
        ("diagnose", {"run": RUN, "message": "it diverged"}),
        ("gather", {"run": RUN}),
        ("inspect", {"run": RUN, "analysis": "visualize_loss_curve"}),
        ("inspect", {"run": RUN, "analysis": "review_training_loop"}),
        ("compare_runs", {"good": RUN, "bad": RUN}),
        ("verify_evidence", {"run": RUN, "citations": [{"source": "metrics.csv", "line": 2, "quote": "0"}]}),
    ):
        assert not server.call(tool, **given).get("isError"), tool
    assert hashes(tmp_path) == before


def test_links_that_lead_outside_are_outside(peer: Start, tmp_path: Path) -> None:
    (tmp_path / "away").symlink_to(EXAMPLES / RUN)
    server = peer(tmp_path)
    assert "outside the workspace" in text_of(server.call("diagnose", run="away"))


def test_roots_of_the_host_bound_what_is_read(peer: Start) -> None:
    server = peer(EXAMPLES.parent, greet=False)
    server.greet(roots={"listChanged": True})

    def asked(run: str) -> dict[str, Any]:
        params = {"name": "diagnose", "arguments": {"run": run}}
        server.send({"jsonrpc": "2.0", "id": f"r-{run}", "method": "tools/call", "params": params})
        question = server.next()
        assert question["method"] == "roots/list"
        roots = {"roots": [{"uri": f"file://{EXAMPLES / RUN}"}]}
        server.send({"jsonrpc": "2.0", "id": question["id"], "result": roots})
        result: dict[str, Any] = server.answer(f"r-{run}")["result"]
        return result

    assert asked(".")["structuredContent"]["root_causes"][0]["id"] == "lr-schedule-spike"
    assert "outside the workspace" in text_of(asked(str(EXAMPLES / "poor-folder")))


def test_a_host_that_does_not_answer_about_its_roots_is_not_waited_for(peer: Start) -> None:
    server = peer(EXAMPLES, greet=False)
    server.greet(roots={})
    params = {"name": "explain", "arguments": {"id": "overfitting"}}
    server.send({"jsonrpc": "2.0", "id": 9, "method": "tools/call", "params": params})
    assert server.next()["method"] == "roots/list"
    assert server.answer(9)["result"]["structuredContent"]["id"] == "overfitting"


def test_named_roots_go_before_those_of_the_host(peer: Start, tmp_path: Path) -> None:
    server = peer(tmp_path, "--root", str(EXAMPLES / RUN), "--root", str(EXAMPLES / "poor-folder"))
    assert not server.call("gather", run=str(EXAMPLES / "poor-folder")).get("isError")
    assert "outside the workspace" in text_of(server.call("gather", run=str(tmp_path)))


def test_a_server_that_is_started_in_the_root_of_the_machine_reads_nothing(peer: Start) -> None:
    server = peer(Path("/"))
    said = text_of(server.call("gather", run="etc"))
    assert "no folder is open" in said
    assert "--root" in said
