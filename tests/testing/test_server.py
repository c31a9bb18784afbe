"""The scripted server speaks the Messages protocol to the real SDK, and misbehaves as told."""

import asyncio
import json
import urllib.error
import urllib.request
from collections.abc import Iterator
from typing import Any

import anthropic
import pytest

from traindx.testing import (
    Received,
    ScriptedMessagesServer,
    Turn,
    call,
    cut,
    garbage,
    raw_call,
    refuse,
    reset,
    say,
    sent_by,
    status,
    stopped,
    submit,
    think,
    unreachable_url,
)

ASK: dict[str, Any] = {"model": "claude-sonnet-5-5", "max_tokens": 100, "messages": [{"role": "user", "content": "hi"}]}


OPEN: list[anthropic.Anthropic] = []


def client(server: ScriptedMessagesServer, **more: Any) -> anthropic.Anthropic:
    OPEN.append(anthropic.Anthropic(**{"api_key": "k", "base_url": server.url, "max_retries": 0, **more}))
    return OPEN[-1]


@pytest.fixture(autouse=True)
def closed() -> Iterator[None]:
    """Every client that a test opens is closed after it."""
    yield
    while OPEN:
        OPEN.pop().close()


def test_words_thoughts_and_calls_arrive_in_one_message() -> None:
    with ScriptedMessagesServer(
        think("hm") + say("hello") + call("Read", path="x") + call("Grep", pattern="y")
    ) as server:
        message = client(server).messages.create(**ASK)
    assert [block.type for block in message.content] == ["thinking", "text", "tool_use", "tool_use"]
    assert message.stop_reason == "tool_use"
    assert message.content[2].input == {"path": "x"}


def test_a_stream_gives_the_same_message_piece_by_piece() -> None:
    long = "a long text that takes more than one piece, and then some"
    with (
        ScriptedMessagesServer(say(long) + submit({"status": "healthy"})) as server,
        client(server).messages.stream(**ASK) as events,
    ):
        pieces = list(events.text_stream)
        message = events.get_final_message()
    assert len(pieces) > 1
    assert "".join(pieces) == long
    assert getattr(message.content[1], "input", None) == {"status": "healthy"}
    assert message.usage.output_tokens > 0


def test_a_turn_may_depend_on_the_request() -> None:
    def echo(request: Received) -> Turn:
        return say(request.last_words.upper())

    with ScriptedMessagesServer(echo) as server:
        assert client(server).messages.create(**ASK).content[0].text == "HI"


def test_scripts_are_chosen_by_what_the_request_says() -> None:
    with ScriptedMessagesServer(say("anyone")) as server:
        server.script(say("one"), when=sent_by("specialist one")).script(say("two"), when=sent_by("specialist two"))

        def speak(system: str) -> str:
            return str(client(server).messages.create(**ASK, system=system).content[0].text)

        assert [speak("I am specialist two"), speak("I am specialist one"), speak("nobody")] == ["two", "one", "anyone"]


def test_an_exhausted_script_says_so() -> None:
    with ScriptedMessagesServer(say("once")) as server:
        client(server).messages.create(**ASK)
        with pytest.raises(anthropic.BadRequestError, match="no script has a turn left"):
            client(server).messages.create(**ASK)
        assert server.unscripted == 1


def test_forever_repeats_the_last_turn() -> None:
    with ScriptedMessagesServer(say("a"), say("b"), forever=True) as server:
        said = [client(server).messages.create(**ASK).content[0].text for _ in range(4)]
    assert said == ["a", "b", "b", "b"]


@pytest.mark.parametrize(
    ("turn", "error"),
    [
        (status(401), anthropic.AuthenticationError),
        (status(429, retry_after=3), anthropic.RateLimitError),
        (status(500), anthropic.InternalServerError),
        (status(529), anthropic.InternalServerError),
        (reset(), anthropic.APIConnectionError),
    ],
)
def test_faults_are_what_the_sdk_makes_of_them(turn: Turn, error: type[Exception]) -> None:
    with ScriptedMessagesServer(turn) as server, pytest.raises(error) as caught:
        client(server).messages.create(**ASK)
    if isinstance(caught.value, anthropic.RateLimitError):
        assert caught.value.response.headers["retry-after"] == "3"


