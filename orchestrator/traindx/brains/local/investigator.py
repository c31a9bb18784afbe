"""The local investigator: plan, collect signals, weigh hypotheses, answer."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import replace

from traindx.brains.interface import Case
from traindx.brains.local.invariants import invariant
from traindx.brains.local.plan import plan
from traindx.brains.local.sections import Answer, sections_for
from traindx.brains.local.user_reports import VOCABULARY, user_reports
from traindx.contract import Event, Evidence, Fact, RootCause, Signal, Status
from traindx.diagnosis.changes.propose import with_diff
from traindx.diagnosis.findings import Excluded, Findings
from traindx.diagnosis.scoring import WORTH_ASKING, Belief, Standing, weigh
from traindx.diagnosis.signals import SignalRegistry
from traindx.diagnosis.templates import template_for
from traindx.diagnosis.weights import load_weights
from traindx.diagnosis.wording import fix_for, issue_for
from traindx.vocabulary.kinds import KINDS, WANTED
from traindx.vocabulary.metrics import measures_memory

MOST_HYPOTHESES = 3
JUDGED_BY_TWO = frozenset({"adversaries-balanced", "discriminator-wins"})
"""what two curves say together of which neither is a loss by its name"""
MOST_EVIDENCE = 8
WORTH_A_WORD = 0.25
"""from here on, were the answer refuted, a possibility is named beside it"""
BESIDE_HEALTH = 0.49
"""a remark about a run that is well stays below the bar of what is likely"""
LEAST_DOUBT = 0.02
"""no cause is ever reported as surer than 0.98"""
MOST_SETTINGS = 2
FEWEST_POINTS = 4
ENDED_WELL = frozenset({"run-completed", "run-ended-in-order"})


class LocalInvestigator:
    """Investigates without a model: the same signals always give the same answer."""

    name = "local"

    async def investigate(self, cases: Sequence[Case]) -> list[Findings]:
        """Weigh the signals once; who knows the first cause best reports, if it was sent."""
        weighed = await self.weigh(cases[0])
        first = next((cause for cause in weighed.causes if cause.likely), None)
        lead = next(
            (case for case in cases if first is not None and case.specialist.name == first.specialist), cases[0]
        )
        return [reported(weighed, lead)]

    async def weigh(self, case: Case) -> Findings:
        """Call the tools that can tell hypotheses apart, then weigh what they found; no specialist's headings yet."""
        specs = case.toolbelt.specs(schemas=False)
        planned = plan(specs, case.catalog, case.context)
        results = [await case.call(tool) for tool in planned.tools]
        signals = [signal for result in results for signal in result.signals]
        signals += user_reports(case.request.message, {row.kind for row in case.request.reported})
        for signal in signals:
            case.listener(Event(kind="finding", text=signal.claim))
        failed = [f"`{result.tool}` failed: {result.reason}" for result in results if result.status == "failed"]
        registry = SignalRegistry.of(specs, VOCABULARY)
        findings, facts = _weighed(case, signals, registry)
        findings = replace(findings, notes=[*planned.skipped, *failed], skipped=list(planned.skipped))
        if failed and findings.status == "healthy":
            # What the tool would have found is not known: health is said only about what was looked at.
            findings = replace(findings, status="needs_more_data", questions=[*failed, *findings.questions])
        causes = [await _with_settings(case, cause) for cause in findings.causes]
        return replace(findings, causes=[await _with_diff(case, cause, facts[cause.id]) for cause in causes])


def reported(weighed: Findings, case: Case) -> Findings:
    """The same findings under the headings of a specialist."""
    # What else it could be is not the specialist's answer.
    likely = [cause for cause in weighed.causes if cause.likely]
    named = likely or (weighed.causes if weighed.status == "needs_more_data" else [])
    excluded = [str(row) for row in weighed.excluded]
    answer = Answer(weighed.status, named, weighed.signals, excluded, weighed.questions, case.context)
    return replace(weighed, specialist=case.specialist.name, sections=sections_for(case.specialist, answer))


