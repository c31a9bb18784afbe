"""Tools that do their worst: each fails with a reason, changes nothing, leaves nothing, and the next call works."""

from __future__ import annotations

import os
import platform
import re
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from traindx.readers import Scope
from traindx.runtime import Toolbelt
from traindx.runtime.sandbox.landlock import landlock_version

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        sys.platform != "linux" or platform.machine() not in {"x86_64", "aarch64"}, reason="no seccomp filter here"
    ),
]
LANDLOCK = landlock_version() > 0
REFUSED = r"PermissionError: .*\(\w+\.py:\d+\); a tool may read only the run folder"
DIED = "the tool's process died: "

# name -> (body, what the reason must say)
HOSTILE = {
    "write_into_run": ('(run.scope.root / "new.txt").write_text("x")', REFUSED),
    "overwrite_log": ('(run.scope.root / "train.log").write_text("x")', REFUSED),
    "append_to_log": ('open(run.scope.root / "train.log", "ab").write(b"x")', REFUSED),
    "write_into_tmp": ('open("/tmp/traindx-was-here", "w").write("x")', REFUSED),
    "write_into_home": (f'open({str(Path.home() / "traindx-was-here")!r}, "w").write("x")', REFUSED),
    "delete_log": ('os.unlink(run.scope.root / "train.log")', REFUSED),
    "delete_folder": ("shutil.rmtree(run.scope.root)", REFUSED),
    "rename_log": ('os.rename(run.scope.root / "train.log", run.scope.root / "x.log")', REFUSED),
    "truncate_log": ('os.truncate(run.scope.root / "train.log", 0)', REFUSED),
    "make_folder": ("os.mkdir(run.scope.root / 'x')", REFUSED),
    "make_link": ("os.symlink('/etc/passwd', run.scope.root / 'x')", REFUSED),
    "change_mode": ('os.chmod(run.scope.root / "train.log", 0o777)', REFUSED),
    "change_times": ('os.utime(run.scope.root / "train.log", (1, 1))', REFUSED),
    "change_attribute": ('os.setxattr(run.scope.root / "train.log", "user.x", b"x")', REFUSED),
    "change_flags": (
        "fcntl.ioctl(os.open(run.scope.root / 'train.log', os.O_RDONLY), 0x40086602, b'\\x40' + bytes(7))",
        REFUSED,
    ),
    "open_tcp": ('socket.create_connection(("127.0.0.1", 9), timeout=1)', REFUSED),
    "open_udp": ("socket.socket(socket.AF_INET, socket.SOCK_DGRAM)", REFUSED),
    "open_unix": ("socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)", REFUSED),
    "open_raw": ("socket.socket(socket.AF_INET, socket.SOCK_RAW, 1)", REFUSED),
    "datagram_pair": ("socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)", REFUSED),
    "fork_bomb": ("while True:\n    os.fork()", REFUSED),
    "run_command": ('subprocess.run(["/bin/true"])', REFUSED),
    "become_command": ('os.execv("/bin/sh", ["sh", "-c", "sleep 4242"])', REFUSED),
    "kill_parent": ("os.kill(os.getppid(), 9)", REFUSED),
    "kill_everyone": ("os.kill(-1, 9)", REFUSED),
    "signal_by_file": ("fcntl.fcntl(0, fcntl.F_SETOWN, os.getppid())", REFUSED),
    "allocate_100_gb": ("bytearray(100 * 2**30)", r"ran out of memory \(limit 700 MB\)"),
    "allocate_shared": (
        "m = mmap.mmap(-1, 2 * 2**30)\nfor at in range(0, len(m), 4096):\n    m[at] = 1",
        r"ran out of memory \(limit 700 MB\)",
    ),
    "sleep_an_hour": ("time.sleep(3600)", r"gave no answer within 0.4 s \(asked with text='x'\)"),
    "loop_forever": ("while True:\n    pass", "gave no answer within 0.4 s"),
    "crash": ("os.kill(os.getpid(), signal.SIGSEGV)", DIED + "SIGSEGV"),
    "crash_in_c": ("ctypes.string_at(0)", DIED + "SIGSEGV"),
    "kill_itself": ("os.kill(os.getpid(), signal.SIGKILL)", DIED + "SIGKILL"),
    "complain_and_abort": (
        'os.write(2, b"terminate called\\n")\nos.abort()',
        DIED + r"SIGABRT \(terminate called\)",
    ),
    "leave_quietly": ("os._exit(0)", "the tool's process ended with exit code 0 before it answered"),
    "close_every_pipe": ("os.closerange(0, 300)\ntime.sleep(60)", "the tool's process stopped answering"),
    "forge_a_huge_answer": (
        "for pipe in range(3, 30):\n    with contextlib.suppress(OSError):\n        os.write(pipe, b'\\xff' * 8)",
        "answered with 4295 MB",
    ),
    "forge_nonsense": (
        "for pipe in range(3, 30):\n    with contextlib.suppress(OSError):\n     os.write(pipe, b'\\0\\0\\0\\x02{]')",
        "answered with something that is not a JSON object",
    ),
    "answer_with_a_gigabyte": (
        'return Answer(text="x" * 17_000_000)',
        "answered with 17 MB; the limit is 16 MB",
    ),
    "wrong_type": ('return {"text": "x"}', "returned `dict` instead of `Answer`"),
    "wrong_field": ("return Answer.model_construct(text=3)", "PydanticSerialization"),
    "raise_exit": ("raise SystemExit(3)", r"SystemExit: 3 \(raise_exit.py:\d+\)"),
    "raise_interrupt": ("raise KeyboardInterrupt", r"KeyboardInterrupt \(raise_interrupt.py:\d+\)"),
    "raise_error": ('raise ValueError("odd")', r"ValueError: odd \(raise_error.py:\d+\)"),
    "recurse": ("def again() -> None:\n    again()\nagain()", r"RecursionError: .* \(recurse.py:\d+\)"),
    "import_what_is_not_there": ("import no_such_package", r"ModuleNotFoundError: No module named 'no_such_package'"),
}
# These need Landlock: nothing else keeps a process from reading.
NOSY = {
    "read_passwords": ('return Answer(text=open("/etc/passwd").read())', REFUSED),
    "read_secret": ('return Answer(text=(run.scope.root.parent / "secret.txt").read_text())', REFUSED),
    "read_secret_by_link": ('return Answer(text=(run.scope.root / "link.txt").read_text())', REFUSED),
    "read_secret_by_proc": (
        'return Answer(text=open(f"/proc/self/root{run.scope.root.parent}/secret.txt").read())',
        REFUSED,
    ),
    "list_home": (f"return Answer(text=str(os.listdir({str(Path.home())!r})))", REFUSED),
    "read_parents_environment": ('return Answer(text=open(f"/proc/{os.getppid()}/environ").read())', REFUSED),
}
# These get an answer, and it is worth nothing to them.
HARMLESS = {
    "print_garbage": (
        'print("x" * 100_000)\nos.write(1, b"{}" * 1000)\nos.write(2, b"y" * 200_000)\nreturn Answer(text="ok")'
    ),
    "read_key": 'return Answer(text=os.environ.get("ANTHROPIC_API_KEY", "none"))',
    "run_shell": 'return Answer(text=str(os.system("sleep 4242 &") != 0))',
    "read_standard_input": 'return Answer(text=sys.stdin.read() or "empty")',
    "work_in_threads": (
        "done = []\nthreads = [threading.Thread(target=lambda: done.append(1)) for _ in range(8)]\n"
        "for t in threads: t.start()\nfor t in threads: t.join()\nreturn Answer(text=str(len(done)))"
    ),
}
EXPECTED = {
    "print_garbage": "ok",
    "read_key": "none",
    "run_shell": "True",
    "read_standard_input": "empty",
    "work_in_threads": "8",
}
# Some of these would end the machine's work if nothing held them back.
GUARD = """
with open("/proc/self/status") as status:
    if "Seccomp:\\t2" not in status.read():
        raise RuntimeError("no filter is in force: too dangerous to go on")
""".strip()
MODULES = "import contextlib, ctypes, fcntl, mmap, os, shutil, signal, socket, subprocess, sys, threading, time"


