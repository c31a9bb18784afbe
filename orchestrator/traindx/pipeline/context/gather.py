"""Putting the context package together."""

from __future__ import annotations

from collections.abc import Sequence

from traindx.contract import Artifacts, ContextPackage, ProjectProfile
from traindx.pipeline.context.model import SURVEY, Survey
from traindx.readers import Scope
from traindx.runtime import Toolbelt


def gather(
    toolbelt: Toolbelt, scope: Scope, profile: ProjectProfile | None = None, remarks: Sequence[str] = ()
) -> ContextPackage:
    """Look over the run folder; a survey that fails leaves a package that says so instead of an error."""
    name = scope.name
    result = toolbelt.run(SURVEY)
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
