"""Where findings go besides the screen: a real web server, the real trackers without a network."""

import http.server
import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from traindx.contract import Evidence
from traindx.errors import UsageError
from traindx.watch import Finding
from traindx.watch.webhook import TRIES, Webhook

pytestmark = pytest.mark.slow

KEY = "sk-ant-api03-" + "a1B2" * 20
FINDING = Finding(
    kind="found",
    id="non-finite-loss",
    issue=f"The loss is NaN; key {KEY}",
    severity="critical",
    confidence=0.95,
    evidence=[Evidence(claim="x", kind="direct", source="a.log", locator="line 3", quote=KEY, verified=True)],
    path="run",
    time="12:00:00",
)


class Receiver(http.server.ThreadingHTTPServer):
    """Keeps what is posted; answers as it was told, and 200 from then on."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.answers: list[int] = []
        self.posted: list[dict[str, Any]] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/hooks/secret"


class Handler(http.server.BaseHTTPRequestHandler):
    server: Receiver

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["content-length"]))
        self.server.posted.append(json.loads(body))
        self.send_response(self.server.answers.pop(0) if self.server.answers else 200)
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the name of the one it replaces
        pass


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with Receiver() as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield server
        server.shutdown()
        thread.join()


def sent(url: str) -> list[str]:
    """What is complained about while one finding is sent."""
    complaints: list[str] = []
    webhook = Webhook(url, complaints.append)
    webhook(FINDING)
    webhook.close()
    return complaints


def test_a_finding_is_posted_as_json_with_its_secrets_masked(receiver: Receiver) -> None:
    assert sent(receiver.url) == []
    (posted,) = receiver.posted
    assert posted["finding"]["id"] == "non-finite-loss"
    assert posted["text"].startswith("12:00:00 found  non-finite-loss  [critical")
    assert KEY not in json.dumps(posted)
    assert posted["finding"]["evidence"][0]["quote"] == "[masked:anthropic-key]"


def test_a_server_that_fails_is_asked_again(receiver: Receiver) -> None:
    receiver.answers = [503, 500]
    assert sent(receiver.url) == []
    assert len(receiver.posted) == 3


def test_a_server_that_refuses_is_not_and_that_is_said_without_the_secret_path(receiver: Receiver) -> None:
    receiver.answers = [403]
    (complaint,) = sent(receiver.url)
    assert complaint == "webhook http://127.0.0.1: it answered 403; `non-finite-loss` was not sent"
    assert len(receiver.posted) == 1


def test_a_server_that_goes_on_failing_is_given_up(receiver: Receiver) -> None:
    receiver.answers = [500] * 9
    (complaint,) = sent(receiver.url)
    assert "it answered 500" in complaint
    assert len(receiver.posted) == TRIES


def test_nobody_at_the_address_is_said_and_costs_the_watch_nothing() -> None:
    webhook = Webhook("http://127.0.0.1:9/", lambda _: None)
    for _ in range(500):
        webhook(FINDING)
    assert webhook._thread.daemon, "a server that hangs does not keep the process"


def test_a_redirect_is_not_followed(receiver: Receiver) -> None:
    receiver.answers = [302]
    (complaint,) = sent(receiver.url)
    assert "302" in complaint


def test_what_is_no_address_is_refused() -> None:
    for url in ("", "hooks.example.com/x", "file:///etc/passwd", "http://"):
        with pytest.raises(UsageError):
            Webhook(url, lambda _: None)


RAISE = """
import sys
from tests.watch.test_outputs import FINDING
from traindx.watch.trackers import Alerts
alerts = Alerts(sys.argv[1], "watched", sys.exit)
alerts(FINDING)
alerts.close()
"""


@pytest.mark.parametrize("tracker", ["wandb", "trackio"])
def test_an_alert_is_raised_in_the_real_tracker(tracker: str, tmp_path: Path) -> None:
    pytest.importorskip(tracker)
    offline = {
        "WANDB_MODE": "offline",
        "WANDB_DIR": str(tmp_path),
        "TRACKIO_DIR": str(tmp_path),
        "WANDB_SILENT": "true",
    }
    done = subprocess.run(
        [sys.executable, "-c", RAISE, tracker], cwd=Path(__file__).parents[2], env={**os.environ, **offline},
        capture_output=True, timeout=120, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (0, b""), done.stderr
    written = b"".join(path.read_bytes() for path in tmp_path.rglob("*") if path.suffix in {".wandb", ".db", ".db-wal"})
    assert b"non-finite-loss found" in written
    assert KEY.encode() not in written
