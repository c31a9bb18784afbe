"""Whatever goes wrong with the model, a diagnosis comes out, with the reason in one line."""

import asyncio
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.llm.kit import MESSAGE, Investigate, Serve, answer, diagnosed, holds, is_sceptic, quick
from traindx import diagnose
from traindx.contract import Diagnosis
from traindx.runtime import Toolbelt
from traindx.testing import (
    Received,
    Turn,
    call,
    cut,
    garbage,
    hang,
    raw_call,
    refuse,
    reset,
    say,
    status,
    stopped,
    submit,
    unreachable_url,
)

pytestmark = pytest.mark.slow

READ = {"path": "config.yaml", "start_line": 1, "max_lines": 200, "tail": False}
ANY = {"path": "train.log", "start_line": 1, "max_lines": 200, "tail": False}


def is_local_with(diagnosis: Diagnosis, reason: str) -> bool:
    """The local answer, valid against the contract, with one line that says why."""
    assert Diagnosis.model_validate_json(diagnosis.model_dump_json()) == diagnosis
    assert diagnosis.root_causes[0].id == "lr-schedule-spike"
    assert diagnosis.root_causes[0].confidence >= 0.9
    assert diagnosis.provenance.brain == "local"
    said = diagnosis.provenance.notes[0]
    assert "\n" not in said
    return reason in said and "this is the local answer" in said


PERSISTENT: list[tuple[str, Turn, str]] = [
    ("bad key", status(401, "invalid x-api-key"), "the key was refused"),
    ("forbidden", status(403, "no access"), "may not use `claude-sonnet-5-5` (403: no access)"),
    ("unknown model", status(404, "model"), "`claude-sonnet-5-5` is unknown"),
    ("rate limit", status(429, retry_after=2), "rate limit"),
    ("internal error", status(500), "internal error (500)"),
    ("bad gateway", status(502), "internal error (502)"),
    ("overloaded", status(529), "overloaded (529)"),
    ("connection closed", reset(), "closed the connection"),
    ("stream cut at once", cut(say("x" * 300), 1), "was cut off midway"),
    ("stream cut in a text", cut(say("x" * 300), 5), "was cut off midway"),
    ("stream cut in the answer", cut(submit(answer()), 40), "was cut off midway"),
    ("not the protocol", garbage("<html>proxy login</html>", "text/html"), "not the Messages protocol"),
    ("broken events", garbage("event: message_start\ndata: {not json\n\n"), "not the Messages protocol"),
    ("empty answer", garbage(""), "not the Messages protocol"),
    ("refusal", refuse("frontier_llm"), "refused to answer (frontier_llm)"),
    ("too long", status(400, "prompt is too long: 250000 tokens > 200000 maximum"), "too long for `claude-sonnet-5-5`"),
    ("context exceeded", stopped("model_context_window_exceeded", say("…")), "too long for `claude-sonnet-5-5`"),
    ("request too large", status(413), "too long for `claude-sonnet-5-5`"),
    ("other refusal of the request", status(400, "credit balance is too low"), "credit balance is too low"),
    ("silence", stopped("end_turn"), "ended without an answer"),
    ("only words", say("I would rather not use tools."), "ended without an answer"),
    ("always cut at its longest", stopped("max_tokens", say("very long")), "ended without an answer"),
    ("always pausing", stopped("pause_turn", say("wait")), "ended without an answer"),
    ("unknown stop reason", stopped("something_new", say("hm")), "ended without an answer"),
]


@pytest.mark.parametrize(("what", "turn", "reason"), PERSISTENT, ids=[row[0] for row in PERSISTENT])
def test_a_fault_that_stays_leads_to_the_local_answer(
    served: Serve, investigate: Investigate, what: str, turn: Turn, reason: str
) -> None:
    assert is_local_with(investigate(served(turn, forever=True), max_tool_calls=3), reason)


PASSING = [
    ("rate limit", status(429, retry_after=7)),
    ("internal error", status(500)),
    ("overloaded", status(529)),
    ("connection closed", reset()),
    ("stream cut", cut(say("x" * 300), 6)),
    ("garbage", garbage()),
    ("cut at its longest", stopped("max_tokens", say("very long"))),
    ("cut inside a call", stopped("max_tokens", raw_call("Read", '{"path": "con'))),
    ("pause", stopped("pause_turn", say("wait"))),
    ("stop sequence", stopped("stop_sequence", say("…"))),
    ("malformed input", raw_call("Read", '{"path": ')),
    ("unknown tool", call("Bash", command="rm -rf /")),
    ("words only", say("The rate is to blame.")),
]