@dataclass(frozen=True)
class Arena:
    folder: Path
    toolbelt: Toolbelt


@pytest.fixture(scope="module")
def arena(tmp_path_factory: pytest.TempPathFactory, make_tool_source: Callable[..., str]) -> Iterator[Arena]:
    folder = tmp_path_factory.mktemp("arena")
    for name in ("run", "tools"):
        (folder / name).mkdir()
    (folder / "run" / "train.log").write_text("epoch 1 loss nan\n")
    (folder / "secret.txt").write_text("the secret")
    (folder / "run" / "link.txt").symlink_to(folder / "secret.txt")
    bodies = {
        name: f"{GUARD}\n{body}\nreturn Answer(text='it worked')" for name, (body, _) in {**HOSTILE, **NOSY}.items()
    }
    for name, body in {**bodies, **HARMLESS, "greet": 'return Answer(text="hello " + request.text)'}.items():
        (folder / "tools" / f"{name}.py").write_text(make_tool_source(name, body, MODULES))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ANTHROPIC_API_KEY", "sk-secret")
        with Toolbelt(Scope.of(folder / "run"), [folder / "tools"], memory_mb=700) as toolbelt:
            yield Arena(folder, toolbelt)


def test_the_sandbox_is_what_the_kernel_offers(arena: Arena) -> None:
    assert arena.toolbelt.sandbox == ("landlock" if LANDLOCK else "none")


