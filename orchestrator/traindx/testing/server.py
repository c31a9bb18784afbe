"""The server: a thread per request on a loopback port, answering from scripts."""

from __future__ import annotations

import hashlib
import json
import socket
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from traindx.testing.received import Received, segments
from traindx.testing.turns import Turn, error_body, status
from traindx.testing.wire import encoded, events, message

Step = Turn | Callable[[Received], Turn]
CHARACTERS_PER_TOKEN = 4


def anyone(request: Received) -> bool:
    """Every request."""
    return bool(request)


@dataclass
class Script:
    """The turns for the requests that `when` picks; with `forever` the last one is repeated."""

    turns: list[Step]
    when: Callable[[Received], bool] = anyone
    forever: bool = False
    served: int = 0

    def next(self) -> Step | None:
        """The turn that is due, if there is one."""
        if self.served < len(self.turns):
            return self.turns[self.served]
        return self.turns[-1] if self.forever and self.turns else None


class ScriptedMessagesServer:
    """A Messages API of one's own: `with ScriptedMessagesServer(say("hello")) as server: …`.

    `server.url` goes where `ANTHROPIC_BASE_URL` would. Requests are answered with the first script whose condition
    fits and that has a turn left; without one the answer is a 400 that says so. `server.requests` holds what came
    in. Usage is counted at four characters a token, and the prompt cache is imitated: what an earlier request
    marked with `cache_control` and this one repeats is reported as `cache_read_input_tokens`.
    """

    def __init__(self, *turns: Step, forever: bool = False) -> None:
        self.requests: list[Received] = []
        self.counted: list[Received] = []
        self.unscripted = 0
        self._scripts: list[Script] = []
        self._fallback = Script(list(turns), forever=forever)
        self._lock = threading.Lock()
        self._cached: set[str] = set()
        self._closing = threading.Event()
        self._http = _Listener(("127.0.0.1", 0), _Conversation)
        self._http.owner = self
        self._thread = threading.Thread(target=self._http.serve_forever, args=(0.02,), daemon=True)

    def __enter__(self) -> ScriptedMessagesServer:
        self._thread.start()
        return self

    def __exit__(self, *trouble: object) -> None:
        self.close()

    @property
    def url(self) -> str:
        """Where it listens."""
        return f"http://127.0.0.1:{self._http.server_address[1]}"

    def script(
        self, *turns: Step, when: Callable[[Received], bool] = anyone, forever: bool = False
    ) -> ScriptedMessagesServer:
        """Add a script; the ones added first are asked first, the constructor's turns last."""
        self._scripts.append(Script(list(turns), when, forever))
        return self

    def close(self) -> None:
        """Stop listening and let everything that hangs go."""
        if not self._closing.is_set():
            self._closing.set()
            if self._thread.is_alive():
                self._http.shutdown()
                self._thread.join()
            self._http.server_close()

    def due(self, request: Received) -> Turn:
        """Record a request and choose its answer."""
        with self._lock:
            self.requests.append(request)
            for script in (*self._scripts, self._fallback):
                step = script.next() if script.when(request) else None
                if step is not None:
                    script.served += 1
                    break
            else:
                self.unscripted += 1
                return status(400, "no script has a turn left for this request")
        return step(request) if callable(step) else step

    def usage(self, body: Mapping[str, Any], turn: Turn) -> dict[str, int]:
        """What the request and its answer cost in tokens, with the prompt cache imitated."""
        parts = segments(body)
        digest = hashlib.sha256()
        read = written = total = 0
        marks: list[str] = []
        with self._lock:
            for text, is_breakpoint in parts:
                digest.update(text.encode("utf-8", "surrogatepass"))
                total += len(text)
                mark = digest.hexdigest()
                if mark in self._cached:
                    read = total
                if is_breakpoint:
                    written = total
                    marks.append(mark)
            self._cached.update(marks)
        answer = turn.output_tokens or len(json.dumps(turn.blocks)) // CHARACTERS_PER_TOKEN + 1
        return {
            "input_tokens": (total - max(read, written)) // CHARACTERS_PER_TOKEN,
            "cache_read_input_tokens": read // CHARACTERS_PER_TOKEN,
            "cache_creation_input_tokens": max(0, written - read) // CHARACTERS_PER_TOKEN,
            "output_tokens": answer,
        }

    def wait(self, seconds: float) -> None:
        """Let time pass, but no longer than the server lives."""
        if seconds > 0:
            self._closing.wait(seconds)


