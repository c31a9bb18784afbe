"""The child's program: it gives up writing elsewhere, then runs the user's code under a probe."""

from __future__ import annotations

import contextlib
import importlib
import os
import random
import runpy
import sys
import threading
import time
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

from traindx.errors import TraindxError
from traindx.monitor.probing.declaration import PREFIX, Probe, ProbeOutput, probe_named
from traindx.monitor.probing.frames import shown_path
from traindx.monitor.probing.instruments import Instruments
from traindx.monitor.probing.subject import Request
from traindx.monitor.probing.watching import Stopped, Watch
from traindx.runtime import NoData, ToolResult

GRACE = 3.0
"""seconds that a stopped script has for its own way out"""


def main(path: str) -> None:
    """Do what the request says; the answer is a file, whatever happens."""
    from traindx.runtime.sandbox import die_with_parent
    from traindx.runtime.sandbox.landlock import forbid_changes

    request = Request.model_validate_json(Path(path).read_bytes())
    die_with_parent(request.parent)
    forbid_changes(request.writable, network=request.network)
    probe = probe_named(request.probe)
    began = time.monotonic()
    with contextlib.suppress(Stopped):
        result = _watched(probe, request) if request.script else _called(probe, request)
        _write(request, result.model_copy(update={"seconds": round(time.monotonic() - began, 3)}))


def _watched(probe: Probe, request: Request) -> ToolResult:
    """Run the script under the probe's watch."""
    make = probe.watch
    if make is None:
        return _failed(probe, f"`{probe.name}` needs objects: give `--target MODULE:FUNCTION`")
    watch = make()
    watch.bounds = request.bounds
    instruments = Instruments(watch)
    _see_to_the_end(instruments, probe, request)
    if request.seed is not None:
        _seed(request.seed)
    sys.argv = [request.script, *request.arguments]
    sys.path.insert(0, str(Path(request.script).resolve().parent))
    trouble = _trouble_of(lambda: instruments.run(lambda: runpy.run_path(request.script, run_name="__main__")))
    result = _answer(probe, watch, [row for row in (trouble, instruments.why) if row])
    if trouble and result.status == "no_data":
        # A script that died cannot be said to have nothing to look at.
        return result.model_copy(update={"status": "failed"})
    return result


def _called(probe: Probe, request: Request) -> ToolResult:
    """Call the probe's function with what the target gives."""
    module, _, name = request.target.partition(":")
    sys.path.insert(0, str(Path.cwd()))
    found: list[Any] = []

    def call() -> None:
        given = getattr(importlib.import_module(module), name)()
        objects = given if isinstance(given, dict) else dict(zip(probe.parameters, _tuple(given), strict=False))
        found.append(probe.function(**objects))

    trouble = _trouble_of(call)
    if found:
        return _ok(probe, found[0])
    if trouble.startswith("no data: "):
        return ToolResult(tool=PREFIX + probe.name, status="no_data", reason=trouble.removeprefix("no data: "))
    return _failed(probe, trouble)


def _answer(probe: Probe, watch: Watch, remarks: list[str]) -> ToolResult:
    said = "; ".join(remarks)
    try:
        output: ProbeOutput = watch.answer()
    except NoData as nothing:
        reason = f"{nothing} ({said})" if said else str(nothing)
        return ToolResult(tool=PREFIX + probe.name, status="no_data", reason=reason)
    return _ok(probe, output.model_copy(update={"remarks": [*output.remarks, *remarks]}))


def _ok(probe: Probe, output: ProbeOutput) -> ToolResult:
    return ToolResult(tool=PREFIX + probe.name, status="ok", output=output.model_dump(mode="json"))


def _failed(probe: Probe, reason: str) -> ToolResult:
    return ToolResult(tool=PREFIX + probe.name, status="failed", reason=reason)


def _trouble_of(work: Callable[[], Any]) -> str:
    """Run it; what it died of in one sentence, with the line of the user's code."""
    try:
        work()
    except SystemExit as ended:
        return f"the script ended with exit code {ended.code}" if ended.code not in {None, 0} else ""
    except Stopped:
        return ""
    except NoData as nothing:
        return f"no data: {nothing}"
    except TraindxError as error:
        return str(error)
    except BaseException as error:  # noqa: BLE001 - the user's code may raise anything; it is reported
        rows = [row for row in traceback.extract_tb(error.__traceback__) if _in_copy(row.filename)]
        where = f" at {shown_path(rows[-1].filename)}:{rows[-1].lineno}" if rows else ""
        text = str(error).strip().partition("\n")[0][:300]
        return f"the script ended with {type(error).__name__}{where}: {text}"
    return ""


def _in_copy(filename: str) -> bool:
    return not filename.startswith("<") and not Path(shown_path(filename)).is_absolute()


def _see_to_the_end(instruments: Instruments, probe: Probe, request: Request) -> None:
    """A script that swallows its own end, or is stuck where no hook reaches it, still leaves an answer."""
    deadline = time.monotonic() + request.bounds.seconds + GRACE

    def wait() -> None:
        while not instruments.why and time.monotonic() < deadline:
            time.sleep(0.1)
        time.sleep(GRACE if instruments.why else 0.0)
        why = instruments.why or f"the script was ended after {request.bounds.seconds:g} s"
        _write(request, _answer(probe, instruments.watch, [why]))
        os._exit(0)

    threading.Thread(target=wait, daemon=True, name="traindx-probe").start()


def _seed(seed: int) -> None:
    import numpy as np
    import torch

    random.seed(seed)
    np.random.seed(seed)
    torch.manual_seed(seed)


def _tuple(given: Any) -> tuple[Any, ...]:
    return tuple(given) if isinstance(given, (tuple, list)) else (given,)


def _write(request: Request, result: ToolResult) -> None:
    target = Path(request.result)
    beside = target.with_suffix(".part")
    beside.write_text(result.model_dump_json(), encoding="utf-8")
    beside.replace(target)