@pytest.mark.parametrize("turn", [cut(say("x" * 200), 4), garbage(), garbage("<html>", "text/html")])
def test_a_broken_stream_is_an_error_or_no_message(turn: Turn) -> None:
    with (
        ScriptedMessagesServer(turn) as server,
        pytest.raises(Exception),  # noqa: B017, PT011 - which one depends on where it breaks
        client(server).messages.stream(**ASK) as events,
    ):
        events.get_final_message()


def test_refusals_and_stop_reasons() -> None:
    with ScriptedMessagesServer(refuse("cyber"), stopped("max_tokens", say("…"))) as server:
        refused = client(server).messages.create(**ASK)
        assert (refused.stop_reason, refused.stop_details.category) == ("refusal", "cyber")
        assert client(server).messages.create(**ASK).stop_reason == "max_tokens"


def test_both_kinds_of_credentials_are_taken_and_none_is_refused() -> None:
    with ScriptedMessagesServer(say("a"), forever=True) as server:
        client(server, api_key="key-1").messages.create(**ASK)
        client(server, api_key=None, auth_token="token-2").messages.create(**ASK)  # noqa: S106
        asked = urllib.request.Request(  # noqa: S310
            f"{server.url}/v1/messages",
            json.dumps(ASK).encode(),
            {"x-api-key": "key-3", "content-type": "application/json"},
        )
        with urllib.request.urlopen(asked) as answered:  # noqa: S310
            assert json.load(answered)["role"] == "assistant"
        assert [request.key for request in server.requests] == ["key-1", "token-2", "key-3"]
        bare = urllib.request.Request(f"{server.url}/v1/messages", json.dumps(ASK).encode())  # noqa: S310
        with pytest.raises(urllib.error.HTTPError) as refused:
            urllib.request.urlopen(bare)  # noqa: S310
        assert refused.value.code == 401
        refused.value.close()


def test_tokens_are_counted_and_the_cache_is_imitated() -> None:
    system: Any = [{"type": "text", "text": "rules " * 400, "cache_control": {"type": "ephemeral"}}]
    with ScriptedMessagesServer(say("a"), say("b")) as server:
        first = client(server).messages.create(**ASK, system=system).usage
        second = client(server).messages.create(**ASK, system=system).usage
        assert (first.cache_read_input_tokens, second.cache_creation_input_tokens) == (0, 0)
        assert second.cache_read_input_tokens == first.cache_creation_input_tokens
        assert (second.cache_read_input_tokens or 0) > 500
        counted = client(server).messages.count_tokens(model=ASK["model"], messages=ASK["messages"])
        assert counted.input_tokens > 0


def test_several_are_served_at_once() -> None:
    async def three() -> float:
        loop = asyncio.get_running_loop()
        async with anthropic.AsyncAnthropic(api_key="k", base_url=server.url) as speaker:
            began = loop.time()
            await asyncio.gather(*(speaker.messages.create(**ASK) for _ in range(3)))
            return loop.time() - began

    with ScriptedMessagesServer(say("a").after(0.3), forever=True) as server:
        assert asyncio.run(three()) < 0.8


def test_input_that_is_no_json_goes_out_as_written() -> None:
    with ScriptedMessagesServer(raw_call("Read", '{"path": ')) as server:
        asked = urllib.request.Request(  # noqa: S310
            f"{server.url}/v1/messages", json.dumps({**ASK, "stream": True}).encode(), {"x-api-key": "k"}
        )
        with urllib.request.urlopen(asked) as answered:  # noqa: S310
            text = answered.read().decode()
    assert '"partial_json": "{\\"path\\": "' in text
    assert "event: message_stop" in text


def test_nobody_listens_at_an_unreachable_address() -> None:
    with (
        anthropic.Anthropic(api_key="k", base_url=unreachable_url(), max_retries=0) as speaker,
        pytest.raises(anthropic.APIConnectionError),
    ):
        speaker.messages.create(**ASK)


def test_the_kit_needs_nothing_but_the_standard_library() -> None:
    import subprocess
    import sys

    script = (
        "import sys; import traindx.testing\n"
        "assert not {'pydantic', 'anthropic', 'numpy'} & set(sys.modules), sorted(sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", script], check=False, cwd="/").returncode == 0
