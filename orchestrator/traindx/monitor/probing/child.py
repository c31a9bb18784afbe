"""The child process that a probe runs in: limited, listened to, and ended with everything that it started."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Callable
from pathlib import Path

from pydantic import ValidationError

from traindx.definitions.content import PACKAGE
from traindx.monitor.probing.declaration import PREFIX, Probe
from traindx.monitor.probing.inside import GRACE
from traindx.monitor.probing.scratch import Plan, Scratch
from traindx.monitor.probing.subject import Request, Subject
from traindx.runtime import NoData, ToolResult
from traindx.runtime.sandbox.landlock import landlock_version

# `-c` puts the working folder first on the path, where the user's files could stand in for ours.
_BOOT = "import sys; sys.path[:] = [sys.argv[2], *filter(None, sys.path)]; " + (
    "from traindx.monitor.probing.inside import main; sys.path.pop(0); main(sys.argv[1])"
)
_DEVICES = ("/dev/null", "/dev/zero", "/dev/shm", "/dev/tty", "/dev/nvidiactl", "/dev/nvidia0", "/dev/nvidia-uvm")  # noqa: S108 - loaders share memory there
_LOOK = 0.1
_IMPORTS = 60.0
"""seconds for torch and the script's own imports, before its time begins to count against it here"""
MOST_KEPT = 64 << 10
"""bytes of the child's output"""


def confines() -> bool:
    """Whether this system keeps the child from writing outside its copy."""
    return landlock_version() > 0


def run_child(
    probe: Probe, subject: Subject, plan: Plan, prepare: Callable[[Path], object] | None = None
) -> ToolResult:
    """The probe's answer about a script or target, from a copy of the folder that is thrown away afterwards.

    `prepare` may change the copy before anything runs.
    """
    outputs: list[ToolResult] = []
    for _ in range(probe.repeats if subject.script else 1):
        with Scratch(plan, links=confines()) as scratch:
            if prepare is not None:
                prepare(scratch.copy)
            result = _one(probe, subject, scratch)
            if scratch.left_out and result.status != "ok":
                names = ", ".join(f"`{path}`" for path in scratch.left_out[:3])
                result = result.model_copy(update={"reason": f"{result.reason}; not copied, too large: {names}"})
        if result.status != "ok" or probe.repeats == 1 or not subject.script:
            return result
        outputs.append(result)
    try:
        compared = probe.compare([one.output for one in outputs])
    except NoData as nothing:
        return outputs[0].model_copy(update={"status": "no_data", "output": {}, "reason": str(nothing)})
    seconds = sum(one.seconds for one in outputs)
    return outputs[0].model_copy(update={"output": compared.model_dump(mode="json"), "seconds": round(seconds, 3)})


def _one(probe: Probe, subject: Subject, scratch: Scratch) -> ToolResult:
    result, told = scratch.root / "result.json", scratch.root / "request.json"
    request = Request(
        probe=probe.name,
        script=str(scratch.copy / subject.script) if subject.script else "",
        arguments=list(subject.arguments),
        target=subject.target,
        bounds=subject.bounds,
        writable=[str(scratch.root), *_DEVICES],
        network=subject.network,
        result=str(result),
        parent=os.getpid(),
        seed=0 if probe.repeats > 1 else None,
    )
    told.write_text(request.model_dump_json(), encoding="utf-8")
    process = subprocess.Popen(
        [sys.executable, "-c", _BOOT, str(told), str(PACKAGE.parent)],
        cwd=scratch.copy / subject.start,
        env=_environment(scratch),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        start_new_session=True,
    )
    try:
        kept, why = _listen(process, subject)
    finally:
        _end(process)
    try:
        return ToolResult.model_validate_json(result.read_bytes())
    except (OSError, ValidationError, ValueError):
        return ToolResult(tool=PREFIX + probe.name, status="failed", reason=_reason(process, why, kept))


def _environment(scratch: Scratch) -> dict[str, str]:
    """The user's own, but that nothing is sent to trackers, compiled or written beside the copy."""
    return {
        **os.environ,
        "TMPDIR": str(scratch.temporary),
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONUNBUFFERED": "1",
        "MPLBACKEND": "Agg",
        "WANDB_MODE": "disabled",
        # Compiled code calls no hooks.
        "TORCHDYNAMO_DISABLE": "1",
    }


def _listen(process: subprocess.Popen[bytes], subject: Subject) -> tuple[bytes, str]:
    """Wait for the child; what it printed last, and why it was ended, where it was."""
    kept: deque[bytes] = deque()
    reader = threading.Thread(target=_keep, args=(process, kept), daemon=True)
    reader.start()
    ends = time.monotonic() + subject.bounds.seconds + 3 * GRACE + _IMPORTS
    why = ""
    while process.poll() is None and not why:
        if time.monotonic() > ends:
            why = f"it did not end within {subject.bounds.seconds:g} s"
        elif (held := _memory_mb(process.pid)) > subject.memory_mb:
            why = f"it took {held:,.0f} MB of memory, more than the {subject.memory_mb:,} MB it may"
        else:
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(_LOOK)
    _end(process)
    reader.join(timeout=GRACE)
    return b"".join(kept), why


def _keep(process: subprocess.Popen[bytes], kept: deque[bytes]) -> None:
    """Read all of its output and keep the end, so that the child never waits for a full pipe."""
    if process.stdout is None:
        return
    size = 0
    with process.stdout as stream:
        while piece := os.read(stream.fileno(), 1 << 16):
            kept.append(piece)
            size += len(piece)
            while size - len(kept[0]) > MOST_KEPT:
                size -= len(kept.popleft())


def _memory_mb(pid: int) -> float:
    """What the child and its own children hold."""
    import psutil

    total = 0
    with contextlib.suppress(psutil.Error):
        first = psutil.Process(pid)
        for one in [first, *first.children(recursive=True)]:
            with contextlib.suppress(psutil.Error):
                total += one.memory_info().rss
    return total / (1 << 20)


def _end(process: subprocess.Popen[bytes]) -> None:
    """Kill what is left of the child's group."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def _reason(process: subprocess.Popen[bytes], why: str, kept: bytes) -> str:
    code = process.returncode
    ended = why or (f"it was ended by signal {-code}" if code < 0 else f"it ended with exit code {code}")
    lines = [line.strip() for line in kept.decode("utf-8", "replace").splitlines() if line.strip()]
    said = f"; its last words: {lines[-1][:300]}" if lines else ""
    return f"the script left no answer: {ended}{said}"


def copied_text(plan: Plan) -> str:
    """What is copied, in one line."""
    count = len(plan.copied)
    text = f"a copy of {plan.folder} ({count} file{'s' if count != 1 else ''}, {plan.size / 1000:,.0f} kB)"
    if plan.linked:
        names = ", ".join(str(Path(path)) for path in plan.linked[:3]) + (" …" if len(plan.linked) > 3 else "")
        text += f"; {'only read, not copied' if confines() else 'left out, too large'}: {names}"
    return text