@pytest.mark.parametrize(("what", "turn"), PASSING, ids=[row[0] for row in PASSING])
def test_a_fault_that_passes_costs_nothing_but_a_turn(
    served: Serve, investigate: Investigate, what: str, turn: Turn
) -> None:
    diagnosis = investigate(served(call("Read", READ), turn, submit(answer())))
    assert diagnosis.provenance.brain == "claude-sonnet-5-5"
    assert diagnosis.status == "diagnosis_complete"
    assert diagnosis.root_causes[0].confidence == 0.96


def test_no_key(open_toolbelt: Toolbelt) -> None:
    assert is_local_with(
        diagnosed(open_toolbelt, quick(api_key=None, base_url=unreachable_url())), "no key: set ANTHROPIC_API_KEY"
    )


def test_no_network(open_toolbelt: Toolbelt) -> None:
    assert is_local_with(diagnosed(open_toolbelt, quick(base_url=unreachable_url())), "cannot be reached")


def test_a_server_that_never_answers(served: Serve, investigate: Investigate) -> None:
    assert is_local_with(investigate(served(hang(), forever=True), silence=0.1), "no answer from")


def test_a_server_that_never_ends_its_answer(served: Serve, investigate: Investigate) -> None:
    diagnosis = investigate(served(say("x" * 2000).paced(0.2), forever=True), max_seconds=0.8)
    assert is_local_with(diagnosis, "that remained")


def test_patience_is_as_long_as_the_service_asks_and_the_budget_has(served: Serve, investigate: Investigate) -> None:
    waited: list[float] = []

    async def wait(seconds: float) -> None:
        waited.append(seconds)

    investigate(served(status(429, retry_after=7), status(529), submit(answer())), wait=wait)
    assert waited == [7.0, 1.0]
    waited.clear()
    diagnosis = investigate(served(status(429, retry_after=600), forever=True), wait=wait)
    assert waited == []
    assert is_local_with(diagnosis, "it asks to wait 600 s")


def test_a_model_that_never_stops_calling_tools_gets_a_last_turn(served: Serve, investigate: Investigate) -> None:
    def insatiable(request: Received) -> Turn:
        line = len(request.messages)
        return call("Read", path="train.log", start_line=line, max_lines=1, tail=False)

    server = served(insatiable, forever=True)
    diagnosis = investigate(server, max_tool_calls=5)
    assert server.requests[-1].tools == ["submit_diagnosis"]
    assert len(server.requests) == 6
    assert is_local_with(diagnosis, "ended without an answer")


def test_the_last_turn_brings_an_answer(served: Serve, investigate: Investigate) -> None:
    def obedient(request: Received) -> Turn:
        if request.tools == ["submit_diagnosis"]:
            return submit(answer())
        return call("Read", path="train.log", start_line=len(request.messages), max_lines=1, tail=False)

    server = served(obedient, forever=True)
    diagnosis = investigate(server, max_tool_calls=3)
    assert diagnosis.status == "partial"
    assert diagnosis.root_causes[0].id == "lr-schedule-spike"
    assert diagnosis.provenance.brain == "claude-sonnet-5-5"
    assert "all 3 tool calls are used" in diagnosis.provenance.notes[0]
    assert "This is the last turn" in server.requests[-1].last_words or "last turn" in str(server.requests[3].messages)


def test_an_answer_written_out_instead_of_submitted_is_read(served: Serve, investigate: Investigate) -> None:
    import json

    def wordy(request: Received) -> Turn:
        return say(f"Here it is:\n```json\n{json.dumps(answer())}\n```")

    diagnosis = investigate(served(wordy, forever=True))
    assert diagnosis.provenance.brain == "claude-sonnet-5-5"
    assert diagnosis.root_causes[0].id == "lr-schedule-spike"


def test_a_fault_in_the_middle_keeps_the_bill(served: Serve, investigate: Investigate) -> None:
    server = served(call("Read", READ), call("Read", ANY), status(401))
    diagnosis = investigate(server)
    assert is_local_with(diagnosis, "failed after 2 turn(s)")
    assert diagnosis.provenance.tokens > 0
    assert diagnosis.provenance.cost_usd > 0


def test_a_fault_in_the_repair_turn_leaves_the_valid_part(served: Serve, investigate: Investigate) -> None:
    server = served(submit(answer(sections=[])), status(401))
    diagnosis = investigate(server)
    assert diagnosis.status == "partial"
    assert diagnosis.provenance.brain == "claude-sonnet-5-5"
    assert diagnosis.root_causes[0].id == "lr-schedule-spike"
    assert any("could not be repaired" in note for note in diagnosis.provenance.notes)


