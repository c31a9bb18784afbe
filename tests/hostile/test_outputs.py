"""Files that the user names: whatever is there already, it is written to as a shell would, or refused."""

import os
import resource
import socket
import stat
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from traindx.errors import UnwritableOutput
from traindx.pipeline.outputs import check_target, write_file


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_a_device_stays_a_device(null_device: Path, full_device: Path) -> None:
    write_file(null_device, "text")
    assert stat.S_ISCHR(null_device.stat().st_mode)
    with pytest.raises(UnwritableOutput, match="no space left"):
        write_file(full_device, "text")
    assert stat.S_ISCHR(full_device.stat().st_mode)
    assert {path.name for path in full_device.parent.iterdir()} == {"full", "null"}


def test_a_fifo_gets_the_text(tmp_path: Path) -> None:
    fifo = tmp_path / "pipe"
    os.mkfifo(fifo)
    heard: list[str] = []
    reader = threading.Thread(target=lambda: heard.append(fifo.read_text()))
    reader.start()
    check_target(fifo)
    write_file(fifo, "the whole text")
    reader.join()
    assert heard == ["the whole text"]
    assert stat.S_ISFIFO(fifo.stat().st_mode)


def test_a_link_stays_and_its_target_is_written(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "real" / "report.md").write_text("old")
    link, fresh = tmp_path / "report.md", tmp_path / "fresh.md"
    link.symlink_to("real/report.md")
    fresh.symlink_to("real/new.md")
    for one in (link, fresh):
        check_target(one)
        write_file(one, "new")
        assert one.is_symlink()
        assert one.read_text() == "new"
    assert {path.name for path in (tmp_path / "real").iterdir()} == {"report.md", "new.md"}


def test_a_loop_of_links_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a").symlink_to("b")
    (tmp_path / "b").symlink_to("a")
    with pytest.raises(UnwritableOutput):
        check_target(tmp_path / "a")
    with pytest.raises(UnwritableOutput):
        write_file(tmp_path / "a", "text")


def test_the_mode_is_kept_or_follows_the_umask(tmp_path: Path) -> None:
    kept = tmp_path / "kept"
    kept.write_text("old")
    kept.chmod(0o640)
    before = os.umask(0o077)
    try:
        write_file(kept, "new")
        write_file(tmp_path / "private", "new")
        os.umask(0o002)
        write_file(tmp_path / "shared", "new")
    finally:
        os.umask(before)
    assert (mode(kept), mode(tmp_path / "private"), mode(tmp_path / "shared")) == (0o640, 0o600, 0o664)


def test_descriptors_are_written_to(tmp_path: Path) -> None:
    log = tmp_path / "log"
    script = (
        "from traindx.pipeline.outputs import check_target, write_file\n"
        "for name in ('/dev/stdout', '/dev/fd/3', '/proc/self/fd/1'):\n"
        "    check_target(name)\n"
        "    write_file(name, name + '\\n')\n"
    )
    line = f'echo before > {log}; "$0" -c "$1" >> {log} 3>> {log}'
    subprocess.run(["bash", "-c", line, sys.executable, script], check=True)
    assert log.read_text().split() == ["before", "/dev/stdout", "/dev/fd/3", "/proc/self/fd/1"]


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("folder", "it is a folder"),
        ("nowhere/report.md", "there is no folder"),
        ("socket", "socket"),
        ("x" * 300, "too long"),
    ],
)
def test_what_cannot_be_written_is_refused_before_the_work(
    tmp_path: Path, name: str, why: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "folder").mkdir()
    with socket.socket(socket.AF_UNIX) as listening:
        monkeypatch.chdir(tmp_path)  # the name of a socket must be short
        listening.bind("socket")
        with pytest.raises(UnwritableOutput, match=why):
            check_target(tmp_path / name)


def test_what_is_inside_the_run_is_refused(tmp_path: Path) -> None:
    check_target(tmp_path / "report.md", [tmp_path / "run"])
    with pytest.raises(UnwritableOutput, match="read-only"):
        check_target(tmp_path / "run" / "report.md", [tmp_path / "run"])


def test_a_full_disk_leaves_the_old_file_and_nothing_else(tmp_path: Path) -> None:
    report = tmp_path / "report.md"
    report.write_text("old")
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, before[1]))
    try:
        with pytest.raises(UnwritableOutput, match="too large"):
            write_file(report, "x" * 5000)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert [path.name for path in tmp_path.iterdir()] == ["report.md"]
    assert report.read_text() == "old"


def test_a_small_disk_that_is_full(tmp_path: Path) -> None:
    disk = tmp_path / "disk"
    disk.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(disk)], capture_output=True, check=False
    )
    if mounted.returncode:
        pytest.skip("no disk can be mounted here")
    try:
        with pytest.raises(UnwritableOutput, match="no space left"):
            write_file(disk / "report.md", b"x" * 1_000_000)
        assert list(disk.iterdir()) == []
    finally:
        subprocess.run(["umount", str(disk)], check=True)
