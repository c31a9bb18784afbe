"""A running job, watched by the real command and by the Python call."""

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import traindx
from traindx.errors import UnreadableInput, UsageError
from traindx.watch import Ending, Finding, Watch

pytestmark = pytest.mark.slow

PATIENCE = 60.0
Command = Callable[..., subprocess.CompletedProcess[str]]
Started = Callable[..., subprocess.Popen[str]]


def healthy(first: int, last: int) -> str:
    return "".join(
        f"step {n} loss {2 / (n + 1) ** 0.3:.4f} grad_norm 0.{n % 7}1 lr 0.001\n" for n in range(first, last)
    )


def bad(first: int, last: int) -> str:
    return "".join(f"step {n} loss nan grad_norm nan lr 0.001\n" for n in range(first, last))


def add(path: Path, text: str) -> None:
    with path.open("a") as handle:
        handle.write(text)


@pytest.fixture
def log(tmp_path: Path) -> Path:
    folder = tmp_path / "run"
    folder.mkdir()
    return folder / "train.log"


@pytest.fixture
def job() -> Iterator[subprocess.Popen[bytes]]:
    """A process that lives until it is killed."""
    with subprocess.Popen(["sleep", "600"]) as process:
        yield process
        process.kill()


@pytest.fixture
def start() -> Iterator[Started]:
    begun = []

    def started(*words: object) -> subprocess.Popen[str]:
        clean = {key: value for key, value in os.environ.items() if not key.startswith(("ANTHROPIC", "PYTHON"))}
        words = (sys.executable, "-m", "traindx", "watch", *words)
        begun.append(
            subprocess.Popen(
                list(map(str, words)), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd="/", env=clean
            )
        )
        return begun[-1]

    yield started
    for process in begun:
        process.kill()
        process.communicate()


def next_line(process: subprocess.Popen[str]) -> dict[str, Any]:
    assert process.stdout is not None
    found: dict[str, Any] = json.loads(process.stdout.readline())
    return found


def test_a_fault_is_told_while_the_job_runs_and_the_watch_ends_with_the_job(
    start: Started, log: Path, job: subprocess.Popen[bytes]
) -> None:
    add(log, healthy(0, 500))
    watch = start(log.parent, "--json", "--pid", job.pid)
    time.sleep(1)
    add(log, healthy(500, 600) + bad(600, 640))
    told = next_line(watch)
    assert (told["kind"], told["id"], told["at_end"]) == ("found", "non-finite-loss", False)
    assert {row["locator"].partition(",")[0] for row in told["evidence"]} >= {"line 601"}
    job.kill()
    job.wait()
    out, err = watch.communicate(timeout=PATIENCE)
    assert (watch.returncode, out) == (0, ""), err


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_it_ends_in_order_when_told_to_and_a_healthy_run_is_no_finding(
    start: Started, log: Path, number: signal.Signals
) -> None:
    add(log, healthy(0, 400))
    watch = start(log.parent, "--fail-on", "low")
    assert watch.stderr is not None
    assert watch.stderr.readline() == f"traindx: watching {log.parent}\n"
    time.sleep(2.5)
    watch.send_signal(number)
    out, err = watch.communicate(timeout=PATIENCE)
    assert (watch.returncode, out, err) == (0, "", "")


def test_fail_on_counts_what_was_told(traindx: Command, log: Path) -> None:
    add(log, healthy(0, 300) + bad(300, 400))
    done = traindx("watch", log, "--until-idle", "0.02", "--fail-on", "critical")
    assert done.returncode == 1
    assert "found  non-finite-loss  [critical" in done.stdout
    assert "train.log, line 300, step 299" in done.stdout


def test_a_watch_ends_when_traindx_run_says_that_the_command_has_ended(traindx: Command, tmp_path: Path) -> None:
    program = "raise RuntimeError('mat1 and mat2 shapes cannot be multiplied (32x128 and 64x10)')"
    traindx("run", "--no-diagnosis", "--folder", tmp_path / "kept", "--", sys.executable, "-c", program)
    done = traindx("watch", tmp_path / "kept", "--json")
    assert done.returncode == 0
    told = json.loads(done.stdout)
    assert (told["id"], told["at_end"]) == ("shape-mismatch", True)


def test_the_function_calls_back_and_can_be_stopped_from_there(log: Path) -> None:
    add(log, healthy(0, 300) + bad(300, 400))
    stop, heard = threading.Event(), []

    def hear(finding: Finding) -> None:
        heard.append(finding)
        stop.set()

    found = traindx.watch(log.parent, hear, stop=stop)
    assert [row.id for row in heard] == ["non-finite-loss"]
    assert found == heard


def test_of_a_long_log_the_line_that_shows_it_is_named(log: Path) -> None:
    add(log, healthy(0, 60_000))
    add(log, bad(60_000, 60_020))
    assert log.stat().st_size > 2 << 20
    (found,) = Watch(log, lambda _: None, Ending(idle=0.0)).run()
    assert found.id == "non-finite-loss"
    shown = [row for row in found.evidence if row.locator.startswith("line 60001")]
    assert shown
    assert shown[0].verified
    assert shown[0].quote == "step 60000 loss nan grad_norm nan lr 0.001"


def test_a_rotated_log_is_followed_to_the_next_file(log: Path, job: subprocess.Popen[bytes]) -> None:
    add(log, healthy(0, 500))
    stop, found = threading.Event(), []

    def hear(finding: Finding) -> None:
        found.append(finding)
        stop.set()

    watching = threading.Thread(target=Watch(log, hear, stop=stop).run)
    watching.start()
    time.sleep(1)
    log.rename(log.with_suffix(".1"))
    add(log, healthy(500, 700) + bad(700, 800))
    watching.join(PATIENCE)
    assert [row.id for row in found] == ["non-finite-loss"]


@pytest.mark.parametrize("content", [b"", b"\0" * 5000, b"\xff\xfe" + b"x" * 100, b"[" * 4000, b"\r" * 9000])
def test_odd_files_are_no_finding_and_no_trouble(log: Path, content: bytes) -> None:
    log.write_bytes(content)
    log.with_name("metrics.csv").write_bytes(content)
    log.with_name("rows.jsonl").write_bytes(content)
    watch = Watch(log.parent, lambda _: None, Ending(idle=0.0))
    assert watch.run() == []
    assert watch.troubles == []


def test_nothing_in_the_folder_is_changed(log: Path, hashes: Callable[[Path], dict[str, str]]) -> None:
    add(log, healthy(0, 40_000))
    before = hashes(log.parent)
    Watch(log.parent, lambda _: None, Ending(idle=0.0)).run()
    assert hashes(log.parent) == before


def test_what_cannot_be_watched_is_one_sentence(traindx: Command, tmp_path: Path) -> None:
    for words, complaint in (
        ((tmp_path / "none",), "no such file or folder"),
        (("/",), "the whole machine"),
        ((tmp_path, "--pid", "999999999"), "there is no process 999999999"),
        ((tmp_path, "--webhook", "ftp://somewhere"), "is no web address"),
    ):
        done = traindx("watch", *words)
        assert done.returncode == 2
        assert complaint in done.stderr
        assert done.stderr.count("\n") == 1
    with pytest.raises(UnreadableInput):
        traindx_watch(tmp_path / "none")
    with pytest.raises(UsageError):
        traindx_watch("/")


def traindx_watch(path: object) -> None:
    import traindx.watch as room

    room(path)  # type: ignore[operator]  # the module is the function
