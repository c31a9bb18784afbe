"""Putting the context package together."""

from __future__ import annotations

from collections.abc import Sequence

from traindx.artifacts import Scope
from traindx.context.model import Survey
from traindx.contract import Artifacts, ContextPackage, ProjectProfile
from traindx.toolbelt import Belt

SURVEY = "traindx.context.survey:survey"


def gather(
    belt: Belt, scope: Scope, profile: ProjectProfile | None = None, remarks: Sequence[str] = ()
) -> ContextPackage:
    """Look over the run folder; a survey that fails leaves a package that says so instead of an error."""
    name = scope.name
    result = belt.call(SURVEY)
    if result.status != "ok":
        return ContextPackage(
            artifacts=Artifacts(),
            project=profile,
            run=name,
            missing=[*remarks, f"the run folder could not be read: {result.reason}"],
        )
    seen = Survey.model_validate(result.output)
    parts = {name: getattr(seen, name) for name in Survey.model_fields if name not in {"signals", "missing"}}
    return ContextPackage(**parts, project=profile, run=name, missing=[*seen.missing, *remarks])
