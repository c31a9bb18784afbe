"""The parts of the sandbox, each on its own, in a process that can be spared."""

from __future__ import annotations

import mmap
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from textwrap import dedent

import pytest

from traindx.readers import Scope
from traindx.runtime import Toolbelt
from traindx.runtime.launch import environment, import_folders
from traindx.runtime.sandbox.landlock import landlock_version
from traindx.runtime.sandbox.readable import readable_paths
from traindx.runtime.sandbox.seccomp import CONDITIONAL, DENIED, numbers

pytestmark = pytest.mark.slow

linux = pytest.mark.skipif(sys.platform != "linux", reason="Landlock and seccomp are Linux's")


def spared(program: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", dedent(program)], capture_output=True, text=True, timeout=20, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


@linux
def test_without_landlock_nothing_can_be_written_either(tmp_path: Path) -> None:
    (tmp_path / "there.log").write_text("before")
    said = spared(f"""
        import os
        from traindx.runtime.sandbox.seccomp import apply_seccomp

        assert apply_seccomp(forbid_writing=True)
        for flags in (os.O_WRONLY, os.O_RDWR, os.O_CREAT, os.O_TRUNC, os.O_WRONLY | os.O_APPEND):
            try:
                os.open({str(tmp_path / "there.log")!r}, flags)
            except PermissionError:
                print("refused", end=" ")
        print(open({str(tmp_path / "there.log")!r}).read())
    """)
    assert said == "refused refused refused refused refused before"


@linux
def test_landlock_is_not_claimed_when_an_older_thread_stays_outside() -> None:
    said = spared("""
        import threading
        from traindx.runtime.sandbox.landlock import apply_landlock

        done = threading.Event()
        threading.Thread(target=done.wait).start()
        print(apply_landlock(["/usr"]))
        done.set()
    """)
    assert said == "False"


@pytest.mark.skipif(landlock_version() == 0, reason="this kernel has no Landlock")
def test_a_path_that_cannot_be_allowed_stays_forbidden(tmp_path: Path) -> None:
    (tmp_path / "allowed.txt").write_text("yes")
    (tmp_path / "other.txt").write_text("no")
    said = spared(f"""
        from pathlib import Path
        from traindx.runtime.sandbox.landlock import apply_landlock

        folder = Path({str(tmp_path)!r})
        print(apply_landlock([str(folder / "allowed.txt"), str(folder / "missing.txt")]))
        print((folder / "allowed.txt").read_text())
        try:
            (folder / "other.txt").read_text()
        except PermissionError as error:
            print(error.strerror)
    """)
    assert said.splitlines() == ["True", "yes", "Permission denied"]


def test_neither_the_disk_nor_a_home_is_readable(tmp_path: Path) -> None:
    readable = {Path(path) for path in readable_paths(Scope.of(tmp_path), import_folders(), [])}
    assert tmp_path.resolve() in readable
    assert not readable & {Path("/"), Path.home(), Path.home().parent, Path("/etc"), Path("/proc"), Path("/tmp")}


def test_no_secret_is_in_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("ANTHROPIC_API_KEY", "AWS_SECRET_ACCESS_KEY", "WANDB_API_KEY", "PYTHONPATH", "LD_PRELOAD"):
        monkeypatch.setenv(name, "secret")
    assert "secret" not in environment().values()


def test_no_call_is_listed_twice() -> None:
    for machine in ("x86_64", "aarch64"):
        listed = [*numbers(DENIED, machine).values(), *numbers(CONDITIONAL, machine).values()]
        assert len(listed) == len(set(listed))


def test_a_mapped_file_may_be_larger_than_the_memory(tmp_path: Path, make_tool_source: Callable[..., str]) -> None:
    """`torch.load(mmap=True)` maps privately, which the kernel counts as memory until `room_for_mapping` allows it."""
    (tmp_path / "run").mkdir()
    (tmp_path / "tools").mkdir()
    with (tmp_path / "run" / "model.bin").open("wb") as handle:
        handle.truncate(2**30 + mmap.PAGESIZE)
    body = """
    size = (run.scope.root / "model.bin").stat().st_size
    room = room_for_mapping(size) if request.text else nullcontext()
    with room, run.scope.open("model.bin") as handle:
        return Answer(text=str(mmap.mmap(handle.fileno(), 0, mmap.MAP_PRIVATE, mmap.PROT_READ | mmap.PROT_WRITE)[-1]))
    """
    imports = (
        "import mmap\nfrom contextlib import nullcontext\nfrom traindx.runtime.sandbox.limits import room_for_mapping"
    )
    (tmp_path / "tools" / "peek.py").write_text(make_tool_source("peek", body, imports))
    with Toolbelt(Scope.of(tmp_path / "run"), [tmp_path / "tools"], memory_mb=600) as toolbelt:
        assert "Cannot allocate memory" in toolbelt.call("peek").reason
        assert toolbelt.call("peek", {"text": "with room"}).output["text"] == "0"
