"""The Python API with a model: events as they happen, cancelling, follow-up questions, spans."""

import asyncio
import itertools
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.llm.kit import MESSAGE, Serve, answer, holds, is_sceptic, quick
from traindx import Event, TraindxError, open_session, stream
from traindx.testing import ScriptedMessagesServer, call, hang, say, status, submit

pytestmark = pytest.mark.slow

READ = {"path": "config.yaml", "start_line": 1, "max_lines": 200, "tail": False}


def choices(server: ScriptedMessagesServer) -> dict[str, Any]:
    server.script(holds(), when=is_sceptic, forever=True)
    return {"brain": "claude", "specialist": "training-monitor", "options": quick(server)}


def test_events_come_as_they_happen_and_end_with_the_diagnosis(served: Serve, broken_run: Path) -> None:
    server = served(say("I look at the config first.") + call("Read", READ), submit(answer()))

    async def heard() -> list[Event]:
        return [event async for event in stream(broken_run, MESSAGE, **choices(server))]

    events = asyncio.run(heard())
    kinds = [event.kind for event in events]
    assert {"stage", "tool_started", "tool_finished", "finding", "text", "done"} <= set(kinds)
    assert kinds.count("done") == 1
    assert events[-1].kind == "done"
    assert events[-1].diagnosis is not None
    assert events[-1].diagnosis.root_causes[0].id == "lr-schedule-spike"
    assert "".join(event.text for event in events if event.kind == "text") == "I look at the config first."


def test_words_arrive_before_the_turn_is_over(served: Serve, broken_run: Path) -> None:
    server = served(
        say("One two three four five six seven eight nine ten").paced(0.05) + call("Read", READ), submit(answer())
    )

    async def seen_early() -> bool:
        async for event in stream(broken_run, MESSAGE, **choices(server)):
            if event.kind == "text":
                return len(server.requests) == 1
        return False

    assert asyncio.run(seen_early())


def test_leaving_the_loop_ends_the_investigation(served: Serve, broken_run: Path) -> None:
    server = served(say("first") + call("Read", READ), hang(), forever=True)

    async def leave() -> None:
        events = stream(broken_run, MESSAGE, **choices(server))
        async for event in events:
            if event.kind == "text":
                break
        await events.aclose()

    asyncio.run(asyncio.wait_for(leave(), 20))


def test_the_local_brain_streams_too(broken_run: Path) -> None:
    async def last() -> Event:
        return [event async for event in stream(broken_run, MESSAGE, brain="local")][-1]

    event = asyncio.run(last())
    assert event.diagnosis is not None
    assert event.diagnosis.provenance.brain == "local"


def test_an_error_reaches_the_one_who_listens(tmp_path: Path) -> None:
    async def fails() -> None:
        async for _ in stream(tmp_path / "gone", MESSAGE):
            pass

    with pytest.raises(TraindxError):
        asyncio.run(fails())


def test_a_finished_investigation_answers_questions(served: Serve, broken_run: Path) -> None:
    server = served(
        call("Read", READ),
        submit(answer()),
        call("Read", path="train.log", start_line=9, max_lines=2, tail=False),
        say("At epoch 6 the rate was 0.015."),
        say("Then it was 0.4."),
    )

    async def session() -> tuple[str, str]:
        async with open_session(broken_run, **choices(server)) as session:
            await session.diagnose(MESSAGE)
            return await session.ask("What was the rate before?"), await session.ask("And then?")

    assert asyncio.run(session()) == ("At epoch 6 the rate was 0.015.", "Then it was 0.4.")
    asked = [request for request in server.requests if not is_sceptic(request)]
    assert "What was the rate before?" in asked[2].last_words
    assert "lr: 0.4" in next(iter(asked[2].results().values()))
    assert "epoch  7/12" in asked[3].last_words
    roles = [message["role"] for message in asked[-1].messages]
    assert all(one != other for one, other in itertools.pairwise(roles))


def test_a_question_that_the_model_does_not_answer_is_one_sentence(served: Serve, broken_run: Path) -> None:
    server = served(submit(answer()), status(401))

    async def session() -> None:
        async with open_session(broken_run, **choices(server)) as session:
            await session.diagnose(MESSAGE)
            await session.ask("why?")

    with pytest.raises(TraindxError, match="the key was refused"):
        asyncio.run(session())


def test_there_is_nobody_to_ask_without_a_model(broken_run: Path) -> None:
    async def session() -> None:
        async with open_session(broken_run, brain="local") as session:
            await session.diagnose(MESSAGE)
            await session.ask("why?")

    with pytest.raises(TraindxError, match="diagnose with a model first"):
        asyncio.run(session())


def test_spans_are_made_where_a_tracer_is_registered(served: Serve, broken_run: Path, tmp_path: Path) -> None:
    """In a process of its own: a tracer provider is registered once and for all."""
    server = served(call("Read", READ), submit(answer()))
    server.script(holds(), when=is_sceptic, forever=True)
    script = f"""
import contextlib
from opentelemetry import trace

names = []

class Tracer(trace.Tracer):
    def start_span(self, name, *args, **kwargs):
        names.append(name)
        return trace.INVALID_SPAN

    @contextlib.contextmanager
    def start_as_current_span(self, name, *args, **kwargs):
        names.append(name)
        yield trace.INVALID_SPAN

class Provider(trace.TracerProvider):
    def get_tracer(self, *args, **kwargs):
        return Tracer()

trace.set_tracer_provider(Provider())
from traindx import diagnose
diagnose({str(broken_run)!r}, {MESSAGE!r}, brain="claude", specialist="training-monitor")
print("\\n".join(names))
"""
    kept = {key: value for key, value in os.environ.items() if not key.startswith(("ANTHROPIC", "PYTHON", "OTEL"))}
    done = subprocess.run(
        [sys.executable, "-c", script],
        env={**kept, "ANTHROPIC_BASE_URL": server.url, "ANTHROPIC_API_KEY": "k", "XDG_CACHE_HOME": str(tmp_path)},
        capture_output=True, text=True, check=False, cwd="/",
    )  # fmt: skip
    names = done.stdout.splitlines()
    assert "invoke_agent training-monitor" in names, done.stderr
    assert "execute_tool training-monitor" in names
    assert sum(name.startswith(("anthropic.messages", "chat claude")) for name in names) >= 1
