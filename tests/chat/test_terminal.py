"""A chat in a terminal: prompt, completion, history, Ctrl-C and Ctrl-D."""

import time
from pathlib import Path

import pytest

from tests.chat.kit import Terminal
from tests.llm.kit import Serve, answer, holds, is_sceptic
from traindx.testing import call, hang, say, submit

pytestmark = pytest.mark.slow

PROMPT = "traindx> "
LOOK = {"path": "config.yaml", "start_line": 1, "max_lines": 20, "tail": False}


def test_prompt_completion_history_and_the_end(broken_run: Path, tmp_path: Path) -> None:
    with Terminal(broken_run) as chat:
        assert "DIAGNOSIS" in chat.wait_for("/help")
        chat.wait_for(PROMPT)
        chat.type("/expl\tlr-sch\t\r")
        assert "/explain lr-schedule-spike" in chat.wait_for("narrow valley")
        chat.wait_for(PROMPT)
        chat.type("why?\r")
        chat.wait_for("`/evidence 1`.")
        chat.wait_for(PROMPT)
        chat.type("\x1b[A\r")
        assert "why?" in chat.wait_for("`/evidence 1`.")
        chat.wait_for(PROMPT)
        chat.type("\x04")
        chat.wait_for("--resume")
        assert chat.ended() == 0
    history = tmp_path / "state" / "traindx" / "history"
    assert "why?" in history.read_text()
    assert history.stat().st_mode & 0o077 == 0
    assert "\x1b[1mDIAGNOSIS" in chat.seen
    with Terminal(broken_run, "--no-color", "--resume") as chat:
        chat.wait_for("Your last question: why?")
        chat.wait_for(PROMPT)
        chat.type("\x1b[A\r")
        assert "why?" in chat.wait_for("`/evidence 1`.")
        chat.wait_for(PROMPT)
        chat.type("/quit\r")
        assert chat.ended() == 0


def test_ctrl_c_at_the_prompt_drops_the_line_and_not_the_chat(broken_run: Path) -> None:
    with Terminal(broken_run) as chat:
        chat.wait_for(PROMPT)
        chat.type("half a ques")
        chat.wait_for("half a ques")
        # CPython's readline sees a signal only while it waits for a key, not while it draws one.
        time.sleep(0.5)
        chat.type("\x03")
        chat.wait_for("ends the chat")
        chat.wait_for(PROMPT)
        chat.type("when did it start?\r")
        chat.wait_for("At epoch 7")
        chat.wait_for(PROMPT)
        chat.type("bye\r")
        chat.wait_for("Goodbye.")
        assert chat.ended() == 0


def test_ctrl_c_interrupts_an_answer_and_not_the_chat(served: Serve, broken_run: Path) -> None:
    server = served(call("Read", LOOK), submit(answer()), hang(), say("The rate was **0.015** before."))
    server.script(holds(), when=is_sceptic, forever=True)
    more = {"ANTHROPIC_BASE_URL": server.url, "ANTHROPIC_API_KEY": "k"}
    with Terminal(broken_run, "--specialist", "training-monitor", **more) as chat:
        assert "lr-schedule-spike" in chat.wait_for(PROMPT)
        chat.type("what was the rate?\r")
        chat.wait_for("thinking")
        # The answer under way is the one that hangs: the question has to have reached the server.
        until = time.monotonic() + 30
        while not any("what was the rate?" in request.text for request in server.requests):
            assert time.monotonic() < until
            time.sleep(0.05)
        chat.type("\x03")
        chat.wait_for("(interrupted)")
        chat.wait_for(PROMPT)
        chat.type("and now?\r")
        chat.wait_for("The rate was **0.015** before.")
        chat.wait_for(PROMPT)
        chat.type("\x04")
        assert chat.ended() == 0
    asked = [request for request in server.requests if not is_sceptic(request)][-1]
    assert "what was the rate?" in asked.last_words
    assert "and now?" in asked.last_words


def test_ctrl_c_during_the_diagnosis_gives_the_local_one(served: Serve, broken_run: Path) -> None:
    server = served(hang())
    more = {"ANTHROPIC_BASE_URL": server.url, "ANTHROPIC_API_KEY": "k"}
    with Terminal(broken_run, "--specialist", "training-monitor", **more) as chat:
        for _ in range(600):
            if server.requests:
                break
            time.sleep(0.1)
        chat.type("\x03")
        assert "interrupted" in chat.wait_for(PROMPT)
        chat.type("/quit\r")
        assert chat.ended() == 0
