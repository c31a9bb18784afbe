"""From what the model submitted to causes of the contract: every part that holds, and what is wrong with the rest."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from traindx.brains.interface import Case
from traindx.brains.llm.submission import LeadVerdict, Section, SubmittedCause, SubmittedEvidence, SubmittedFix
from traindx.contract import LIKELY, OTHER, Evidence, Fact, Fix, RootCause, Signal, Status
from traindx.diagnosis.catalog import FailureMode
from traindx.diagnosis.checks.fill import filled
from traindx.diagnosis.evidence import opened
from traindx.diagnosis.evidence.fixes import objections
from traindx.diagnosis.findings import Contested, Excluded
from traindx.diagnosis.neighbours import meant
from traindx.diagnosis.wording import fix_for

MOST_CAUSES, MOST_EVIDENCE, MOST_ROWS = 5, 12, 20
LONGEST = 4000
UNNAMED = 0.85
"""the most that a cause may claim which the catalog does not name: no labelled run has tried it"""
STATUSES = ("diagnosis_complete", "needs_more_data", "healthy")
Part = TypeVar("Part", bound=BaseModel)


@dataclass
class Answer:
    """The parts of a submission that could be read; `problems` names the others exactly."""

    status: Status
    submitted: Status
    """the status as it was submitted, whatever becomes of it"""
    said: str = ""
    """to the user's own question"""
    causes: list[RootCause] = field(default_factory=list)
    leads: list[LeadVerdict] = field(default_factory=list)
    health: list[Evidence] = field(default_factory=list)
    disputed: str = ""
    """the proven lead that it does not hold"""
    contested: list[Contested] = field(default_factory=list)
    excluded: list[Excluded] = field(default_factory=list)
    questions: list[str] = field(default_factory=list)
    sections: dict[str, str] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)


def parse_answer(given: Mapping[str, Any], case: Case, facts: Mapping[str, Fact]) -> Answer:
    """Read a submission part by part, so that one wrong part does not spoil the others."""
    problems: list[str] = []
    raw = _listed(given.get("causes"), "causes", problems)[:MOST_CAUSES]
    causes = [_cause(row, f"causes[{index}]", case, facts, problems) for index, row in enumerate(raw)]
    kept = [cause for cause in causes if cause is not None]
    status = _status(given.get("status"), kept, problems)
    answer = Answer(
        status=status,
        submitted=status,
        said=_clean(given.get("answer")),
        causes=kept,
        leads=_parts(LeadVerdict, _disputed(given.get("leads", [])), "leads", problems),
        health=[evidence_from(row) for row in _parts(SubmittedEvidence, given.get("health", []), "health", problems)],
        excluded=[Excluded.parse(row) for row in _texts(given.get("excluded", []), "excluded", problems)],
        questions=_texts(given.get("questions", []), "questions", problems),
        problems=problems,
    )
    written = {row.heading: row.text for row in _parts(Section, given.get("sections", []), "sections", problems)}
    missing = [heading for heading in case.specialist.headings if not written.get(heading, "").strip()]
    if missing:
        problems.append(f"`sections` has no text under {', '.join(missing)}")
    answer.sections = {
        heading: written[heading].strip()[:LONGEST] for heading in case.specialist.headings if heading not in missing
    }
    return answer


def _status(given: object, causes: Sequence[RootCause], problems: list[str]) -> Status:
    if given not in STATUSES:
        problems.append(f"`status` is {given!r:.60}; it is one of {', '.join(STATUSES)}")
    if given == "diagnosis_complete" and not causes:
        problems.append("`status` says `diagnosis_complete`, and no cause could be read")
    if given == "healthy" and any(cause.likely for cause in causes):
        problems.append(f"`status` says `healthy`, and a cause is held at {LIKELY:g} or more")
    if causes:
        return "diagnosis_complete" if given != "needs_more_data" else "needs_more_data"
    return "healthy" if given == "healthy" else "needs_more_data"


def _cause(raw: Any, place: str, case: Case, facts: Mapping[str, Fact], problems: list[str]) -> RootCause | None:
    if not isinstance(raw, Mapping):
        problems.append(f"`{place}` is not an object")
        return None
    name = str(raw.get("id"))
    mode = case.catalog.get(name)
    if mode is None and name != OTHER:
        close = meant(name, case.catalog)
        hint = f" Did you mean `{close}`?" if close else f" Take the one that fits, or `{OTHER}` with a title."
        problems.append(f"`{place}.id`: there is no failure mode `{name[:60]}`.{hint}")
        return None
    title = _clean(raw.get("title"))[:120] if mode is None else ""
    if mode is None and not title:
        problems.append(f"`{place}.title` is empty: a cause `{OTHER}` has a title of its own")
        title = _clean(raw.get("issue"))[:80] or "a cause without a name"
    evidence = _parts(SubmittedEvidence, raw.get("evidence", []), f"{place}.evidence", problems)[:MOST_EVIDENCE]
    try:
        whole = SubmittedCause.model_validate({**raw, "evidence": []})
    except ValidationError as error:
        problems.extend(_said(error, place))
        whole = None
    fix = whole.fix if whole is not None else _part(SubmittedFix, raw.get("fix"))
    confidence = whole.confidence if whole else _confidence(raw.get("confidence"))
    return RootCause(
        id=name,
        title=title,
        issue=_clean(whole.issue if whole else raw.get("issue")) or (mode.title if mode else title),
        severity=whole.severity if whole else mode.severity if mode else "medium",
        confidence=confidence if mode else min(confidence, UNNAMED),
        evidence=[evidence_from(piece) for piece in evidence],
        fix=_fix(fix, mode, facts) if fix is not None else catalog_fix(mode, facts),
        specialist=case.specialist.name,
    )


