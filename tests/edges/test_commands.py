"""The command among closed streams, full disks, odd targets, low limits, bombs and signals."""

import gzip
import json
import os
import resource
import shutil
import signal
import stat
import subprocess
import sys
import time
import zipfile
from functools import partial
from pathlib import Path

import pytest

from tests.edges.conftest import Answer, falling, plain
from tests.shells import Shell, device
from traindx import diagnose

pytestmark = pytest.mark.slow

SHOWN = "lr-schedule-spike"


@pytest.mark.parametrize("option", ["--output", "--plot"])
def test_an_output_to_a_device_leaves_the_device(shell: Shell, broken_run: Path, tmp_path: Path, option: str) -> None:
    null = device(tmp_path / "null.png", 3)
    shell(f'traindx diagnose "$RUN" {option} "$OUT"', RUN=broken_run, OUT=null)
    assert stat.S_ISCHR(null.stat().st_mode)


def test_an_output_to_a_full_device_is_an_error(shell: Shell, broken_run: Path, tmp_path: Path) -> None:
    full = device(tmp_path / "full", 7)
    done = shell('traindx diagnose "$RUN" --output "$OUT"', RUN=broken_run, OUT=full)
    assert done.returncode == 2
    assert "no space left" in done.stderr
    assert stat.S_ISCHR(full.stat().st_mode)


def test_an_output_through_a_link_is_written_to_its_target(shell: Shell, broken_run: Path, tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "report.md").symlink_to("real/there.md")
    shell('traindx diagnose "$RUN" --format markdown --output "$OUT"', RUN=broken_run, OUT=tmp_path / "report.md")
    assert (tmp_path / "report.md").is_symlink()
    assert SHOWN in (tmp_path / "real" / "there.md").read_text()


def test_an_output_to_a_pipe_goes_through_it(shell: Shell, broken_run: Path, tmp_path: Path) -> None:
    line = 'mkfifo "$OUT"; cat "$OUT" > "$OUT.copy" & traindx diagnose "$RUN" --output "$OUT"; wait; test -p "$OUT"'
    done = shell(f"timeout 60 bash -c '{line}'".replace("traindx", f"{sys.executable} -m traindx"),
                 RUN=broken_run, OUT=tmp_path / "pipe")  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert SHOWN in (tmp_path / "pipe.copy").read_text()


@pytest.mark.parametrize(("umask", "mode"), [("077", 0o600), ("027", 0o640)])
def test_an_output_follows_the_umask(shell: Shell, broken_run: Path, tmp_path: Path, umask: str, mode: int) -> None:
    shell(f'umask {umask}; traindx diagnose "$RUN" --output "$OUT"', RUN=broken_run, OUT=tmp_path / "report.txt")
    assert stat.S_IMODE((tmp_path / "report.txt").stat().st_mode) == mode


def test_a_disk_that_fills_up_is_left_as_it_was(broken_run: Path, tmp_path: Path) -> None:
    (tmp_path / "report.txt").write_text("old")

    def small_files() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (512, 512))
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)

    command = [sys.executable, "-m", "traindx", "diagnose", str(broken_run), "--output", str(tmp_path / "report.txt")]
    done = subprocess.run(command, capture_output=True, text=True, cwd="/", check=False, preexec_fn=small_files)
    assert done.returncode == 2, done.stderr
    assert {path.name: path.read_text() for path in tmp_path.iterdir() if path.is_file()} == {"report.txt": "old"}


