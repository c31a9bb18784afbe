"""Joining what several specialists found into one answer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from traindx.contract import (
    OTHER,
    SETTLED,
    SEVERITIES,
    ContextPackage,
    Diagnosis,
    Evidence,
    Provenance,
    RequestSummary,
    RootCause,
    RunSummary,
    Status,
)
from traindx.contract.request import Request
from traindx.diagnosis.findings import Excluded, Findings

PURPOSE = (
    "traindx finds out why a machine-learning training run went wrong: point it at a run folder and say what you see,"
    ' e.g. `traindx diagnose runs/42 -m "loss went up after epoch 7"`'
)

NO_FAILURE = frozenset({"loss-spike-recovered", "val-better-than-train", "resumed-smoothly"})
"""what frightens people in runs that are well"""
MOST_ODD = 2
PROGRAMS = (".py", ".ipynb")
CURVES = "training-monitor"
"""the specialist whose causes show in curves"""
NOTICED = 0.25
"""from here on a possibility is worth a word about a run that is well: `undertrained`, a spike that recovered"""
MOST_NAMED = 3
"""causes and possibilities; likely causes are all named"""


def conclude(
    request: Request,
    context: ContextPackage,
    findings: Sequence[Findings],
    causes: Sequence[RootCause],
    provenance: Provenance,
) -> Diagnosis:
    """One diagnosis from the specialists' findings; `causes` are theirs after verification.

    Who knows the first cause best reports, if it was sent; else the first in the ranking.
    """
    ranked = _ranked(_joined(causes))
    likely = [cause for cause in ranked if cause.likely]
    owners = [one for one in findings if likely and one.specialist == likely[0].specialist]
    lead = (owners or findings)[0]
    status = _status(findings, likely)
    # Nothing is both possible and set aside: why it was set aside says more than a small number.
    aside = {row.id for one in findings for row in one.excluded if row.id and not row.by} if likely else set()
    open_ones = [cause for cause in ranked if not cause.likely and cause.id not in aside]
    shown = [*likely, *open_ones][: max(len(likely), MOST_NAMED)]
    if status == "healthy":
        shown = [cause for cause in shown if cause.confidence >= NOTICED]
    names = {cause.id for cause in likely or shown}
    return Diagnosis(
        status=status,
        summary=_summary(status, shown, context, findings),
        request=_request(request, lead.specialist),
        root_causes=shown,
        excluded=_excluded(findings, {cause.id for cause in shown}, names),
        quick_fixes=[cause.fix.summary for cause in shown if cause.likely],
        answer=_answer(findings, likely),
        questions=_distinct([row for one in findings for row in one.questions]),
        sections=lead.sections,
        missing=context.missing,
        coverage=context.coverage,
        unread=context.unread,
        notable=context.notable,
        provenance=_provenance(provenance, findings),
    )


def out_of_field(request: Request, provenance: Provenance) -> Diagnosis:
    """The answer to a request that is not about a training at all."""
    return Diagnosis(
        status="needs_more_data",
        summary=f"{request.reason}",
        request=_request(request),
        questions=[PURPOSE],
        provenance=provenance,
    )


def several_runs(
    context: ContextPackage,
    folder: Path,
    provenance: Provenance,
    runs: Sequence[RunSummary] = (),
    request: RequestSummary | None = None,
) -> Diagnosis:
    """The answer to several runs none of which shows a cause; `runs` are those of the context, once looked into."""
    rows = list(runs or context.runs)
    failed = [row for row in rows if row.failed]
    healthy = bool(runs) and not failed and all(row.healthy for row in rows)
    said = f"{len(failed)} of them failed" if failed else "none of them shows a failure"
    first = (failed or rows)[0]
    place = folder / (first.files[0] if first.files else first.path)
    return Diagnosis(
        status="healthy" if healthy else "needs_more_data",
        summary=f"The folder contains {len(rows)} runs, and "
        + ("each of them looks healthy." if healthy else f"{said}: choose one."),
        request=request or RequestSummary(kind="unclear", reason="several runs were given"),
        questions=[] if healthy else [f"Which run? For example: `traindx diagnose {place}`"],
        runs=rows,
        missing=context.missing,
        coverage=context.coverage,
        unread=context.unread,
        notable=context.notable,
        provenance=provenance,
    )


def among_several(diagnosis: Diagnosis, runs: Sequence[RunSummary], path: str) -> Diagnosis:
    """The diagnosis of one run, beside how the others went."""
    failed = sum(row.failed for row in runs)
    note = f"the folder contains {len(runs)} runs, {failed} of them failed; this is the diagnosis of `{path}`"
    made = diagnosis.provenance
    made = made.model_copy(update={"notes": [note, *made.notes]})
    return diagnosis.model_copy(update={"runs": list(runs), "provenance": made})


def _request(request: Request, lead: str = "") -> RequestSummary:
    ranked = [row.specialist for row in request.ranking]
    return RequestSummary(
        kind=request.kind,
        symptoms=list(request.symptoms),
        specialists=sorted(ranked, key=lambda name: name != lead),
        reason=request.reason,
    )


def _provenance(provenance: Provenance, findings: Sequence[Findings]) -> Provenance:
    """How the answer came about, with what every brain spent; a model that fell back leaves its cost, not its name."""
    brains = _distinct([one.brain for one in findings if one.brain != "local"])
    return provenance.model_copy(
        update={
            "brain": ", ".join(brains) or provenance.brain,
            "tokens": sum(one.tokens for one in findings),
            "cost_usd": round(sum(one.cost_usd for one in findings), 6),
            "skipped": _distinct([row for one in findings for row in one.skipped]),
            "notes": _distinct([*(row for one in findings for row in one.notes), *provenance.notes]),
        }
    )


def _excluded(findings: Sequence[Findings], shown: set[str], likely: set[str]) -> list[str]:
    """What was set aside, one row for each cause; of what is shown all the same, only who disagrees."""
    rows: dict[str, str] = {}
    for one in findings:
        for row in _set_aside(one, shown, likely):
            name = row.id if isinstance(row, Excluded) and row.id and not row.by else str(row)
            rows[name] = _longer(rows.get(name, ""), str(row))
    return list(rows.values())


def _longer(held: str, row: str) -> str:
    """Of two rows about the same cause the one that says more."""
    return row if len(row) > len(held) else held


def _set_aside(one: Findings, shown: set[str], likely: set[str]) -> list[Excluded | str]:
    """What a specialist excluded; where another one's cause is shown all the same, as the disagreement it is."""
    if one.brain == "local":
        return [row for row in one.excluded if row.id not in shown]
    own = {cause.id for cause in one.causes}
    rows: list[Excluded | str] = []
    for row in one.excluded:
        if row.id not in shown:
            rows.append(row)
        elif row.id not in own and row.id in likely:
            rows.append(replace(row, by=one.specialist))
    if one.status == "healthy" and likely and not own & likely:
        rows.append(f"{one.specialist} disagrees: it calls the run healthy")
    return rows


