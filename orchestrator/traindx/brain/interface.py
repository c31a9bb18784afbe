"""What any mind is given, and what it gives back."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from traindx.agents import Specialist
from traindx.catalog import FailureMode
from traindx.contract import ContextPackage, Event, Listener, RootCause, Signal, Status, unheard
from traindx.request import Request
from traindx.toolbelt import Belt, ToolResult


class Journal(Protocol):
    """Where an investigation is written down while it goes on, and read back when it is resumed."""

    def write(self, kind: str, entry: Mapping[str, Any]) -> None:
        """Add an entry."""
        ...

    def recall(self, kind: str, who: str, asked: str = "") -> Mapping[str, Any] | None:
        """The next entry of this kind that an earlier, interrupted investigation left for `who`, if any."""
        ...


class Unwritten:
    """The journal of those who keep none."""

    def write(self, kind: str, entry: Mapping[str, Any]) -> None:
        """Forget it."""

    def recall(self, kind: str, who: str, asked: str = "") -> Mapping[str, Any] | None:  # noqa: ARG002
        """Nothing was written."""
        return None


@dataclass(frozen=True)
class Case:
    """One specialist's task: the request, the context package, the tools it may use and the catalog."""

    request: Request
    context: ContextPackage
    specialist: Specialist
    belt: Belt
    catalog: Mapping[str, FailureMode]
    listener: Listener = unheard
    journal: Journal = field(default_factory=Unwritten)
    among: int = 1
    """how many specialists share what the investigation may cost"""

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
    brain: str = "local"
    """the mind whose words these are"""
    tokens: int = 0
    cost_usd: float = 0.0


class Brain(Protocol):
    """A mind. It may be asked about several cases at once."""

    name: str

    async def investigate(self, case: Case) -> Findings:
        """Work through one case with its tools and answer under the specialist's own headings."""
        ...
