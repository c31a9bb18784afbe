"""What a command writes and reads passes through untouched, and is kept."""

import hashlib
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.runner.conftest import PATIENCE, Started, clean, command

pytestmark = pytest.mark.slow

Ran = Callable[..., tuple[int, bytes, bytes]]
PY = sys.executable

BOTH = """
import os, threading
def pour(fd, seed):
    block = bytes((i * seed + i // 7) % 256 for i in range(65536))
    for _ in range(80):
        rest = memoryview(block)
        while rest:
            rest = rest[os.write(fd, rest):]
threads = [threading.Thread(target=pour, args=pair) for pair in ((1, 31), (2, 77))]
[one.start() for one in threads]; [one.join() for one in threads]
"""


def test_binary_output_of_both_streams_is_passed_on_and_kept_to_the_byte(ran: Ran, tmp_path: Path) -> None:
    status, out, err = ran("--", PY, "-c", BOTH)
    assert (status, len(out), len(err)) == (0, 5242880, 5242880)
    assert (tmp_path / "kept/stdout.log").read_bytes() == out
    assert (tmp_path / "kept/stderr.log").read_bytes() == err
    plain = subprocess.run([PY, "-c", BOTH], capture_output=True, check=True)
    assert hashlib.sha256(out).digest() == hashlib.sha256(plain.stdout).digest()


def test_the_log_holds_whole_lines_of_both_streams_in_the_order_they_came(ran: Ran, tmp_path: Path) -> None:
    program = (
        "import os, time\n"
        "for n in range(20):\n"
        "    os.write(1, b'out %d be' % n); time.sleep(.005); os.write(2, b'err %d\\n' % n); time.sleep(.005)\n"
        "    os.write(1, b'gun\\n'); time.sleep(.005)\n"
    )
    ran("--", PY, "-c", program)
    lines = (tmp_path / "kept/output.log").read_text().splitlines()
    assert [line for line in lines if line.startswith("out")] == [f"out {n} begun" for n in range(20)]
    said = [line for line in lines if line.startswith(("out", "err"))]
    assert said == [line for n in range(20) for line in (f"err {n}", f"out {n} begun")]


def test_standard_input_reaches_the_command(ran: Ran, tmp_path: Path) -> None:
    source = tmp_path / "typed"
    source.write_bytes(os.urandom(300_000))
    with source.open("rb") as handle:
        status, out, _ = ran("--", "cat", stdin=handle)
    assert (status, out) == (0, source.read_bytes())


def test_without_a_terminal_the_command_sees_none(ran: Ran) -> None:
    _, out, _ = ran("--", PY, "-c", "import sys; print(sys.stdin.isatty(), sys.stdout.isatty(), sys.stderr.isatty())")
    assert out == b"False False False\n"


def test_the_log_is_there_before_the_command_starts(ran: Ran, tmp_path: Path) -> None:
    ran("--", "cp", "-r", str(tmp_path / "kept"), str(tmp_path / "seen"))
    assert (tmp_path / "seen/output.log").read_text().startswith("$ cp -r ")
    assert '"exit_code": null' in (tmp_path / "seen/run.json").read_text()


def test_a_reader_that_leaves_ends_the_command_as_without_us(tmp_path: Path) -> None:
    line = f"{PY} -m traindx run -q --no-diagnosis --folder kept -- yes | head -n 2"
    done = subprocess.run(
        ["bash", "-c", line], cwd=tmp_path, env=clean(), capture_output=True, timeout=PATIENCE, check=False
    )
    assert done.stdout == b"y\ny\n"
    assert (tmp_path / "kept/stdout.log").stat().st_size > 4


def test_a_process_left_behind_that_holds_the_streams_is_not_waited_for(
    start: Started, summary: Callable[[], dict[str, Any]]
) -> None:
    process = start("--", "bash", "-c", "sleep 600 & echo $!; exit 5")
    assert process.stdout is not None
    sleeper = int(process.stdout.readline())
    try:
        assert process.wait(PATIENCE) == 5
        assert summary()["still_held"] == ["stdout", "stderr"]
    finally:
        os.kill(sleeper, 9)


def test_what_a_process_left_behind_still_says_is_kept(ran: Ran, tmp_path: Path) -> None:
    status, out, _ = ran("--", "bash", "-c", "(for n in 1 2 3; do sleep .2; echo late $n; done) & exit 0")
    assert (status, out) == (0, b"late 1\nlate 2\nlate 3\n")
    assert (tmp_path / "kept/stdout.log").read_bytes() == out


def test_a_full_disk_costs_the_log_and_nothing_else(tmp_path: Path) -> None:
    # The largest file a process may write stands for the disk: the same error, in the same place.
    limited = "ulimit -f 64; exec " + " ".join(command("--folder", "kept", "--", PY, "-c", '"$0"')).replace("-q ", "")
    program = "import sys; sys.stdout.write('x' * 99 + '\\n' * 1)\nfor n in range(20000): print('y' * 99)\nsys.exit(4)"
    limited = limited.replace("kept --", "kept --no-diagnosis --")
    done = subprocess.run(
        ["bash", "-c", limited, program], cwd=tmp_path, env=clean(), capture_output=True, timeout=PATIENCE, check=False
    )
    assert done.returncode == 4
    assert len(done.stdout) == 2_000_100
    assert done.stderr.count(b"no longer kept") == 1


def test_streams_that_are_closed_or_full_cost_neither_the_command_nor_its_log(tmp_path: Path) -> None:
    for place, redirection in enumerate((">&-", "<&-", "2>&-", "> /dev/full")):
        line = f"{PY} -m traindx run -q --no-diagnosis --folder {place} -- sh -c 'echo hi; exit 3' {redirection}"
        done = subprocess.run(["bash", "-c", line], cwd=tmp_path, env=clean(), check=False, timeout=PATIENCE)
        assert done.returncode == 3, redirection
        assert (tmp_path / str(place) / "stdout.log").read_text() == "hi\n"
