"""Whole commands with streams closed, disks full, limits low and targets odd: a clear exit code, never a traceback."""

import json
import os
import shutil
import stat
from pathlib import Path

import pytest

from tests.hostile.conftest import spooled
from tests.shells import Shell

pytestmark = pytest.mark.slow

SHOWN = "lr-schedule-spike"


def complaint(stderr: str) -> str:
    """The only line on stderr besides the one that says what is being read."""
    (line,) = [row for row in stderr.splitlines() if not row.startswith("traindx: reading ")]
    return line


def test_no_stdout_is_said_before_the_work(shell: Shell, broken_run: Path) -> None:
    done = shell('traindx diagnose "$RUN" >&-', RUN=broken_run)
    assert (done.returncode, done.stderr) == (2, "traindx: cannot write `standard output`: it is closed\n")


def test_a_full_stdout_is_an_error(shell: Shell, broken_run: Path) -> None:
    done = shell('traindx diagnose "$RUN" > /dev/full', RUN=broken_run)
    assert done.returncode == 2
    assert complaint(done.stderr) == "traindx: cannot write `standard output`: no space left on device"


@pytest.mark.parametrize("streams", ["2>&-", "2>/dev/full", "<&-", "<&- 2>&-"])
def test_neither_stderr_nor_stdin_is_needed(shell: Shell, broken_run: Path, streams: str) -> None:
    done = shell(f'traindx diagnose "$RUN" --json {streams}', RUN=broken_run)
    assert done.returncode == 0
    assert json.loads(done.stdout)["root_causes"][0]["id"] == SHOWN


def test_with_every_stream_closed_a_file_is_still_written(shell: Shell, broken_run: Path, tmp_path: Path) -> None:
    done = shell('traindx diagnose "$RUN" --output "$OUT" <&- >&- 2>&-', RUN=broken_run, OUT=tmp_path / "report.txt")
    assert done.returncode == 0
    assert SHOWN in (tmp_path / "report.txt").read_text()


def test_a_log_on_a_closed_stdin_is_refused(shell: Shell) -> None:
    done = shell("traindx diagnose - <&-")
    assert done.returncode == 2
    assert complaint(done.stderr) == "traindx: cannot read `-`: standard input is closed"
    assert "which is closed" in shell("traindx chat /etc <&-").stderr


@pytest.mark.parametrize("limit", ["ulimit -n 5", "ulimit -n 8", "ulimit -n 12", "ulimit -v 60000"])
def test_a_worker_that_cannot_start_is_no_answer(shell: Shell, broken_run: Path, limit: str) -> None:
    done = shell(f'{limit}; traindx diagnose "$RUN" --json', RUN=broken_run)
    if done.returncode == 0:  # how many descriptors are enough depends on the system: then the answer is whole
        assert json.loads(done.stdout)["root_causes"][0]["id"] == SHOWN
        return
    assert (done.returncode, done.stdout) == (3, "")
    assert "Traceback" not in done.stderr
    assert complaint(done.stderr).startswith("traindx: ")


def test_a_transcript_that_cannot_be_written_costs_no_diagnosis(
    shell: Shell, broken_run: Path, full_device: Path
) -> None:
    done = shell('traindx diagnose "$RUN" --json --save-case "$FULL"', RUN=broken_run, FULL=full_device)
    assert done.returncode == 2
    said = json.loads(done.stdout)
    assert said["root_causes"][0]["id"] == SHOWN
    assert "no space left" in said["provenance"]["unwritten"][0]
    assert "no space left" in complaint(done.stderr)
    assert stat.S_ISCHR(full_device.stat().st_mode)


def test_a_picture_that_cannot_be_written_costs_no_diagnosis(shell: Shell, broken_run: Path, tmp_path: Path) -> None:
    (tmp_path / "full.png").symlink_to("/dev/full")
    done = shell('traindx diagnose "$RUN" --plot "$OUT"', RUN=broken_run, OUT=tmp_path / "full.png")
    assert done.returncode == 2
    assert SHOWN in done.stdout
    assert "no space left" in complaint(done.stderr)
    met = shell('traindx diagnose -q "$RUN" --fail-on low --plot "$OUT"', RUN=broken_run, OUT=tmp_path / "full.png")
    assert met.returncode == 1


def test_a_disk_that_fills_up_sends_the_result_to_stdout(shell: Shell, broken_run: Path, full_device: Path) -> None:
    done = shell('traindx diagnose "$RUN" --output "$FULL"', RUN=broken_run, FULL=full_device)
    assert done.returncode == 2
    assert SHOWN in done.stdout
    assert "no space left" in complaint(done.stderr)


def test_output_to_dev_stdout_goes_through_the_pipe(shell: Shell, broken_run: Path) -> None:
    done = shell('traindx diagnose -q "$RUN" --format json --output /dev/stdout | cat', RUN=broken_run)
    assert json.loads(done.stdout)["root_causes"][0]["id"] == SHOWN


def test_no_path_is_the_current_folder_and_an_empty_one_is_refused(shell: Shell, broken_run: Path) -> None:
    here = shell('cd "$RUN" && traindx diagnose -m "loss went up"', RUN=broken_run)
    assert here.returncode == 0
    assert SHOWN in here.stdout
    assert here.stderr == f"traindx: reading the current folder, {broken_run}\n"
    for command in ("diagnose", "gather", "chat", "tool explain_error"):
        empty = shell(f'cd "$RUN" && traindx {command} ""', RUN=broken_run)
        assert (empty.returncode, empty.stdout) == (2, ""), command
        assert "a path is empty" in complaint(empty.stderr)


def test_quiet_is_quiet(shell: Shell, broken_run: Path) -> None:
    assert shell('traindx diagnose -q "$RUN"', RUN=broken_run).stderr == ""


@pytest.mark.parametrize(
    "name",
    ["with spaces", "new\nline", "-rf", "\N{FIRE}", os.fsdecode(b"\xff\xfe"), "x" * 250, "$(touch pwned)", "a'b\"c"],
    ids=["spaces", "newline", "dash", "emoji", "not-utf-8", "long", "command", "quotes"],
)
def test_a_folder_of_any_name_is_read(shell: Shell, broken_run: Path, tmp_path: Path, name: str) -> None:
    folder = tmp_path / name
    folder.mkdir()
    shutil.copy(broken_run / "metrics.csv", folder)
    done = shell('cd "$TMP" && traindx diagnose --json -- "$NAME"', TMP=tmp_path, NAME=name)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["root_causes"]
    assert not (tmp_path / "pwned").exists()
    assert spooled(tmp_path) == []


def test_a_name_that_no_file_can_have_is_refused(shell: Shell) -> None:
    done = shell('traindx diagnose "$NAME"', NAME="x" * 5000)
    assert done.returncode == 2
    assert "too long" in complaint(done.stderr)