NO_FIX = Fix(
    summary="No fix was given for this cause.",
    expected="What the evidence shows does not come again.",
    verify="Look at the cited places after the change.",
    fallback="Ask what else would produce the same evidence.",
)


def catalog_fix(mode: FailureMode | None, facts: Mapping[str, Fact]) -> Fix:
    """The fix that the catalog knows, with the facts of this run; a cause that it does not name has none."""
    return fix_for(mode, facts) if mode is not None else NO_FIX


def _disputed(given: object) -> object:
    """The leads that are not simply confirmed: those need no row, and one that is given says nothing."""
    if not isinstance(given, list):
        return given
    return [row for row in given if not (isinstance(row, Mapping) and row.get("verdict") == "confirmed")]


def evidence_from(piece: SubmittedEvidence) -> Evidence:
    """A submitted piece as the contract has it, not verified yet."""
    return Evidence(
        claim=_clean(piece.claim),
        kind=piece.kind,
        source=piece.source.strip().removeprefix("./")[:500],
        locator=_clean(piece.locator)[:300],
        quote=piece.quote.strip("\n")[:LONGEST],
    )


def _fix(fix: SubmittedFix, mode: FailureMode | None, facts: Mapping[str, Fact]) -> Fix:
    return Fix(
        checks=filled(mode, facts) if mode is not None else [],
        summary=_clean(fix.summary),
        diff=fix.diff[: 4 * LONGEST] if fix.diff.strip() else None,
        expected=_clean(fix.expected),
        verify=_clean(fix.verify),
        fallback=_clean(fix.fallback),
    )


def _confidence(given: object) -> float:
    """What can be made of a confidence that is none: a percentage, or the least that is worth a hypothesis."""
    if isinstance(given, bool) or not isinstance(given, int | float) or not 0.0 <= given <= 100.0:
        return 0.3
    return float(given) if given <= 1.0 else given / 100.0


def _parts(kind: type[Part], given: object, place: str, problems: list[str]) -> list[Part]:
    found = []
    for index, row in enumerate(_listed(given, place, problems)[: 2 * MOST_ROWS]):
        try:
            found.append(kind.model_validate(row))
        except ValidationError as error:
            problems.extend(_said(error, f"{place}[{index}]"))
    return found


def _part(kind: type[Part], given: object) -> Part | None:
    try:
        return kind.model_validate(given)
    except ValidationError:
        return None


def _texts(given: object, place: str, problems: list[str]) -> list[str]:
    rows = _listed(given, place, problems)[:MOST_ROWS]
    return [_clean(row) for row in rows if isinstance(row, str) and row.strip()]


def _listed(given: object, place: str, problems: list[str]) -> list[Any]:
    if isinstance(given, list):
        return given
    problems.append(f"`{place}` is missing" if given is None else f"`{place}` is not a list")
    return []


def _said(error: ValidationError, place: str) -> list[str]:
    return [
        f"`{'.'.join([place, *(str(part) for part in detail['loc'])])}`: {detail['msg'][:1].lower()}{detail['msg'][1:]}"
        for detail in error.errors(include_url=False, include_input=False)[:6]
    ]


def _clean(text: object) -> str:
    return " ".join(text.split())[:LONGEST] if isinstance(text, str) else ""


async def troubles(causes: Sequence[RootCause], case: Case, signals: Sequence[Signal]) -> list[str]:
    """What does not hold, each with its place in the submission, for the turn that may repair it."""
    rows = await asyncio.to_thread(opened, causes, case.toolbelt, signals)
    found = []
    for index, (cause, verdicts) in enumerate(zip(causes, rows, strict=True)):
        for number, (piece, verdict) in enumerate(zip(cause.evidence, verdicts, strict=True)):
            if not verdict.verified:
                place = f"{piece.source}, {piece.locator}".rstrip(", ")
                found.append(f"`causes[{index}].evidence[{number}]` ({place}): {verdict.why}")
        if not cause.evidence:
            found.append(f"`causes[{index}]` has no evidence")
        against = await asyncio.to_thread(objections, cause, case.context, case.toolbelt)
        found += [f"`causes[{index}].fix`: {row}" for row in against]
    return found
