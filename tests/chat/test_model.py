"""With a model: follow-ups stream, costs add up, faults fall back, and a chat can be taken up again."""

import asyncio
from pathlib import Path

import pytest

from tests.chat.kit import spoken
from tests.llm.kit import Serve, answer, holds, is_sceptic, quick
from traindx import Event, open_session
from traindx.testing import ScriptedMessagesServer, Turn, call, cut, garbage, refuse, reset, say, status, submit, think

pytestmark = pytest.mark.slow

LOOK = {"path": "config.yaml", "start_line": 1, "max_lines": 20, "tail": False}
SECRET = "ghp_" + "k7Qz" * 9


def chatted(server: ScriptedMessagesServer, lines: list[str], *arguments: object) -> str:
    server.script(holds(), when=is_sceptic, forever=True)
    more = {"ANTHROPIC_BASE_URL": server.url, "ANTHROPIC_API_KEY": "k"}
    done = spoken(lines, *arguments, "--specialist", "training-monitor", env=more)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def asked(server: ScriptedMessagesServer) -> list[str]:
    return [request.last_words for request in server.requests if not is_sceptic(request)]


def test_follow_ups_are_the_models_with_the_evidence_at_hand(served: Serve, broken_run: Path) -> None:
    server = served(
        call("Read", LOOK),
        submit(answer()),
        think("Hm, the rate.") + say("I look.") + call("Read", path="train.log", start_line=9, max_lines=2, tail=False),
        say("At epoch 6 it was 0.015.\n\n- then 0.4"),
        say("Yes."),
    )
    said = chatted(server, ["What was the rate before?", "Is that sure?", "/evidence 1", "thanks", "/cost"], broken_run)
    assert "I look.\nAt epoch 6 it was 0.015.\n\n- then 0.4\n\ntraindx> Is that sure?\nYes.\n" in said
    assert "Hm, the rate." not in said
    assert "> 17      lr: 0.4" in said
    assert "What was the rate before?" in asked(server)[2]
    assert "epoch  7/12" in asked(server)[3]
    assert len(asked(server)) == 5
    assert "of $1 left" in said


def test_costs_add_up_over_the_chat(served: Serve, broken_run: Path) -> None:
    server = served(submit(answer()), say("a"), say("b"))
    said = chatted(server, ["/cost", "one?", "two?", "/cost"], broken_run)
    spent = [line for line in said.splitlines() if "tokens, $" in line]
    first, last = (int(line.split(" tokens")[0].replace(",", "")) for line in spent)
    assert 0 < first < last


@pytest.mark.parametrize(
    ("fault", "reason"),
    [
        (status(401), "the key was refused"),
        (refuse("cyber"), "refused to answer"),
        (Turn(), "its answer was empty"),
    ],
)
def test_a_fault_falls_back_to_the_local_answer(served: Serve, broken_run: Path, fault: Turn, reason: str) -> None:
    server = served(submit(answer()), fault, say("I am back."))
    said = chatted(server, ["how do I fix it?", "are you there?"], broken_run)
    lead = next(line for line in said.splitlines() if line.startswith("(The model did not answer"))
    assert reason in " ".join(said.split(lead)[0].split() + (lead + said.split(lead)[1]).split())
    assert "+    lr: 0.015" in said
    assert "I am back." in said


@pytest.mark.parametrize("fault", [status(529), reset(), garbage(), cut(say("The rate was " * 5), 4)])
def test_a_fault_that_stays_falls_back_too(served: Serve, broken_run: Path, fault: Turn) -> None:
    server = served(submit(answer()), fault, fault, fault)
    said = chatted(server, ["when did it start?"], broken_run)
    assert "The model did not answer" in said
    assert "At epoch 7; the last good point is epoch 6." in said


def test_a_spent_budget_is_said_and_the_chat_goes_on(served: Serve, broken_run: Path) -> None:
    server = served(submit(answer()), say("never sent"))
    said = chatted(server, ["why?"], broken_run, "--max-usd", "0.01")
    assert "the budget is spent" in " ".join(said.split())
    assert "narrow valley" in said


def test_a_model_that_cannot_be_had_leaves_a_local_chat(broken_run: Path) -> None:
    done = spoken(["why?"], broken_run, "--brain", "claude", "--specialist", "training-monitor")
    assert done.returncode == 0
    assert "no key" in " ".join(done.stdout.split())
    assert "narrow valley" in done.stdout


def test_another_specialist_is_asked_from_then_on(served: Serve, broken_run: Path) -> None:
    server = served(submit(answer()), submit(answer(specialist="ml-debugger")), say("As the debugger I say so."))
    said = chatted(server, ["/specialist ml-debugger", "really so?"], broken_run)
    assert "As the debugger I say so." in said
    assert "really so?" in asked(server)[2]


def test_a_resumed_chat_knows_what_was_said(served: Serve, copied_run: Path) -> None:
    first = served(submit(answer()), say("It was 0.015, I am quite sure."))
    chatted(first, ["what was the rate?"], copied_run)
    second = served(say("As I said: 0.015."))
    said = chatted(second, ["why is that?", "/cost"], copied_run, "--resume")
    assert "Resumed: 1 question so far" in said
    assert "As I said: 0.015." in said
    [request] = second.requests
    assert "It was 0.015, I am quite sure." in request.text
    assert "lr-schedule-spike" in request.text
    assert "why is that?" in request.last_words


def test_a_transcript_can_be_continued_as_a_chat(served: Serve, copied_run: Path, tmp_path: Path) -> None:
    case = tmp_path / "case.jsonl"
    server = served(submit(answer()))
    chatted(server, [], copied_run, "--save-case", case)
    done = spoken(["how do I fix it?"], copied_run, "--resume", case)
    assert "Resumed: 0 questions" in done.stdout
    assert "+    lr: 0.015" in done.stdout


def test_secrets_in_questions_do_not_leave(served: Serve, broken_run: Path) -> None:
    server = served(submit(answer()), say("I see no token."))
    chatted(server, [f"does the token {SECRET} matter?"], broken_run)
    assert not any(SECRET in request.text for request in server.requests)
    assert "[masked:" in asked(server)[1]


def test_a_question_after_an_interrupted_tool_is_a_valid_request(served: Serve, broken_run: Path) -> None:
    server = served(submit(answer()), call("Read", LOOK), say("Here I am."))
    server.script(holds(), when=is_sceptic, forever=True)
    tasks: list[asyncio.Task[str]] = []

    def hear(event: Event) -> None:
        if event.kind == "tool_started" and tasks:
            tasks[0].cancel()

    async def session() -> str:
        options = quick(server)
        chosen = open_session(broken_run, brain="claude", specialist="training-monitor", options=options, listener=hear)
        async with chosen as session:
            await session.diagnose()
            tasks.append(asyncio.create_task(session.ask("first?")))
            with pytest.raises(asyncio.CancelledError):
                await tasks[0]
            tasks.clear()
            return await session.ask("second?")

    assert asyncio.run(session()) == "Here I am."
    last = [request for request in server.requests if not is_sceptic(request)][-1]
    blocks = [block for message in last.messages for block in message["content"]]
    called = {block["id"] for block in blocks if block["type"] == "tool_use"}
    assert called == {block["tool_use_id"] for block in blocks if block["type"] == "tool_result"}
    assert "not run: interrupted" in str(last.messages)