def _weighed(
    case: Case, signals: list[Signal], registry: SignalRegistry
) -> tuple[Findings, dict[str, dict[str, Fact]]]:
    """The findings, and the facts behind each cause."""
    standing = _without_a_course(case, weigh(case.catalog, signals, registry, load_weights()))
    roots = [belief for belief in standing.modes if belief.likely]
    lacking, blind = _unseen(case, signals)
    status: Status = "diagnosis_complete"
    if not roots:
        # A run that went through all its steps was seen to the end, however little it logged on the way.
        ended_well = any(signal.id in ENDED_WELL for signal in signals)
        status = "healthy" if standing.healthy.likely and (ended_well or not blind) else "needs_more_data"
    well = {case.catalog.healthy.id} if standing.healthy.likely else set()
    refuted = {belief.hypothesis.id for belief in roots} or well
    others = weigh(case.catalog, signals, registry, load_weights(), refuted) if refuted else standing
    instead = _without_a_course(case, others)
    rest = _possibilities(instead, roots, well=bool(well))
    most = max(0, MOST_HYPOTHESES - len(roots))
    named = [*roots[:MOST_HYPOTHESES], *rest[:most]]
    findings = Findings(
        specialist="",
        status=status,
        causes=[_cause(belief, case) for belief in named],
        signals=signals,
        excluded=_excluded(standing, {belief.hypothesis.id for belief in (roots or named)}),
        questions=[] if status != "needs_more_data" else _questions(case, lacking, rest[:MOST_HYPOTHESES]),
    )
    return findings, {belief.hypothesis.id: belief.facts for belief in named}


def _without_a_course(case: Case, standing: Standing) -> Standing:
    """Where no log shows how the run went, what only makes a bad course likely is a lead and not a cause."""
    if case.context.series or case.context.artifacts.training_logs:
        return standing
    modes = [
        belief
        if any(voice.speaks.kind == "direct" for voice in belief.support)
        else replace(belief, probability=min(belief.probability, BESIDE_HEALTH))
        for belief in standing.modes
    ]
    return replace(standing, modes=tuple(modes))


def _possibilities(standing: Standing, roots: Sequence[Belief], *, well: bool) -> list[Belief]:
    """What else it could be, believed by what the answer leaves; beside an answer, as it stands without that answer."""
    if not roots and not well:
        return [belief for belief in standing.modes if belief.probability >= WORTH_ASKING]
    left = max(1.0 - roots[0].probability, LEAST_DOUBT) if roots else BESIDE_HEALTH
    named = {belief.hypothesis.id for belief in roots}
    return [
        replace(belief, probability=belief.probability * left)
        for belief in standing.modes
        if belief.hypothesis.id not in named and belief.probability >= WORTH_A_WORD
    ]


async def _with_settings(case: Case, cause: RootCause) -> RootCause:
    """The cause with the lines that set what brings it about, unless such a line is cited already."""
    wanted = case.catalog[cause.id].set_by
    cited = {(piece.source, piece.locator.partition(",")[0]) for piece in cause.evidence}
    found = [row for row in case.context.settings if _last_word(row.key) in wanted]
    if any((row.source, f"line {row.line}") in cited for row in found):
        return cause
    # What ran stands in a configuration or was printed; defaults in the code come last.
    found.sort(key=lambda row: (row.source.endswith((".py", ".ipynb")), wanted.index(_last_word(row.key))))
    pieces: list[Evidence] = []
    for row in found[:MOST_SETTINGS]:
        read = await case.call("Read", {"path": row.source, "start_line": row.line, "max_lines": 1})
        quote = str(read.output.get("text", "")).partition("\t")[2].strip()[:240] if read.status == "ok" else ""
        if quote:
            claim = f"`{row.key.rsplit('.', 1)[-1]}` is set here"
            place = f"line {row.line}"
            pieces.append(Evidence(claim=claim, kind="circumstantial", source=row.source, locator=place, quote=quote))
    return cause.model_copy(update={"evidence": [*cause.evidence, *pieces]}) if pieces else cause


