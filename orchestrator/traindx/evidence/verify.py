"""Marking what could be verified; the verdict is code's, never a brain's."""

from __future__ import annotations

from collections.abc import Sequence

from traindx.contract import Citation, RootCause
from traindx.evidence.model import Verdicts
from traindx.evidence.policy import judged
from traindx.toolbelt import Belt

REOPEN = "traindx.evidence.reopen:reopen"


def verify(causes: Sequence[RootCause], belt: Belt) -> list[RootCause]:
    """The causes with every citation opened again and the confidence capped by what was found."""
    cited = [piece for cause in causes for piece in cause.evidence]
    if not cited:
        return [judged(cause) for cause in causes]
    question = [
        Citation(claim=piece.claim, source=piece.source, locator=piece.locator, quote=piece.quote).model_dump(
            mode="json"
        )
        for piece in cited
    ]
    result = belt.call(REOPEN, {"citations": question})
    # A reader that failed has verified nothing: every piece then counts as unverified.
    opened = (
        [verdict.verified for verdict in Verdicts.model_validate(result.output).verdicts]
        if result.status == "ok"
        else []
    )
    marks = iter(opened or [False] * len(cited))
    return [
        judged(
            cause.model_copy(
                update={"evidence": [p.model_copy(update={"verified": next(marks)}) for p in cause.evidence]}
            )
        )
        for cause in causes
    ]
