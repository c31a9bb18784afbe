"""The definitions a request needs: who can be sent, and what can be wrong."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from traindx.agents import Specialist, load_specialists
from traindx.brains.local.user_reports import VOCABULARY
from traindx.contract import ContextPackage
from traindx.definitions.project import Project
from traindx.definitions.rules import CodeRule, ErrorPattern, load_rules
from traindx.diagnosis.catalog import Catalog, load_catalog
from traindx.diagnosis.signals import SignalRegistry
from traindx.errors import UnknownName
from traindx.pipeline.request import AgentBrief, Ranked, Request, understand
from traindx.runtime import ToolSpec, tool_names


@dataclass(frozen=True)
class Registry:
    """Specialists by name, failure modes by id."""

    specialists: Mapping[str, Specialist]
    catalog: Catalog

    @classmethod
    def load(cls, project: Project) -> Registry:
        """Ours and the project's own."""
        tools = tool_names([project.tools] if project.tools else [])
        agents = load_specialists(tools, [project.agents] if project.agents else [])
        return cls(agents, load_catalog([project.failure_modes] if project.failure_modes else []))

    def check_signals(self, specs: Mapping[str, ToolSpec], project: Project) -> None:
        """Raise `DefinitionError` where a failure mode of the project names a signal that nothing finds."""
        own = self.catalog.of_the_project
        if own:
            found = {rule.name: rule.means for rule in load_rules(ErrorPattern, project.home)}
            found |= {rule.name: rule.means for rule in load_rules(CodeRule, project.home)}
            SignalRegistry.of(specs, {**VOCABULARY, **found}).check(own)

    def understand(self, message: str, context: ContextPackage, specialist: str | None) -> Request:
        """The request, with the specialist the user insists on in the lead."""
        if specialist is not None and specialist not in self.specialists:
            raise UnknownName("specialist", specialist, self.specialists)
        briefs = [AgentBrief(one.name, one.definition.description) for one in self.specialists.values()]
        request = understand(message, context, briefs)
        if specialist is None:
            return request
        return replace(request, about_training=True, ranking=(Ranked(specialist, 1.0, "you asked for it"),))
