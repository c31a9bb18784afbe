"""The toolbelt: every tool, ready to be called. Tools live in worker processes; this process never imports one."""

from __future__ import annotations

import contextlib
import json
import threading
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Literal

from pydantic import ValidationError

from traindx.contract import ToolUse
from traindx.errors import DefinitionError, InternalFault, TraindxError, UnknownName, WorkerUnavailable
from traindx.runtime.compiled import read_compiled
from traindx.runtime.declaration import Task, ToolResult, ToolSpec
from traindx.runtime.discovery import find_tools, is_own
from traindx.runtime.launch import import_folders
from traindx.runtime.process import Progress, WorkerLost, WorkerProcess
from traindx.runtime.protocol import WorkerConfig, json_text
from traindx.runtime.sandbox.readable import readable_paths
from traindx.runtime.scope import Scope

Sandbox = Literal["landlock", "none"]
Party = Literal["own", "guest"]
WITHHELD = "not run: this system has no sandbox for a project's own tools (`--allow-unsandboxed-tools` runs them)"

# A toolbelt lives as long as one diagnosis: answers up to this size are worth keeping for the next who asks the same.
_KEPT_CHARACTERS = 256 * 1024


class Toolbelt:
    """The tools of one scope. Calls may come from several threads and are served one after another.

    Our tools and a user's tools run in two different workers: a hostile file in `.traindx/tools/` can spoil its own
    answers, but neither ours nor the check of a citation.
    """

    def __init__(
        self,
        scope: Scope,
        tool_folders: Sequence[Path] = (),
        *,
        project: Path | None = None,
        memory_mb: int = 4096,
        progress: Progress | None = None,
        unsandboxed: bool = False,
    ) -> None:
        self.scope = scope
        self.unsandboxed = unsandboxed
        """whether a user's own tools may run where nothing confines them"""
        self._progress = progress
        self.problems: list[DefinitionError] = []
        self.uses: list[ToolUse] = []
        self._folders = [Path(folder).resolve() for folder in tool_folders]
        self._found = find_tools(self._folders)
        self._memory_mb = memory_mb
        self._project = project
        self._workers: dict[Party, WorkerProcess] = {}
        self._specs: dict[str, ToolSpec] | None = None
        self._answers: dict[tuple[str | Task, str], ToolResult] = {}
        self._with_schemas = False
        self._sandbox: Sandbox | None = None
        self._lock = threading.RLock()
        self._closed = False

    def __enter__(self) -> Toolbelt:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def start(self) -> None:
        """Start the worker without waiting for it, so that the first call finds it ready."""
        with self._lock, contextlib.suppress(WorkerLost):
            self._worker("own")

    @property
    def withheld(self) -> list[str]:
        """The user's own tools that are not run, because nothing would confine them here."""
        own = [name for name, path in self._found.tools.items() if _party(path) == "guest"]
        return sorted(own) if own and not self.unsandboxed and self.sandbox == "none" else []

    @property
    def sandbox(self) -> Sandbox:
        """What confines the tools: `landlock` only when every worker so far said that it is enforced."""
        with self._lock:
            if self._sandbox is None and not self._closed:
                with contextlib.suppress(WorkerLost):
                    self._greet("own")
            return self._sandbox or "none"

    def specs(self, *, schemas: bool = True) -> dict[str, ToolSpec]:
        """Every tool that can be loaded, described; `problems` then holds the files that cannot.

        Without `schemas` those of input and output may be left empty: they take longer than all the rest.
        """
        with self._lock:
            if self._specs is None or (schemas and not self._with_schemas):
                self._specs, self._with_schemas = self.described(schemas=schemas, compiled=not schemas), schemas
            return self._specs

    def described(self, *, schemas: bool = False, compiled: bool = False) -> dict[str, ToolSpec]:
        """Ask every tool for its declaration, but for those of ours that were `compiled`."""
        known = read_compiled() if compiled else {}
        problems = list(self._found.problems)
        found: dict[str, ToolSpec] = {}
        withheld = self.withheld
        offered = {name: path for name, path in self._found.tools.items() if name not in withheld}
        asked = {name: path for name, path in offered.items() if not (name in known and is_own(path))}
        for party in {_party(path) for path in asked.values()}:
            with contextlib.suppress(WorkerLost):
                self._worker(party)
        for name, path in offered.items():
            try:
                found[name] = self._describe(name, path, schemas) if name in asked else known[name]
            except DefinitionError as error:
                problems.append(error)
        self.problems = problems
        return found

    def call(
        self,
        name: str,
        input: Mapping[str, object] | None = None,  # noqa: A002 the word every tool protocol uses
        *,
        timeout: float | None = None,
    ) -> ToolResult:
        """Call a tool; whatever happens is in the result."""
        with self._lock:
            result, fresh = self._kept_or_new(name, input, timeout)
            if fresh:
                use = ToolUse(tool=name, status=result.status, reason=result.reason, seconds=result.seconds)
                self.uses.append(use)
            return result

    def run(self, task: Task, input: Mapping[str, object] | None = None) -> ToolResult:  # noqa: A002 as in `call`
        """Have the worker do a task of the engine: no tool, so that no list of tools mentions it."""
        with self._lock:
            return self._kept_or_new(task, input)[0]

    def _kept_or_new(
        self, what: str | Task, given: Mapping[str, object] | None, timeout: float | None = None
    ) -> tuple[ToolResult, bool]:
        """The answer, and whether it is a new one."""
        name = what if isinstance(what, str) else what.name
        try:
            asked = json_text(dict(given or {}))
        except (TypeError, ValueError, RecursionError) as error:
            return _failed(name, f"the input is not JSON: {error}"), True
        if (what, asked) in self._answers:
            return self._answers[what, asked], False
        started = time.monotonic()
        result = self._answer(what, json.loads(asked), timeout)
        result = result.model_copy(update={"seconds": round(time.monotonic() - started, 4)})
        if result.status != "failed" and len(str(result.output)) <= _KEPT_CHARACTERS:
            self._answers[what, asked] = result
        return result, True

    def close(self) -> None:
        """End the workers. A call that is under way in another thread comes back as failed."""
        self._closed = True
        for worker in list(self._workers.values()):
            worker.end()
        with self._lock:
            for worker in self._workers.values():
                worker.bury()
            self._workers.clear()

    def _answer(self, what: str | Task, given: dict[str, object], timeout: float | None) -> ToolResult:
        name = what if isinstance(what, str) else what.name
        request: dict[str, Any] = {"do": "call", "name": name, "input": given, "timeout": timeout}
        party: Party = "own"
        if isinstance(what, str):
            if name not in self._found.tools:
                return _failed(name, str(UnknownName("tool", name, self._found.tools)))
            path = self._found.tools[name]
            request["path"] = str(path)
            party = _party(path)
            if party == "guest" and name in self.withheld:
                return _failed(name, WITHHELD)
        try:
            answer = self._ask(party, request, timeout)
        except WorkerLost as lost:
            why = "the toolbelt was closed" if self._closed else str(lost)
            return _failed(name, f"{why} ({_asked(given)})" if "no answer within" in why else why)
        except InternalFault:
            raise
        except TraindxError as error:
            return _failed(name, str(error))
        return _result(name, answer)

    def _describe(self, name: str, path: Path, schemas: bool) -> ToolSpec:
        try:
            answer = self._ask(_party(path), {"do": "describe", "name": name, "path": str(path), "schemas": schemas})
        except WorkerLost as lost:
            raise DefinitionError(path, 1, f"cannot be loaded: {lost}") from None
        if answer.get("status") == "described":
            try:
                return ToolSpec.model_validate({**answer["spec"], "name": name, "source": str(path)})
            except (ValidationError, KeyError, TypeError) as error:
                raise DefinitionError(path, 1, f"has an invalid description: {_shortened(str(error))}") from None
        line = answer.get("line")
        problem = answer.get("problem") or f"cannot be loaded: {answer.get('reason')}"
        raise DefinitionError(path, line if isinstance(line, int) else 1, _shortened(str(problem)))

    def _ask(self, party: Party, request: Mapping[str, Any], timeout: float | None = None) -> dict[str, Any]:
        self._greet(party)
        worker = self._workers[party]
        try:
            answer = worker.ask(request, timeout, self._progress)
        except WorkerLost:
            self._forget(party)
            raise
        if answer.get("spent"):
            self._forget(party)
        return answer

    def _greet(self, party: Party) -> None:
        worker = self._worker(party)
        try:
            hello = worker.hello()
        except WorkerLost as lost:
            self._forget(party)
            raise self._cannot_start(lost) from None
        enforced = hello.get("landlock") is True and self._sandbox != "none"
        self._sandbox = "landlock" if enforced else "none"

    def _worker(self, party: Party) -> WorkerProcess:
        if self._closed:
            raise WorkerLost("the toolbelt was closed")
        worker = self._workers.get(party)
        if worker is not None and not worker.alive:
            self._forget(party)
            worker = None
        if worker is None:
            readable = readable_paths(
                self.scope, import_folders(), [*self._folders, *([self._project] if self._project else [])]
            )
            home = str(self._project or "")
            scope = self.scope
            config = WorkerConfig(
                str(scope.root),
                scope.only,
                tuple(readable),
                self._memory_mb,
                scope.without,
                home,
                scope.attempt,
                scope.stand_ins,
            )
            try:
                worker = self._workers[party] = WorkerProcess(config)
            except (OSError, RuntimeError) as error:
                raise self._cannot_start(error) from None
            # `close` may have come from another thread while this one was busy starting.
            if self._closed:
                self._forget(party)
                raise WorkerLost("the toolbelt was closed")
        return worker

    def _cannot_start(self, why: Exception) -> Exception:
        """The first worker of all is needed for any answer; without a later one a call has failed."""
        said = why.strerror.lower() if isinstance(why, OSError) and why.strerror else str(why)
        if self._sandbox is None and not self._closed:
            return WorkerUnavailable(f"the process that reads the run cannot start: {said}")
        return WorkerLost(f"the tool worker cannot start: {said}")

    def _forget(self, party: Party) -> None:
        worker = self._workers.pop(party, None)
        if worker is not None:
            worker.bury()


def _party(path: Path) -> Party:
    return "own" if is_own(path) else "guest"


def _failed(name: str, reason: str) -> ToolResult:
    return ToolResult(tool=name, status="failed", reason=reason)


def _result(name: str, answer: Mapping[str, Any]) -> ToolResult:
    known = {key: answer[key] for key in ("status", "output", "reason") if key in answer}
    if isinstance(known.get("reason"), str):
        known["reason"] = _shortened(known["reason"])
    try:
        result = ToolResult.model_validate({"tool": name, **known})
        _ = result.signals
    except (ValidationError, TypeError):
        return _failed(name, "answered with something that is not a tool result")
    return result


def _asked(given: Mapping[str, object]) -> str:
    text = ", ".join(f"{key}={value!r}" for key, value in given.items())
    return f"asked with {_shortened(text, 200)}" if text else "asked with no input"


def _shortened(text: str, most: int = 2000) -> str:
    return text if len(text) <= most else text[: most - 1] + "…"
