"""Serving over HTTP: on this machine only, and only to who knows the token."""

from __future__ import annotations

import hmac
import os
import secrets
import socket
from collections.abc import Callable
from typing import Any

from traindx.errors import UsageError
from traindx.mcp.server import MOST_BYTES, TraindxServer

HOST = "127.0.0.1"
PATH = "/mcp"
TOKEN_VARIABLE = "TRAINDX_MCP_TOKEN"  # noqa: S105 - the name of a variable
_LEAST_TOKEN = 16
_WAITING = 64


def serve_http(server: TraindxServer, port: int, tell: Callable[[str], None]) -> None:
    """Answer on `port` (0: a free one) until interrupted; `tell` gets the address and the token."""
    import uvicorn

    token = _token()
    app = _Guarded(server.mcp.streamable_http_app(streamable_http_path=PATH, max_request_body_size=MOST_BYTES), token)
    with _listening(port) as listener:
        port = listener.getsockname()[1]
        tell(f"serving http://{HOST}:{port}{PATH}, for this machine only")
        if TOKEN_VARIABLE not in os.environ:
            tell(f"header to send: Authorization: Bearer {token}")
        config = uvicorn.Config(app, log_level="error", lifespan="on", timeout_graceful_shutdown=2)
        uvicorn.Server(config).run(sockets=[listener])


def _token() -> str:
    given = os.environ.get(TOKEN_VARIABLE, "")
    if given and len(given) < _LEAST_TOKEN:
        raise UsageError(f"`{TOKEN_VARIABLE}` is too short to be a secret: give {_LEAST_TOKEN} characters or more")
    return given or secrets.token_urlsafe(32)


def _listening(port: int) -> socket.socket:
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((HOST, port))
        # Before the address is told: whoever reads it may call at once.
        listener.listen(_WAITING)
    except OSError as error:
        listener.close()
        raise UsageError(f"port {port} cannot be used: {(error.strerror or str(error)).lower()}") from None
    return listener


class _Guarded:
    """The application behind its token; the package checks host and origin."""

    def __init__(self, app: Any, token: str) -> None:
        self._app = app
        self._wanted = f"Bearer {token}".encode()

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Refuse a request without the token before anything of it is read."""
        if scope["type"] == "http":
            given = dict(scope["headers"]).get(b"authorization", b"")
            if not hmac.compare_digest(given, self._wanted):
                headers = [(b"www-authenticate", b"Bearer"), (b"content-type", b"text/plain")]
                await send({"type": "http.response.start", "status": 401, "headers": headers})
                await send({"type": "http.response.body", "body": b"the token is missing or wrong\n"})
                return
        await self._app(scope, receive, send)