def test_an_output_that_cannot_be_written_is_refused_before_the_work(shell: Shell, tmp_path: Path) -> None:
    (tmp_path / "train.log").write_text(falling(50))
    done = shell('traindx diagnose "$RUN" --output /proc/nowhere/report.txt -v', RUN=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert "tool calls" not in done.stderr


@pytest.mark.parametrize(("wrong", "meant"), [("brian", "brain"), ("specalist", "specialist"), ("max_usdd", "max_usd")])
def test_a_misspelt_keyword_is_refused_with_the_nearest_name(broken_run: Path, wrong: str, meant: str) -> None:
    with pytest.raises(TypeError, match=meant):
        diagnose(broken_run, **{wrong: "local"})  # type: ignore[arg-type]


def test_a_png_needs_nothing_that_is_not_installed_with_it(shell: Shell, broken_run: Path, tmp_path: Path) -> None:
    from importlib.metadata import requires

    assert any(row.lower().startswith("pillow") and "extra" not in row for row in requires("traindx") or [])
    done = shell('traindx diagnose "$RUN" --plot "$OUT"', RUN=broken_run, OUT=tmp_path / "loss.png")
    assert done.returncode == 0
    assert (tmp_path / "loss.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize("limit", ["ulimit -n 9", "ulimit -n 12", "ulimit -v 70000"])
def test_a_worker_that_cannot_start_is_no_answer(shell: Shell, broken_run: Path, limit: str) -> None:
    done = shell(f'{limit}; traindx diagnose "$RUN" --json', RUN=broken_run)
    if done.returncode == 0:  # how many are enough depends on the system: then the answer is whole
        assert json.loads(done.stdout)["root_causes"][0]["id"] == SHOWN
        return
    assert done.returncode in {2, 3}
    assert done.stdout == ""
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("name", ["run.zip", "run.tar.gz", "run.tgz"])
@pytest.mark.parametrize("content", [b"PK\x03\x04 cut", gzip.compress(b"no archive inside")[:-6]], ids=["zip", "gzip"])
def test_a_broken_archive_is_an_error(shell: Shell, tmp_path: Path, name: str, content: bytes) -> None:
    (tmp_path / name).write_bytes(content)
    done = shell('traindx diagnose "$RUN"', RUN=tmp_path / name)
    assert (done.returncode, done.stdout) == (2, "")
    assert "archive" in done.stderr


def test_a_folder_that_may_not_be_read_is_an_error(tmp_path: Path) -> None:
    if shutil.which("setpriv") is None or os.geteuid() != 0:
        pytest.skip("needs root, and setpriv to give its powers away")
    run = tmp_path / "run"
    run.mkdir(mode=0o700)
    (run / "train.log").write_text(falling(50))
    powers = ["setpriv", "--bounding-set", "-dac_override,-dac_read_search", "--inh-caps", "-all"]
    os.chown(run, 65534, 65534)
    run.chmod(0)
    command = [*powers, sys.executable, "-m", "traindx", "diagnose", str(run)]
    done = subprocess.run(command, capture_output=True, text=True, cwd="/", check=False)
    assert (done.returncode, done.stdout) == (2, "")
    assert "permission denied" in done.stderr.lower()


def test_an_endless_input_is_bounded_and_said(shell: Shell, spool: Path) -> None:
    done = shell("yes 'step 1 loss 0.5' | traindx diagnose - --max-input 3M")
    assert done.returncode == 0, done.stderr
    assert "left out" in plain(done.stdout)
    assert list(spool.iterdir()) == []


def test_a_small_archive_that_bursts_is_bounded_and_said(answer: Answer, tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "run.zip", "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        archive.writestr("train.log", falling(200))
        with archive.open("zeros.bin", "w") as file:
            for _ in range(320):
                file.write(bytes(1 << 20))
    found = answer(tmp_path / "run.zip")
    assert any("--max-input" in row for row in found["notable"]), found["missing"]


@pytest.mark.parametrize(("number", "status"), [(signal.SIGTERM, 143), (signal.SIGHUP, 129), (signal.SIGINT, 130)])
def test_a_signal_leaves_nothing_behind(spool: Path, number: signal.Signals, status: int) -> None:
    command = [sys.executable, "-m", "traindx", "diagnose", "-"]
    pipe = subprocess.PIPE
    env = {**os.environ, "TMPDIR": str(spool)}
    # Whoever started the tests may have told them to ignore the signal, as `nohup` and a shell's `&` do.
    heard = partial(signal.signal, number, signal.SIG_DFL)
    process = subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, env=env, cwd="/", preexec_fn=heard)  # noqa: PLW1509
    assert process.stdin is not None
    process.stdin.write(falling(20_000).encode())
    process.stdin.flush()
    while not any(path.is_file() for path in spool.rglob("*")):
        assert process.poll() is None
        time.sleep(0.01)
    process.send_signal(number)
    _, err = process.communicate(timeout=60)
    assert process.returncode == status
    assert b"Traceback" not in err
    assert list(spool.iterdir()) == []


def test_a_log_that_was_packed_to_nothing_is_bounded(answer: Answer, tmp_path: Path) -> None:
    with gzip.open(tmp_path / "train.log.gz", "wb", compresslevel=9) as file:
        for _ in range(200):
            file.write(bytes(1 << 20))
    found = answer(tmp_path)
    assert found["status"] == "needs_more_data"
    assert any("the same over and over" in row for row in found["missing"])


@pytest.mark.parametrize("streams", ["2>&-", "<&-", "<&- 2>&-", "2>/dev/full"])
def test_an_answer_needs_neither_stdin_nor_stderr(shell: Shell, broken_run: Path, streams: str) -> None:
    done = shell(f'traindx diagnose "$RUN" --json {streams}', RUN=broken_run)
    assert done.returncode == 0
    assert json.loads(done.stdout)["root_causes"][0]["id"] == SHOWN


@pytest.mark.parametrize("streams", [">&-", "> /dev/full", ">&- <&-"])
def test_without_room_for_the_answer_it_is_an_error(shell: Shell, broken_run: Path, streams: str) -> None:
    done = shell(f'traindx diagnose "$RUN" {streams}', RUN=broken_run)
    assert done.returncode == 2
    assert "cannot write `standard output`" in done.stderr


def test_a_transcript_without_room_costs_no_answer(shell: Shell, broken_run: Path, tmp_path: Path) -> None:
    full = device(tmp_path / "full", 7)
    done = shell('traindx diagnose "$RUN" --json --save-case "$OUT"', RUN=broken_run, OUT=full)
    assert done.returncode == 2
    assert json.loads(done.stdout)["root_causes"][0]["id"] == SHOWN


@pytest.mark.parametrize("command", ["diagnose", "gather", "chat"])
def test_an_empty_path_is_refused(shell: Shell, broken_run: Path, command: str) -> None:
    done = shell(f'cd "$RUN" && traindx {command} ""', RUN=broken_run)
    assert (done.returncode, done.stdout) == (2, "")
    assert "empty" in done.stderr