def _answer(findings: Sequence[Findings], likely: Sequence[RootCause]) -> str:
    """To the user's own question: of the specialist who names the first cause, else of the first who says something."""
    first = likely[0].id if likely else ""
    said = [one for one in findings if one.answer]
    owners = [one for one in said if first in {cause.id for cause in one.causes if cause.likely}]
    return (owners or (said if not first else []) or [Findings("", "partial")])[0].answer


def _rank(cause: RootCause) -> tuple[bool, float, int, int, int, str]:
    """What is verified before what is not, then by confidence, then by how much is verified."""
    held = [piece for piece in cause.evidence if piece.verified and piece.kind != "contrary"]
    direct = sum(piece.kind == "direct" for piece in held)
    return (not held, -cause.confidence, -SEVERITIES.index(cause.severity), -direct, -len(held), cause.id)


def _ranked(causes: Sequence[RootCause]) -> list[RootCause]:
    """The causes in order; one that stands in the program goes before an equally sure one that only curves show."""
    ranked = sorted(causes, key=_rank)
    if not ranked or ranked[0].specialist != CURVES or _in_program(ranked[0]):
        return ranked
    first = next(
        (
            cause
            for cause in ranked
            if _in_program(cause) and cause.specialist != CURVES and cause.severity != SEVERITIES[0]
            if cause.confidence >= ranked[0].confidence
        ),
        ranked[0],
    )
    return [first, *(cause for cause in ranked if cause is not first)]


