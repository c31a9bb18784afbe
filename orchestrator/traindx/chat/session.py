"""What is being talked about: the open run, its diagnosis, and everything that was said."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from traindx.api import Choices, load_registry, open_session
from traindx.brains.local.user_reports import VOCABULARY
from traindx.chat.memory import Remembered, Turn
from traindx.contract import ContextPackage, Diagnosis, RequestSummary, RootCause, Signal
from traindx.diagnosis.catalog import Catalog
from traindx.diagnosis.scoring import Belief, weigh
from traindx.diagnosis.signals import SignalRegistry
from traindx.diagnosis.weights import load_weights
from traindx.pipeline.registry import Registry
from traindx.pipeline.session import Session
from traindx.report.render import Page
from traindx.runtime import ToolResult

NOTHING_YET = Diagnosis(status="needs_more_data", request=RequestSummary(kind="unclear"))


class Leave(Exception):
    """The user ends the chat; carries the last words."""


@dataclass
class ChatSession:
    """A run that stays open. Whatever an answer says comes from here: the diagnosis, or a tool."""

    paths: list[str]
    choices: Choices
    page: Page
    stop: asyncio.Event
    message: str = ""
    diagnosis: Diagnosis = NOTHING_YET
    turns: list[Turn] = field(default_factory=list)
    case_file: str = ""
    resumed: Remembered | None = None
    """the chat that was taken up and of which the model does not know yet"""
    tokens_before: int = 0
    cost_before: float = 0.0
    cost_of_earlier: float = 0.0
    """of the chat that was taken up: it does not count against today's budget"""
    _held: contextlib.AsyncExitStack = field(default_factory=contextlib.AsyncExitStack)
    _session: Session | None = None
    _registry: Registry | None = None
    _context: ContextPackage | None = None
    _signals: list[Signal] | None = None
    budget: float | None = None
    """what a model may cost in this sitting"""

    @property
    def session(self) -> Session:
        """The open run."""
        if self._session is None:
            raise RuntimeError("the run is not open")
        return self._session

    @property
    def registry(self) -> Registry:
        """The specialists and the catalog, the project's own too."""
        if self._registry is None:
            self._registry = load_registry(self.session.run.project)
        return self._registry

    @property
    def catalog(self) -> Catalog:
        """Failure modes by id."""
        return self.registry.catalog

    async def open(self) -> None:
        """Open the run, or open it again to see what has been added to it."""
        held = contextlib.AsyncExitStack()
        session = await held.enter_async_context(open_session(self.paths, self.stop, **self.choices))
        await self.close()
        self._held, self._session = held, session
        self._registry = self._context = self._signals = None
        self.budget = self._session.claude.options.max_usd if self._session.claude is not None else None

    async def close(self) -> None:
        """End the workers and the connections; what was spent stays counted."""
        if self._session is not None:
            self.tokens_before, self.cost_before = self.tokens, self.cost_usd
            self._session = None
        await self._held.aclose()

    async def diagnose(self, message: str, specialist: str | None = None) -> Diagnosis:
        """A diagnosis for this message; what is left of the dollars is what it may cost."""
        brain = self.session.claude
        if brain is not None and self.budget is not None:
            left = self.budget - (self.cost_usd - self.cost_of_earlier)
            brain.options = replace(brain.options, max_usd=max(0.0, left))
        self.diagnosis = await self.session.diagnose(message, specialist)
        self.message, self._signals, self.resumed = message, None, None
        return self.diagnosis

    @property
    def with_model(self) -> bool:
        """Whether questions go to a model."""
        return self.session.claude is not None

    @property
    def model(self) -> str:
        """The model that answers."""
        brain, led = self.session.claude, self._led()
        return brain.investigations[led].conversation.model if brain is not None and led else "local"

    async def ask(self, question: str) -> str:
        """The model's answer; raises `TraindxError` where none comes."""
        if self.resumed is not None:
            said = "\n\n".join(f"User: {turn.asked}\nAnswer: {turn.answered}" for turn in self.turns)
            await self.session.rejoin(self.message, self.diagnosis, said)
            self.resumed = None
        return await self.session.ask(question, self._led())

    def _led(self) -> str | None:
        """The specialist who knows most about the latest diagnosis."""
        asked = self.session.claude.investigations if self.session.claude is not None else {}
        return next((name for name in self.diagnosis.request.specialists if name in asked), None)

    async def call(self, tool: str, given: Mapping[str, object] | None = None) -> ToolResult:
        """What a tool says; asked again, the same question costs nothing."""
        return await asyncio.to_thread(self.session.run.toolbelt.call, tool, given or {})

    async def context(self) -> ContextPackage:
        """What the run left behind."""
        if self._context is None:
            self._context = await self.session.context()
        return self._context

    async def signals(self) -> list[Signal]:
        """The findings of the tools that the diagnosis used."""
        if self._signals is None:
            used = dict.fromkeys(use.tool for use in self.diagnosis.provenance.tools if use.status == "ok")
            specs = await asyncio.to_thread(self.session.run.toolbelt.specs)
            results = [await self.call(name) for name in used if name in specs and specs[name].emits]
            self._signals = [signal for result in results if result.status == "ok" for signal in result.signals]
        return self._signals

    async def belief(self, id: str) -> Belief | None:  # noqa: A002 - what the contract calls it
        """How far the findings support a failure mode of the catalog."""
        specs = await asyncio.to_thread(self.session.run.toolbelt.specs)
        registry = SignalRegistry.of(specs, VOCABULARY)
        return weigh(self.catalog, await self.signals(), registry, load_weights()).of(id)

    def cause(self, number: int = 1) -> RootCause | None:
        """A cause by its number in the report."""
        causes = self.diagnosis.root_causes
        return causes[number - 1] if 0 < number <= len(causes) else None

    @property
    def tokens(self) -> int:
        """Of the whole chat."""
        brain = self._session.claude if self._session is not None else None
        return self.tokens_before + (brain.tokens if brain is not None else 0)

    @property
    def cost_usd(self) -> float:
        """Of the whole chat."""
        brain = self._session.claude if self._session is not None else None
        return self.cost_before + (brain.cost_usd if brain is not None else 0.0)

    def remembered(self) -> Remembered:
        """The chat as it is kept."""
        kept = self._session.case_file if self._session is not None else None
        return Remembered(
            paths=[str(Path(path).resolve()) for path in self.paths],
            message=self.message,
            diagnosis=self.diagnosis,
            turns=self.turns,
            case_file=str(kept or self.case_file),
            tokens=self.tokens,
            cost_usd=round(self.cost_usd, 6),
        )
