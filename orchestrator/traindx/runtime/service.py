"""Inside the worker process: give up its powers, then load, describe and run tools, one request after another."""

from __future__ import annotations

import importlib.util
import os
import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from traindx.errors import DefinitionError, TraindxError
from traindx.runtime.declaration import NoData, Task, Tool, ToolOutput, ToolSpec, refusal
from traindx.runtime.discovery import load_tool
from traindx.runtime.protocol import LARGEST_ANSWER, WorkerConfig, frame, frame_text, read_message, write_all
from traindx.runtime.sandbox import Confinement, confine, die_with_parent
from traindx.runtime.sandbox.limits import allow_processor_time
from traindx.runtime.scope import Scope

_EXTRAS = {"torch": "traindx[torch]"}


Tasks = Callable[[Task], Tool | None]
"""finds the function that does a task"""
Open = Callable[[Scope, Callable[[str], None], Path | None], object]
"""makes what the tools look at, out of its scope, a way to tell how far the reading has come, and the project"""
Finish = Callable[[ToolOutput, Any], ToolOutput]
"""completes what a tool has returned, given what the tool looked at"""


def serve(pipes: tuple[int, int], parent: int, tasks: Tasks, open_run: Open, finish: Finish) -> None:
    """Answer requests until the toolbelt closes the pipe; `parent` is the number of its process."""
    requests, answers = pipes
    die_with_parent(parent)
    message = read_message(requests)
    if message is None:
        return
    config = WorkerConfig.parse(message)
    confinement = confine(config)
    write_all(answers, frame({"landlock": confinement.landlock, "seccomp": confinement.seccomp}))
    service = Service(config, confinement, answers, tasks, open_run, finish)
    while (request := read_message(requests)) is not None:
        write_all(answers, service.answer(request))


class Service:
    """The tools this worker has loaded and the run they look at, for as long as the worker lives."""

    def __init__(
        self, config: WorkerConfig, confinement: Confinement, answers: int, tasks: Tasks, open_run: Open, finish: Finish
    ) -> None:
        self._config = config
        self._confinement = confinement
        self._answers = answers
        self._tasks = tasks
        self._finish = finish
        project = Path(config.project) if config.project else None
        scope = Scope(Path(config.root), config.only, config.without, config.attempt, config.stand_ins)
        self._run = open_run(scope, self._tell, project)
        self._tools: dict[tuple[str, str | None], Tool] = {}

    def answer(self, request: dict[str, Any]) -> bytes:
        """The frame that answers a request."""
        name, path = str(request["name"]), request.get("path")
        try:
            loaded = self._load(name, path)
            if request["do"] == "describe":
                return frame({"status": "described", "spec": _spec(loaded, path, request["schemas"]).model_dump()})
            return self._call(loaded, request)
        except DefinitionError as error:
            if request["do"] == "describe":
                return frame({"status": "unloadable", "line": error.line, "problem": error.problem})
            return frame({"status": "failed", "reason": f"cannot be used: {error}"})
        except BaseException as error:  # noqa: BLE001 the worker's boundary: whatever a tool raises becomes its answer
            return frame(self._verdict(error, path))

    def _tell(self, progress: str) -> None:
        write_all(self._answers, frame({"status": "progress", "text": progress}))

    def _load(self, name: str, path: str | None) -> Tool:
        if (name, path) not in self._tools:
            self._tools[name, path] = load_tool(name, Path(path)) if path is not None else self._task(name)
        return self._tools[name, path]

    def _task(self, name: str) -> Tool:
        found = self._tasks(Task(name))
        if found is None:
            raise TraindxError(f"there is no task `{name}`")
        return found

    def _call(self, tool: Tool, request: dict[str, Any]) -> bytes:
        missing = [package for package in tool.packages if not _installed(package)]
        if missing:
            return frame({"status": "failed", "reason": "; ".join(map(_how_to_install, missing))})
        try:
            question = tool.input.model_validate(request["input"])
        except ValidationError as error:
            return frame({"status": "failed", "reason": refusal(tool, error)})
        timeout = tool.timeout if request["timeout"] is None else float(request["timeout"])
        write_all(self._answers, frame({"status": "running", "timeout": timeout}))
        allow_processor_time(timeout)
        output = tool(question, self._run)
        if not isinstance(output, tool.output):
            problem = f"returned `{type(output).__name__}` instead of `{tool.output.__name__}`"
            return frame({"status": "failed", "reason": problem})
        return _answer_with(self._finish(output, self._run).model_dump_json(warnings="error"))

    def _verdict(self, error: BaseException, path: str | None) -> dict[str, Any]:
        if isinstance(error, NoData):
            return {"status": "no_data", "reason": str(error)}
        if isinstance(error, TraindxError):
            return {"status": "failed", "reason": str(error)}
        if isinstance(error, MemoryError) or "can't allocate memory" in str(error):
            # What the run has parsed so far may be what fills the memory: the next call gets a fresh worker.
            reason = f"ran out of memory (limit {self._config.memory_mb} MB)"
            return {"status": "failed", "reason": reason, "spent": True}
        reason = f"{type(error).__name__}: {error}".removesuffix(": ")
        reason = f"{reason if len(reason) <= 500 else reason[:499] + '…'} ({_place(error, path)})"
        if isinstance(error, PermissionError) and self._confinement.any:
            reason += "; a tool may read only the run folder"
        return {"status": "failed", "reason": reason}


def _answer_with(output: str) -> bytes:
    size = len(output.encode())
    if size > LARGEST_ANSWER:
        limit = LARGEST_ANSWER // (1024 * 1024)
        reason = f"answered with {size / 1e6:.0f} MB; the limit is {limit} MB"
        return frame({"status": "failed", "reason": reason})
    return frame_text(f'{{"status": "ok", "output": {output}}}')


def _spec(tool: Tool, path: str | None, schemas: bool) -> ToolSpec:
    return ToolSpec(
        name=tool.name,
        description=tool.description,
        input_schema=tool.input.model_json_schema() if schemas else {},
        output_schema=tool.output.model_json_schema(mode="serialization") if schemas else {},
        needs=list(tool.needs),
        packages=list(tool.packages),
        emits={name: kind.meaning for name, kind in tool.emits.items()},
        groups={name: kind.group for name, kind in tool.emits.items() if kind.group},
        proofs=[name for name, kind in tool.emits.items() if kind.proof],
        required=[name for name, field in tool.input.model_fields.items() if field.is_required()],
        timeout=tool.timeout,
        source=path or "",
    )


def _installed(package: str) -> bool:
    return package in sys.modules or importlib.util.find_spec(package) is not None


def _how_to_install(package: str) -> str:
    return f"needs `{package}`: pip install '{_EXTRAS.get(package, package)}'"


def _place(error: BaseException, path: str | None) -> str:
    """`file.py:line` of the innermost frame inside the tool's own file, or of the innermost one."""
    frames = traceback.extract_tb(error.__traceback__)
    own = [entry for entry in frames if path is not None and entry.filename == path]
    last = (own or frames)[-1]
    return f"{os.path.basename(last.filename)}:{last.lineno}"  # noqa: PTH119 a frame's file name may be no path at all
