"""Putting the context package together."""

from __future__ import annotations

from collections.abc import Sequence

from traindx.contract import ContextPackage, ProjectProfile
from traindx.contract.remark import Notable, notable_of
from traindx.errors import InternalFault
from traindx.pipeline.context.model import SURVEY, Survey
from traindx.readers import Scope
from traindx.runtime import Toolbelt
from traindx.runtime.toolbelt import WITHHELD


def gather(
    toolbelt: Toolbelt, scope: Scope, profile: ProjectProfile | None = None, remarks: Sequence[str] = ()
) -> ContextPackage:
    """Look over the run folder; raises `InternalFault` where that fails, which is not the same as finding nothing."""
    name = scope.name
    result = toolbelt.run(SURVEY)
    if result.status != "ok":
        raise InternalFault(f"`{name}` could not be looked over: {result.reason}")
    withheld = toolbelt.withheld
    if withheld:
        names = ", ".join(f"`{tool}`" for tool in withheld)
        remarks = [*remarks, Notable(f"the project's own tools {names} were {WITHHELD}")]
    seen = Survey.model_validate(result.output)
    parts = {name: getattr(seen, name) for name in Survey.model_fields if name not in {"signals", "missing", "notable"}}
    return ContextPackage(
        **parts,
        project=profile,
        run=name,
        missing=[*seen.missing, *remarks],
        notable=[*notable_of(remarks), *seen.notable],
    )
