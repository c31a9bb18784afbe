"""Secrets in artifacts never leave the machine, over real HTTP; and `--what-leaves` shows what would."""

import importlib.util
import json
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from tests.llm.kit import MESSAGE, Serve, answer, holds, is_sceptic, piece, quick
from traindx import diagnose
from traindx.cli import main
from traindx.testing import Received, Turn, call, submit

pytestmark = pytest.mark.slow


def _tables() -> ModuleType:
    path = Path(__file__).parents[1] / "redaction" / "test_redactor.py"
    spec = importlib.util.spec_from_file_location("redaction_tables", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


TABLES = _tables()


@pytest.fixture
def leaky(tmp_path: Path, broken_run: Path) -> Path:
    """The broken example with every kind of secret, and every look-alike, in its log, its code and its config."""
    run = tmp_path / "run"
    run.mkdir()
    for path in broken_run.iterdir():
        (run / path.name).write_text(path.read_text())
    secrets = [text.replace("{}", secret) for _, text, secret in TABLES.SECRETS]
    (run / "env.log").write_text("\n".join([*secrets, *TABLES.LOOK_ALIKES]) + "\n")
    (run / "setup.py").write_text("".join(f"# {row}\n" for row in "\n".join(secrets).splitlines()))
    (run / "secrets.yaml").write_text("db:\n  password: hunter2hunter2\n  url: postgresql://u:pw-of-the-db@h/x\n")
    with (run / "train.log").open("a") as file:
        file.write('Traceback (most recent call last):\n  File "train.py", line 9, in <module>\n')
        file.write("RuntimeError: no answer from postgresql://u:pw-of-the-db@h/x\n")
    return run


def everything(request: Received) -> Turn:
    """Reads all there is to read, by every way there is."""
    if len(request.messages) > 1:
        return submit(answer())
    turn = Turn()
    for name in ("env.log", "setup.py", "secrets.yaml", "train.log"):
        turn += call("Read", path=name, start_line=1, max_lines=2000, tail=False)
    grep: dict[str, Any] = {
        "path": ".",
        "glob": "**/*",
        "ignore_case": True,
        "context": 3,
        "max_matches": 1000,
        "max_seconds": 5.0,
    }
    return (
        turn
        + call("Grep", pattern="key|token|password|secret|-----BEGIN", **grep)
        + call("explain_error", max_errors=200)
    )


def test_no_secret_of_any_kind_leaves_and_no_look_alike_is_masked(served: Serve, leaky: Path) -> None:
    server = served(everything, forever=True)
    server.script(holds(), when=is_sceptic, forever=True)
    diagnosis = diagnose(
        leaky, MESSAGE, brain="claude", specialist="ml-debugger", options=quick(server, result_characters=400_000)
    )
    sent = "\n".join(_leaves(request.body) for request in server.requests)
    for what, _, secret in TABLES.SECRETS:
        for line in secret.splitlines():
            assert line not in sent.split(), what
            if len(line) >= 12:
                assert line not in sent, what
    for row in TABLES.LOOK_ALIKES:
        assert row in sent, row
    assert any("secrets were masked before anything was sent" in note for note in diagnosis.provenance.notes)


def _leaves(value: object) -> str:
    if isinstance(value, dict):
        return "\n".join(_leaves(row) for row in value.values())
    if isinstance(value, list):
        return "\n".join(_leaves(row) for row in value)
    return str(value).replace("&lt;", "<")


def test_a_quote_with_a_mask_in_it_is_still_verified(served: Serve, leaky: Path) -> None:
    from tests.llm.kit import cause

    masked = piece("line 2", "password: [masked:assigned-secret]", "secrets.yaml")
    server = served(submit(answer(cause(evidence=[piece(), masked]))))
    server.script(holds(), when=is_sceptic, forever=True)
    diagnosis = diagnose(leaky, MESSAGE, brain="claude", specialist="training-monitor", options=quick(server))
    assert all(row.verified for row in diagnosis.root_causes[0].evidence)


def test_user_names_stay_on_request(served: Serve, leaky: Path) -> None:
    (leaky / "paths.log").write_text("loading /home/alice-the-trainer/data\n")

    def reads(request: Received) -> Turn:
        again = submit(answer())
        return (
            again
            if len(request.messages) > 1
            else call("Read", path="paths.log", start_line=1, max_lines=5, tail=False)
        )

    for mask in (False, True):
        server = served(reads, forever=True)
        server.script(holds(), when=is_sceptic, forever=True)
        diagnose(
            leaky, MESSAGE, brain="claude", specialist="training-monitor", options=quick(server), mask_user_names=mask
        )
        assert ("alice-the-trainer" in server.requests[1].text) is not mask


def test_what_leaves_is_exactly_the_first_request(served: Serve, leaky: Path, tmp_path: Path) -> None:
    out = tmp_path / "leaves.json"
    arguments = ["gather", str(leaky), "-m", MESSAGE, "--what-leaves", "--specialist", "training-monitor"]
    assert main([*arguments, "--json", "--output", str(out)]) == 0
    shown = json.loads(out.read_text())
    server = served(submit(answer()))
    server.script(holds(), when=is_sceptic, forever=True)
    diagnose(leaky, MESSAGE, brain="claude", specialist="training-monitor", options=quick(server))
    sent = {key: value for key, value in server.requests[0].body.items() if key != "stream"}
    assert shown["requests"]["training-monitor"] == sent
    assert sum(shown["masked"].values()) > 0
    assert "hunter2hunter2" not in out.read_text()


def test_what_leaves_is_readable_and_sends_nothing(leaky: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["gather", str(leaky), "-m", MESSAGE, "--what-leaves"]) == 0
    shown = capsys.readouterr().out
    assert "Nothing was sent." in shown
    assert "Secrets masked: " in shown
    assert "You read training runs by their numbers." in shown
    assert '"name": "submit_diagnosis"' in shown
    assert "hunter2hunter2" not in shown
    assert "pw-of-the-db" not in shown
