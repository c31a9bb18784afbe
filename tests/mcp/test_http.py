"""Over HTTP: on this machine only, behind a token, for browsers of other pages not at all."""

from __future__ import annotations

import asyncio
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest

from traindx.definitions.content import EXAMPLES

pytest.importorskip("mcp")
pytestmark = pytest.mark.slow

import httpx2  # noqa: E402 - only where the package is there
from mcp.client.client import Client  # noqa: E402
from mcp.client.streamable_http import streamable_http_client  # noqa: E402


@dataclass
class Served:
    """A server that listens."""

    address: str
    token: str
    process: subprocess.Popen[str]

    def post(self, **headers: str) -> httpx2.Response:
        usual = {"content-type": "application/json", "accept": "application/json, text/event-stream"}
        ping = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
        return httpx2.post(self.address, json=ping, headers={**usual, **headers}, timeout=20)


@pytest.fixture(scope="module")
def served() -> Iterator[Served]:
    clean = {name: value for name, value in os.environ.items() if name != "TRAINDX_MCP_TOKEN"}
    process = subprocess.Popen(
        [sys.executable, "-m", "traindx", "mcp", "--http"], cwd=EXAMPLES, env=clean, stderr=subprocess.PIPE, text=True
    )
    assert process.stderr is not None
    said = process.stderr.readline() + process.stderr.readline()
    address, token = re.search(r"(http://\S+?),", said), re.search(r"Bearer (\S+)", said)
    assert address, said
    assert token, said
    yield Served(address[1], token[1], process)
    process.terminate()
    assert process.wait(20) in {0, 143}
    process.stderr.close()


def test_it_listens_on_this_machine_only(served: Served) -> None:
    assert served.address.startswith("http://127.0.0.1:")


@pytest.mark.parametrize("given", ["", "Bearer", "Bearer wrong", "Basic dXNlcjpwYXNz"])
def test_without_the_token_there_is_no_answer(served: Served, given: str) -> None:
    refused = served.post(**({"authorization": given} if given else {}))
    assert refused.status_code == 401
    assert "token" in refused.text


def test_other_hosts_and_origins_are_refused(served: Served) -> None:
    token = {"authorization": f"Bearer {served.token}"}
    assert served.post(**token, host="evil.example").status_code == 421
    assert served.post(**token, origin="https://evil.example").status_code == 403


def test_the_tools_answer(served: Served) -> None:
    async def words() -> Any:
        headers = {"authorization": f"Bearer {served.token}"}
        async with (
            httpx2.AsyncClient(headers=headers, timeout=60) as http,
            Client(streamable_http_client(served.address, http_client=http)) as client,
        ):
            good = await client.call_tool("diagnose", {"run": "schedule-change"})
            bad = await client.call_tool("diagnose", {"run": "/etc"})
            return good, bad

    good, bad = asyncio.run(words())
    assert good.structured_content["root_causes"][0]["id"] == "lr-schedule-spike"
    assert "outside the workspace" in bad.content[0].text


def test_a_port_in_use_and_a_short_token_are_a_sentence(served: Served) -> None:
    port = served.address.split(":")[2].split("/")[0]
    for arguments, environment, words in (
        (["--http", port], {}, "cannot be used"),
        (["--http", "70000"], {}, "a port is a number"),
        (["--http"], {"TRAINDX_MCP_TOKEN": "short"}, "too short"),
        (["--root", "nowhere"], {}, "it is no folder"),
    ):
        done = subprocess.run(
            [sys.executable, "-m", "traindx", "mcp", *arguments],
            env={**os.environ, **environment}, capture_output=True, text=True, timeout=60, check=False,
        )  # fmt: skip
        assert done.returncode == 2
        assert words in done.stderr
        assert done.stderr.count("\n") == 1