@pytest.mark.parametrize("name", [*HOSTILE, *(NOSY if LANDLOCK else ())])
def test_a_hostile_tool_fails_and_harms_nothing(
    name: str, arena: Arena, fingerprint: Callable[[Path], dict[str, str]], workers_of: Callable[[int], set[int]]
) -> None:
    before = fingerprint(arena.folder)
    slow = name in {"sleep_an_hour", "loop_forever"}
    result = arena.toolbelt.call(name, {"text": "x"}, timeout=0.4 if slow else 15.0)
    assert result.status == "failed"
    reason = {**HOSTILE, **NOSY}[name][1]
    assert re.search(reason, result.reason), result.reason
    assert "secret" not in str(result.output)
    assert fingerprint(arena.folder) == before
    assert not Path("/tmp/traindx-was-here").exists()
    assert not (Path.home() / "traindx-was-here").exists()
    assert len(workers_of(os.getpid())) <= 2
    after = arena.toolbelt.call("greet", {"text": f"after {name}"})
    assert (after.status, after.output.get("text")) == ("ok", f"hello after {name}"), after.reason


@pytest.mark.parametrize("name", HARMLESS)
def test_a_noisy_or_curious_tool_gets_nothing(name: str, arena: Arena) -> None:
    result = arena.toolbelt.call(name, timeout=15.0)
    assert (result.status, result.output.get("text")) == ("ok", EXPECTED[name]), result.reason


def test_no_started_command_is_left() -> None:
    commands = [path.read_bytes() for path in Path("/proc").glob("[0-9]*/cmdline") if path.exists()]
    assert not any(b"4242" in command for command in commands)


def test_a_hostile_tool_cannot_spoil_our_answers(tmp_path: Path, make_tool_source: Callable[..., str]) -> None:
    """A user's tool that patches the worker from inside reaches other tools of the user, but none of ours."""
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "train.log").write_text("the truth\n")
    (tmp_path / "tools").mkdir()
    body = 'traindx.readers.Scope.open = lambda *_: io.BytesIO(b"a lie")\nreturn Answer(text="patched")'
    source = make_tool_source("patch", body, "import io\nimport traindx.readers")
    (tmp_path / "tools" / "patch.py").write_text(source)
    with Toolbelt(Scope.of(tmp_path / "run"), [tmp_path / "tools"]) as toolbelt:
        assert toolbelt.call("patch").output["text"] == "patched"
        assert "the truth" in toolbelt.call("Read", {"path": "train.log"}).output["text"]