def unreachable_url() -> str:
    """An address where nobody listens."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return f"http://127.0.0.1:{probe.getsockname()[1]}"


class _Listener(ThreadingHTTPServer):
    daemon_threads = True
    owner: ScriptedMessagesServer

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that hung up is part of the script."""


class _Conversation(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    wbufsize = 65536
    server: _Listener

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the name in the standard library
        """Quiet."""

    def do_POST(self) -> None:
        """Answer one request."""
        owner = self.server.owner
        text = self.rfile.read(int(self.headers.get("content-length", 0)))
        try:
            body = json.loads(text)
        except ValueError:
            self._send(400, b'{"type":"error","error":{"type":"invalid_request_error","message":"not JSON"}}')
            return
        headers = {name.lower(): value for name, value in self.headers.items()}
        request = Received(self.path, headers, body, time.monotonic())
        if self.path.startswith("/v1/messages/count_tokens"):
            owner.counted.append(request)
            usage = owner.usage({**body, "cache_control": None}, Turn())
            self._send(200, json.dumps({"input_tokens": sum(usage.values()) - usage["output_tokens"]}).encode())
        elif not self.path.startswith("/v1/messages"):
            self._send(404, error_body_for(404, f"no such path: {self.path}"))
        elif not request.key:
            self._send(401, error_body_for(401, "no key was sent"))
        else:
            self._answer(owner, request, owner.due(request))

    def _answer(self, owner: ScriptedMessagesServer, request: Received, turn: Turn) -> None:
        owner.wait(turn.delay)
        fault = turn.fault
        if fault is not None and fault.kind == "status":
            extra = {} if fault.retry_after is None else {"retry-after": f"{fault.retry_after:g}"}
            self._send(fault.code, error_body(fault), **extra)
        elif fault is not None and fault.kind in {"hang", "reset"}:
            owner.wait(fault.seconds)
            self._hang_up()
        elif fault is not None and fault.kind == "garbage":
            self._send(200, fault.body.encode(), content_type=str(turn.extra["content_type"]))
        else:
            number = len(owner.requests)
            usage = owner.usage(request.body, turn)
            if request.body.get("stream"):
                self._stream(owner, turn, [encoded(row) for row in events(turn, number, request.model, usage)])
            else:
                self._send(200, json.dumps(message(turn, number, request.model, usage)).encode())

    def _stream(self, owner: ScriptedMessagesServer, turn: Turn, rows: list[bytes]) -> None:
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("transfer-encoding", "chunked")
        self.end_headers()
        is_cut = turn.fault is not None and turn.fault.kind == "cut"
        for row in rows[: turn.fault.after] if is_cut and turn.fault else rows:
            if turn.pace:
                self.wfile.flush()
                owner.wait(turn.pace)
            self.wfile.write(b"%x\r\n%s\r\n" % (len(row), row))
        if is_cut:
            self._hang_up()
        else:
            self.wfile.write(b"0\r\n\r\n")
            self.wfile.flush()

    def _send(self, code: int, body: bytes, content_type: str = "application/json", **headers: str) -> None:
        self.send_response(code)
        self.send_header("content-type", content_type)
        self.send_header("content-length", str(len(body)))
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)
        self.wfile.flush()

    def _hang_up(self) -> None:
        self.wfile.flush()
        self.close_connection = True
        self.connection.shutdown(socket.SHUT_RDWR)


def error_body_for(code: int, said: str) -> bytes:
    """The service's error body for a status."""
    fault = status(code, said).fault
    assert fault is not None  # noqa: S101 - `status` always makes one
    return error_body(fault)
