"""Findings as JSON to a web address, from a thread of its own: a server that is gone never holds up the watch."""

from __future__ import annotations

import queue
import threading
import time
import urllib.parse
from collections.abc import Callable
from typing import Any

from traindx.errors import UsageError
from traindx.redaction import Redactor
from traindx.watch.finding import Finding

TRIES = 4
FIRST_PAUSE = 0.5
"""seconds before the second try; each further one waits twice as long"""
PATIENCE = 10.0
"""seconds for one answer"""
MOST_WAITING = 200
FAREWELL = 15.0
"""seconds at the end for what was not yet sent"""


class Webhook:
    """Posts each finding; secrets in quotes of the log are masked."""

    def __init__(self, url: str, complain: Callable[[str], None]) -> None:
        parts = urllib.parse.urlsplit(url)
        if parts.scheme not in {"http", "https"} or not parts.hostname:
            raise UsageError(f"`{url}` is no web address: it begins with http:// or https://")
        self._url, self._complain = url, complain
        self._where = f"{parts.scheme}://{parts.hostname}"
        """the address without its path: the path of a webhook is its secret"""
        self._waiting: queue.Queue[Finding | None] = queue.Queue(MOST_WAITING)
        self._closing = threading.Event()
        self._thread = threading.Thread(target=self._work, name="traindx-webhook", daemon=True)
        self._thread.start()

    def __call__(self, finding: Finding) -> None:
        """Send a finding soon; one that there is no room for is lost, and that is said."""
        try:
            self._waiting.put_nowait(finding)
        except queue.Full:
            self._complain(f"webhook {self._where}: too many findings wait; `{finding.id}` was not sent")

    def close(self) -> None:
        """Send what waits, as far as the server takes it in time."""
        self._closing.set()
        try:
            self._waiting.put_nowait(None)
        except queue.Full:
            return
        self._thread.join(FAREWELL)

    def _work(self) -> None:
        import httpx2

        with httpx2.Client(timeout=PATIENCE, follow_redirects=False) as client:
            while (finding := self._waiting.get()) is not None:
                trouble = self._sent(client, body(finding))
                if trouble:
                    self._complain(f"webhook {self._where}: {trouble}; `{finding.id}` was not sent")

    def _sent(self, client: Any, content: dict[str, Any]) -> str:
        """Send until it is taken; why it was not, or nothing."""
        import httpx2

        trouble = ""
        for attempt in range(TRIES):
            if attempt:
                time.sleep(FIRST_PAUSE * 2 ** (attempt - 1))
            try:
                status = client.post(self._url, json=content).status_code
            except (httpx2.HTTPError, httpx2.InvalidURL) as error:
                trouble = str(error) or type(error).__name__
                continue
            if status < 300:
                return ""
            trouble = f"it answered {status}"
            if status < 500 and status not in {408, 425, 429}:
                break
        return trouble


def body(finding: Finding) -> dict[str, Any]:
    """What is sent: the finding with its secrets masked, and as `text` what chat services show."""
    masked: dict[str, Any] = Redactor().clean_json(finding.model_dump(mode="json"))
    return {"text": Redactor().clean(finding.text()), "finding": masked}
