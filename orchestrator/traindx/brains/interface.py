"""What any brain is given, and what it gives back."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from traindx.agents import Specialist
from traindx.contract import ContextPackage, Event, Listener, null_listener
from traindx.contract.request import Request
from traindx.diagnosis.catalog import Catalog
from traindx.diagnosis.findings import Findings
from traindx.runtime import Toolbelt, ToolResult


class Transcript(Protocol):
    """Where an investigation is written down while it goes on, and read back when it is resumed."""

    def write(self, kind: str, entry: Mapping[str, Any]) -> None:
        """Add an entry."""
        ...

    def recall(self, kind: str, who: str, asked: str = "") -> Mapping[str, Any] | None:
        """The next entry of this kind that an earlier, interrupted investigation left for `who`, if any."""
        ...


class NullTranscript:
    """The transcript of those who keep none."""

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
    toolbelt: Toolbelt
    catalog: Catalog
    listener: Listener = null_listener
    transcript: Transcript = field(default_factory=NullTranscript)
    among: int = 1
    """how many specialists share what the investigation may cost"""

    async def call(self, tool: str, given: Mapping[str, object] | None = None) -> ToolResult:
        """Run a tool in the worker, telling the listener."""
        self.listener(Event(kind="tool_started", text=tool))
        result = await asyncio.to_thread(self.toolbelt.call, tool, given)
        self.listener(Event(kind="tool_finished", text=f"{tool}: {result.status}"))
        return result


class Brain(Protocol):
    """Whoever investigates: the local investigator, or a model."""

    name: str

    async def investigate(self, cases: Sequence[Case]) -> list[Findings]:
        """Work through the cases of the specialists that are sent, lead first; at least one finding comes back."""
        ...
