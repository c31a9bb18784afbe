"""What any mind is given, and what it gives back."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol

from traindx.agents import Specialist
from traindx.catalog import FailureMode
from traindx.contract import ContextPackage, Event, Listener, RootCause, Signal, Status, unheard
from traindx.request import Request
from traindx.toolbelt import Belt, ToolResult


@dataclass(frozen=True)
class Case:
    """One specialist's task: the request, the context package, the tools it may use and the catalog."""

    request: Request
    context: ContextPackage
    specialist: Specialist
    belt: Belt
    catalog: Mapping[str, FailureMode]
    listener: Listener = unheard

    async def call(self, tool: str, given: Mapping[str, object] | None = None) -> ToolResult:
        """Run a tool in the worker, telling the listener."""
        self.listener(Event(kind="tool_started", text=tool))
        result = await asyncio.to_thread(self.belt.call, tool, given)
        self.listener(Event(kind="tool_finished", text=f"{tool}: {result.status}"))
        return result


@dataclass(frozen=True)
class Findings:
    """What a mind concluded, before any of it is verified."""

    specialist: str
    status: Status
    causes: list[RootCause] = field(default_factory=list)
    signals: list[Signal] = field(default_factory=list)
    excluded: list[str] = field(default_factory=list)
    questions: list[str] = field(default_factory=list)
    sections: dict[str, str] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)


class Brain(Protocol):
    """A mind. It may be asked about several cases at once."""

    name: str

    async def investigate(self, case: Case) -> Findings:
        """Work through one case with its tools and answer under the specialist's own headings."""
        ...
