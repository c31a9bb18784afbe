"""The definitions a request needs: who can be sent, and what can be wrong."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from traindx.agents import Specialist, load_specialists
from traindx.contract import ContextPackage
from traindx.definitions.project import Project
from traindx.diagnosis.catalog import Catalog, load_catalog
from traindx.errors import UnknownName
from traindx.pipeline.request import AgentBrief, Ranked, Request, understand
from traindx.runtime import tool_names


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

    def understand(self, message: str, context: ContextPackage, specialist: str | None) -> Request:
        """The request, with the specialist the user insists on in the lead."""
        if specialist is not None and specialist not in self.specialists:
            raise UnknownName("specialist", specialist, self.specialists)
        briefs = [AgentBrief(one.name, one.definition.description) for one in self.specialists.values()]
        request = understand(message, context, briefs)
        if specialist is None:
            return request
        return replace(request, about_training=True, ranking=(Ranked(specialist, 1.0, "you asked for it"),))