def test_a_fault_of_the_sceptic_holds_the_cause_below_nine_tenths(served: Serve, investigate: Investigate) -> None:
    server = served(submit(answer()))
    server.script(status(500), when=is_sceptic, forever=True)
    diagnosis = investigate(server)
    assert diagnosis.root_causes[0].confidence == 0.89
    assert any("was not checked by the sceptic" in note for note in diagnosis.provenance.notes)


@pytest.fixture
def command(served: Serve, tmp_path: Path) -> Callable[..., subprocess.Popen[str]]:
    def start(*arguments: object, **variables: str) -> subprocess.Popen[str]:
        kept = {key: value for key, value in os.environ.items() if not key.startswith(("ANTHROPIC", "PYTHON"))}
        return subprocess.Popen(
            [sys.executable, "-m", "traindx", *map(str, arguments)],
            env={**kept, "XDG_CACHE_HOME": str(tmp_path), **variables},
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd="/",
        )  # fmt: skip

    return start


def test_ctrl_c_brings_the_diagnosis_out(
    served: Serve, command: Callable[..., subprocess.Popen[str]], broken_run: Path
) -> None:
    server = served(call("Read", READ), hang())
    process = command(
        "diagnose", broken_run, "-m", MESSAGE, "--specialist", "training-monitor", "--json",
        ANTHROPIC_BASE_URL=server.url, ANTHROPIC_API_KEY="k",
    )  # fmt: skip
    deadline = time.monotonic() + 30
    while len(server.requests) < 2 and time.monotonic() < deadline:
        time.sleep(0.02)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=30)
    assert process.returncode == 0, err
    diagnosis = Diagnosis.model_validate_json(out)
    assert is_local_with(diagnosis, "interrupted")


def test_the_command_takes_key_and_address_from_the_environment(
    served: Serve, command: Callable[..., subprocess.Popen[str]], broken_run: Path
) -> None:
    server = served(submit(answer()))
    server.script(holds(), when=is_sceptic, forever=True)
    process = command(
        "diagnose", broken_run, "-m", MESSAGE, "--specialist", "training-monitor", "--model", "haiku",
        "--effort", "low", "--max-usd", "0.5",
        **{"ANTHROPIC_BASE_URL": server.url, "ANTHROPIC_AUTH_TOKEN": "bearer-token"},
    )  # fmt: skip
    out, err = process.communicate(timeout=60)
    assert process.returncode == 0, err
    assert "(claude-haiku-5-5)" in " ".join(out.split())
    assert "tokens, $0.0" in " ".join(out.split())
    assert server.requests[0].key == "bearer-token"


def test_auto_without_a_key_is_local_and_imports_no_sdk(broken_run: Path) -> None:
    script = (
        "import sys, traindx\n"
        f"d = traindx.diagnose({str(broken_run)!r}, {MESSAGE!r})\n"
        "assert d.provenance.brain == 'local', d.provenance\n"
        "assert 'anthropic' not in sys.modules and 'httpx2' not in sys.modules\n"
    )
    clean = {key: value for key, value in os.environ.items() if not key.startswith(("ANTHROPIC", "PYTHON"))}
    done = subprocess.run(
        [sys.executable, "-c", script], env=clean, capture_output=True, text=True, cwd="/", check=False
    )
    assert done.returncode == 0, done.stderr


def test_the_key_never_reaches_the_worker(broken_run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from traindx.runtime.launch import environment

    monkeypatch.setenv("ANTHROPIC_API_KEY", "secret-key")
    monkeypatch.setenv("ANTHROPIC_AUTH_TOKEN", "secret-token")
    assert not any("secret" in value for value in environment().values())


def test_auto_with_a_key_is_claude(served: Serve, broken_run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    server = served(status(401), forever=True)
    monkeypatch.setenv("ANTHROPIC_API_KEY", "k")
    monkeypatch.setenv("ANTHROPIC_BASE_URL", server.url)
    diagnosis = diagnose(broken_run, MESSAGE)
    assert len(server.requests) >= 1
    assert "the key was refused" in diagnosis.provenance.notes[0]


def test_an_unknown_brain_is_refused(broken_run: Path) -> None:
    from traindx import TraindxError

    wrong: Any = "gpt"
    with pytest.raises(TraindxError, match="there is no brain `gpt`"):
        diagnose(broken_run, brain=wrong)


def test_cancelling_leaves_no_thread_behind(served: Serve, broken_run: Path) -> None:
    from traindx import adiagnose

    server = served(hang(), forever=True)

    async def cancelled() -> None:
        task = asyncio.create_task(adiagnose(broken_run, MESSAGE, brain="claude", options=quick(server)))
        while not server.requests:
            await asyncio.sleep(0.02)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    before = {thread.name for thread in threading.enumerate()}
    asyncio.run(cancelled())
    left = {thread.name for thread in threading.enumerate()} - before
    assert not [name for name in left if "asyncio" in name]