def _in_program(cause: RootCause) -> bool:
    """Whether a line of the program shows it."""
    return any(p.source.endswith(PROGRAMS) and p.verified and p.kind == "direct" for p in cause.evidence)


def _joined(causes: Sequence[RootCause]) -> list[RootCause]:
    """Equal causes become one: the surest wording, everybody's evidence.

    What one specialist could not show does not hang on to a cause that another one has shown. Causes that the catalog
    does not name are the same where they directly rest on the same place, whatever they are called.
    """
    joined: list[RootCause] = []
    for cause in sorted(causes, key=lambda c: -c.confidence):
        place = next((index for index, held in enumerate(joined) if _is_same(held, cause)), None)
        if place is None:
            joined.append(cause.model_copy(update={"evidence": _all(cause.evidence, [])}))
        else:
            held = joined[place]
            joined[place] = held.model_copy(update={"evidence": _all(held.evidence, _shown(cause, held))})
    return joined


def _is_same(held: RootCause, cause: RootCause) -> bool:
    if OTHER not in {held.id, cause.id}:
        return held.id == cause.id
    if held.id == cause.id and held.title.casefold() == cause.title.casefold():
        return True
    return bool(_direct_places(held) & _direct_places(cause))


def _direct_places(cause: RootCause) -> set[tuple[str, str]]:
    return {piece.place for piece in cause.evidence if piece.kind == "direct" and piece.verified and piece.locator}


def _shown(cause: RootCause, beside: RootCause) -> list[Evidence]:
    proven = any(piece.verified for piece in beside.evidence)
    return [piece for piece in cause.evidence if piece.verified or not proven]


def _all(held: Sequence[Evidence], more: Sequence[Evidence]) -> list[Evidence]:
    """The pieces in order, each place once: what is verified before what is not, and what was said first."""
    places: dict[tuple[object, ...], Evidence] = {}
    for piece in (*held, *more):
        # Two unverified quotes of one place are two claims.
        key = (*piece.place, piece.kind == "contrary", *(() if piece.verified else (piece.quote,)))
        places.setdefault(key, piece)
    return list(places.values())


def _status(findings: Sequence[Findings], likely: Sequence[RootCause]) -> Status:
    if likely:
        if findings[0].status == "needs_more_data" and likely[0].confidence < SETTLED:
            return "needs_more_data"
        return "partial" if any(one.status == "partial" for one in findings) else "diagnosis_complete"
    # The specialist whose field the request is decides between health and ignorance; another's silence does not.
    return "healthy" if findings[0].status == "healthy" else "needs_more_data"


def _summary(status: Status, shown: Sequence[RootCause], context: ContextPackage, findings: Sequence[Findings]) -> str:
    if status == "healthy":
        curves = ", ".join(dict.fromkeys(row.name for row in context.series if row.loss))
        judged = f" (judged by {curves})" if curves else ""
        odd = [signal.claim for one in findings for signal in one.signals if signal.id in NO_FAILURE]
        seen = f" Noted, but not a failure: {'; '.join(_distinct(odd)[:MOST_ODD])}." if odd else ""
        return f"The run looks healthy{judged}; no sign of failure.{seen}"
    if status == "needs_more_data":
        likely = [cause for cause in shown if cause.likely]
        return f"Not settled yet; the likeliest: {likely[0].issue}" if likely else "Not enough data to diagnose."
    return shown[0].issue


def _distinct(rows: Sequence[str]) -> list[str]:
    return list(dict.fromkeys(rows))
