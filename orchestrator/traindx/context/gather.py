"""Putting the context package together."""

from __future__ import annotations

from collections.abc import Sequence

from traindx.artifacts import Scope
from traindx.context.survey import Survey
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
    return ContextPackage(
        artifacts=seen.artifacts,
        project=profile,
        missing=[*seen.missing, *remarks],
        run=name,
        series=seen.series,
        settings=seen.settings,
        errors=seen.errors,
        runs=seen.runs,
        traits=seen.traits,
    )
