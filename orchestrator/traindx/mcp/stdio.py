"""Serving over standard input and output: one client, gone when its end of the pipe is closed."""

from __future__ import annotations

import asyncio
import concurrent.futures
import contextlib
import itertools
import json
import os
import sys
import threading
from collections.abc import AsyncIterator, Iterator
from typing import Any, cast

import anyio
import mcp_types as types
from mcp.server.stdio import stdio_server
from mcp.shared.message import SessionMessage

from traindx.mcp.server import MOST_BYTES, TraindxServer

_NO_MESSAGE = b"no message"
_AHEAD = 16
"""lines that are read before they are asked for"""


async def serve_stdio(server: TraindxServer) -> None:
    """Answer until the client closes its end."""
    lines = cast("anyio.AsyncFile[str]", _Lines(sys.stdin.fileno()))
    async with stdio_server(stdin=lines) as (incoming, outgoing):
        passed_on, taken = anyio.create_memory_object_stream[SessionMessage | Exception](0)

        async def relay() -> None:
            async with passed_on:
                async for item in incoming:
                    if isinstance(item, Exception):
                        # The package drops what is no message; whoever sent it waits for an answer.
                        await outgoing.send(SessionMessage(_parse_error()))
                    else:
                        await passed_on.send(item)

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(relay)
            await server.mcp.run(cast("Any", taken), outgoing, server.mcp.create_initialization_options())
            tasks.cancel_scope.cancel()


def _parse_error() -> types.JSONRPCError:
    said = (
        f"this is no JSON-RPC message, or one of more than {MOST_BYTES // 1024**2} MB; one message stands on one line"
    )
    return types.JSONRPCError(jsonrpc="2.0", id=None, error=types.ErrorData(code=types.PARSE_ERROR, message=said))


class _Lines:
    """Lines of a file descriptor, none held that is longer than a message may be.

    They are read by a daemon thread: one of `anyio` that waits for input would keep the process from ending.
    """

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor

    async def __aiter__(self) -> AsyncIterator[str]:
        loop, lines = asyncio.get_running_loop(), asyncio.Queue[bytes | None](_AHEAD)

        def read() -> None:
            # The loop may be closed by the time a line arrives: nobody is left to be told.
            with contextlib.suppress(RuntimeError, concurrent.futures.CancelledError):
                for line in itertools.chain(_lines_of(self._descriptor), (None,)):
                    asyncio.run_coroutine_threadsafe(lines.put(line), loop).result()

        threading.Thread(target=read, name="stdin", daemon=True).start()
        while (line := await lines.get()) is not None:
            if line.strip():
                yield _checked(line).decode("utf-8", "replace")


def _checked(line: bytes) -> bytes:
    """The line, or none where it asks under a name that no answer can bear: the package would take it for a notice."""
    try:
        message = json.loads(line)
    except (ValueError, RecursionError):
        return line
    number = message.get("id") if isinstance(message, dict) else None
    return line if number is None or type(number) in {str, int} else _NO_MESSAGE


def _lines_of(descriptor: int) -> Iterator[bytes]:
    held, too_long = b"", False
    while piece := _read(descriptor):
        *whole, held = (held + piece).split(b"\n")
        for line in whole:
            yield _NO_MESSAGE if too_long or len(line) > MOST_BYTES else line
            too_long = False
        if len(held) > MOST_BYTES:
            held, too_long = b"", True
    if held:
        yield held


def _read(descriptor: int) -> bytes:
    try:
        return os.read(descriptor, 1024 * 1024)
    except OSError:
        return b""