async def _with_diff(case: Case, cause: RootCause, facts: Mapping[str, Fact]) -> RootCause:
    """The cause with its fix as a diff, where the run has the file to change."""
    changes = case.catalog[cause.id].change
    fix = await asyncio.to_thread(with_diff, cause.fix, changes, facts, case.context, case.toolbelt)
    template = template_for(cause.id) if not fix.diff else None
    if template is not None and case.context.names:
        fix = fix.model_copy(update={"example": template.example(case.context.names, case.context.settings)})
    return cause.model_copy(update={"fix": fix})


def _last_word(key: str) -> str:
    return key.rsplit(".", 1)[-1].lower().replace("-", "_")


def _cause(belief: Belief, case: Case) -> RootCause:
    mode = case.catalog[belief.hypothesis.id]
    facts = {**belief.facts, **invariant(case.context.project, belief.facts)}
    return RootCause(
        id=mode.id,
        issue=issue_for(mode, facts),
        severity=mode.severity,
        confidence=belief.probability,
        evidence=_evidence(belief),
        fix=fix_for(mode, facts),
        specialist=mode.specialist,
    )


def _evidence(belief: Belief) -> list[Evidence]:
    """The places behind the signals, weightiest first, each once with all it shows; what speaks against comes last."""
    pieces: dict[tuple[str, str, bool], Evidence] = {}
    voices = [(voice, voice.speaks.kind, False) for voice in belief.support]
    for voice, kind, contrary in (*voices, *((voice, "contrary", True) for voice in belief.against)):
        for place in voice.signal.citations:
            key = (place.source, place.locator, contrary)
            held = pieces.get(key)
            if held is None:
                pieces[key] = Evidence.model_validate(
                    {**place.model_dump(include={"claim", "source", "locator", "quote"}), "kind": kind}
                )
            elif place.claim not in held.claim:
                pieces[key] = held.model_copy(update={"claim": f"{held.claim}; {place.claim}"})
    return list(pieces.values())[:MOST_EVIDENCE]


def _excluded(standing: Standing, named: set[str]) -> list[Excluded]:
    """What merely follows from a cause that is named, and what would rival it without what speaks against it."""
    bar = max(0.0, max((belief.score for belief in standing.modes), default=0.0) / 2)
    rows = []
    for belief in standing.modes:
        name = belief.hypothesis.id
        without = belief.score - sum(voice.weight for voice in belief.against)
        if name in named or without < bar or not belief.support:
            continue
        if belief.follows in named and belief.score >= bar:
            rows.append(Excluded(name, follows_from=belief.follows))
        elif belief.against and not belief.follows:
            rows.append(Excluded(name, belief.against[0].signal.claim))
    return rows


def _unseen(case: Case, signals: Sequence[Signal]) -> tuple[list[str], bool]:
    """What the complaint is about and the folder does not show, and whether that is everything it is about."""
    context = case.context
    seen = {
        "series": any(row.loss and row.points >= FEWEST_POINTS for row in context.series)
        or any(signal.id in JUDGED_BY_TWO for signal in signals),
        "errors": bool(context.errors),
        "code": bool(context.artifacts.model_code),
        "settings": bool(context.settings),
        "memory": any(measures_memory(row.original) for row in context.series),
        "outputs": bool(context.artifacts.outputs),
        "checkpoints": bool(context.artifacts.checkpoints),
        "data": bool(context.artifacts.data),
    }
    needs = KINDS[case.request.kind].needs
    lacking = [need for need in needs if not seen[need]]
    return lacking, bool(needs) and len(lacking) == len(needs)


def _questions(case: Case, lacking: Sequence[str], open_ones: Sequence[Belief]) -> list[str]:
    asks = [ask for belief in open_ones for ask in case.catalog[belief.hypothesis.id].asks]
    wanted = [WANTED[need] for need in dict.fromkeys([*lacking, *_always_wanted(case)])]
    return list(dict.fromkeys([*asks, *wanted]))


def _always_wanted(case: Case) -> list[str]:
    """What any diagnosis profits from, whatever the complaint."""
    context = case.context
    judged = any(row.loss and row.points >= FEWEST_POINTS for row in context.series)
    present = (("series", judged), ("code", context.artifacts.model_code), ("settings", context.artifacts.config))
    return [need for need, there in present if not there]
