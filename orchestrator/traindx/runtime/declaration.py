"""How a tool is declared: a function, its pydantic input and output, and what it needs."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, TypeVar, get_type_hints

from pydantic import Field, ValidationError
from pydantic_core import ErrorDetails

from traindx.contract import Signal, SignalKind, Value
from traindx.errors import nearest

Need = Literal["files", "series", "settings", "errors", "code", "checkpoints", "probes"]


class ToolInput(Value):
    """What a tool is asked. Each field carries a description: it becomes the JSON schema and the command's options."""


class ToolOutput(Value):
    """What a tool answers; the signals are its findings.

    A field `pictures` (`svg` as text, `png` in base64) is what `traindx tool NAME PATH --out FILE` writes.
    """

    signals: list[Signal] = Field(default_factory=list)


class NoData(Exception):
    """Raised by a tool that could look and found nothing to look at; the message says for what and where."""


Input = TypeVar("Input", bound=ToolInput)
Subject = TypeVar("Subject")
"""what a tool looks at: a `Run`"""
Output = TypeVar("Output", bound=ToolOutput)


@dataclass(frozen=True)
class Task:
    """Work of the engine itself that is done in the worker; `traindx.worker` says which function does it."""

    name: str


@dataclass(frozen=True)
class Tool:
    """A declared tool. The same declaration serves the command line, the brains and the servers."""

    name: str
    description: str
    input: type[ToolInput]
    output: type[ToolOutput]
    function: Callable[[Any, Any], ToolOutput]
    needs: tuple[Need, ...] = ()
    packages: tuple[str, ...] = ()
    emits: Mapping[str, SignalKind] = field(default_factory=dict)
    timeout: float = 30.0

    def __call__(self, request: ToolInput, run: object) -> ToolOutput:
        """Answer a request about a run."""
        return self.function(request, run)


def tool(
    *,
    needs: Sequence[Need] = (),
    packages: Sequence[str] = (),
    emits: Mapping[str, str | SignalKind] | None = None,
    timeout: float = 30.0,
) -> Callable[[Callable[[Input, Subject], Output]], Tool]:
    """Declare the decorated function as a tool: its name and docstring are the tool's name and description.

    `needs` names what the run must offer for the tool to make sense, `packages` what must be installed,
    `emits` the signals it may find (id -> what it means, or a `SignalKind` with its group), `timeout` the seconds that
    one call may take.
    """

    def declare(function: Callable[[Input, Subject], Output]) -> Tool:
        hints = get_type_hints(function)
        names = list(inspect.signature(function).parameters)
        if len(names) != 2 or not _is(hints.get(names[0]), ToolInput) or not _is(hints.get("return"), ToolOutput):
            what = "a tool takes a ToolInput and a Run and returns a ToolOutput, all annotated"
            raise TypeError(f"{what}: `{function.__name__}` does not")
        description = inspect.cleandoc(function.__doc__ or "")
        if not description:
            raise TypeError(f"a tool's docstring is its description: `{function.__name__}` has none")
        return Tool(
            name=function.__name__,
            description=description,
            input=hints[names[0]],
            output=hints["return"],
            function=function,
            needs=tuple(needs),
            packages=tuple(packages),
            emits={
                name: kind if isinstance(kind, SignalKind) else SignalKind(kind) for name, kind in (emits or {}).items()
            },
            timeout=timeout,
        )

    return declare


def _is(hint: object, parent: type) -> bool:
    return isinstance(hint, type) and issubclass(hint, parent)


class ToolResult(Value):
    """`ok` with an output, `no_data` with what was looked for and where, or `failed` with the reason."""

    tool: str
    status: Literal["ok", "no_data", "failed"]
    output: dict[str, Any] = Field(default_factory=dict)
    reason: str = ""
    seconds: float = 0.0

    @property
    def signals(self) -> list[Signal]:
        """The findings, each marked with the tool that made it."""
        return [Signal.model_validate({**raw, "tool": self.tool}) for raw in self.output.get("signals", [])]


class ToolSpec(Value):
    """A tool as seen from outside the worker."""

    name: str
    description: str
    input_schema: dict[str, Any]
    output_schema: dict[str, Any]
    needs: list[str] = Field(default_factory=list)
    packages: list[str] = Field(default_factory=list)
    emits: dict[str, str] = Field(default_factory=dict, description="signals it may find, with what they mean")
    groups: dict[str, str] = Field(default_factory=dict, description="signal -> its exclusive group, where it has one")
    proofs: list[str] = Field(default_factory=list, description="signals that prove a fault of the program itself")
    required: list[str] = Field(default_factory=list, description="fields of the input that have no default")
    timeout: float = 30.0
    source: str = Field(description="the file that declares it")


_MOST = 4


def refusal(tool: Tool, error: ValidationError) -> str:
    """What is wrong with the input of `tool`, field by field, and which fields there are."""
    return refusal_of(tool.name, tool.input, error)


def refusal_of(name: str, model: type[ToolInput], error: ValidationError) -> str:
    """What is wrong with an input of this form, field by field, and which fields there are."""
    fields = list(model.model_fields)
    details = error.errors(include_url=False)
    problems = [_problem(detail, fields) for detail in details[:_MOST]]
    if len(details) > _MOST:
        problems.append(f"and {len(details) - _MOST} more")
    known = f"it takes {', '.join(f'`{field}`' for field in fields)}" if fields else "it takes no input"
    return f"bad input for `{name}`: {'; '.join(problems)} ({known})"


def _problem(detail: ErrorDetails, fields: list[str]) -> str:
    place = ".".join(str(part) for part in detail["loc"])
    if detail["type"] == "extra_forbidden":
        close = nearest(place, fields)
        return f"there is no field `{place}`" + (f", did you mean `{close}`?" if close else "")
    if detail["type"] == "missing":
        return f"`{place}` is missing"
    what = detail["msg"][:1].lower() + detail["msg"][1:]
    if not place:
        return what
    given = repr(detail["input"])
    return f"`{place}`: {what}, not {given if len(given) <= 60 else given[:57] + '…'}"
