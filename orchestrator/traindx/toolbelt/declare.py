"""How a tool is declared: a function, its pydantic input and output, and what it needs."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, TypeVar, get_type_hints

from pydantic import Field

from traindx.contract import Signal, Value

if TYPE_CHECKING:
    from traindx.artifacts import Run

Need = Literal["files", "series", "settings", "errors", "code", "checkpoints"]


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
Output = TypeVar("Output", bound=ToolOutput)


@dataclass(frozen=True)
class Tool:
    """A declared tool. The same declaration serves the command line, the brains and the servers."""

    name: str
    description: str
    input: type[ToolInput]
    output: type[ToolOutput]
    function: Callable[[Any, Run], ToolOutput]
    needs: tuple[Need, ...] = ()
    packages: tuple[str, ...] = ()
    emits: Mapping[str, str] = field(default_factory=dict)
    timeout: float = 30.0

    def __call__(self, request: ToolInput, run: Run) -> ToolOutput:
        """Answer a request about a run."""
        return self.function(request, run)


def tool(
    *,
    needs: Sequence[Need] = (),
    packages: Sequence[str] = (),
    emits: Mapping[str, str] | None = None,
    timeout: float = 30.0,
) -> Callable[[Callable[[Input, Run], Output]], Tool]:
    """Declare the decorated function as a tool: its name and docstring are the tool's name and description.

    `needs` names what the run must offer for the tool to make sense, `packages` what must be installed,
    `emits` the signals it may find (id -> what it means), `timeout` the seconds one call may take.
    """

    def declare(function: Callable[[Input, Run], Output]) -> Tool:
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
            emits=dict(emits or {}),
            timeout=timeout,
        )

    return declare


def _is(hint: object, parent: type) -> bool:
    return isinstance(hint, type) and issubclass(hint, parent)
