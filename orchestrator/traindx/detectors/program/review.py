"""What the rules find in the program, as signals: proven where the program shows it, suspected where it may not."""

from __future__ import annotations

from collections.abc import Sequence

from traindx.contract import Citation, Fact, Signal, SignalKind
from traindx.detectors.citing import cite_line
from traindx.program.analysis import Analysis
from traindx.program.finding import Finding
from traindx.program.rules import review, rules
from traindx.program.values import Place

MOST_PLACES = 4
_MEANINGS = {"proven": "the program shows it", "suspected": "the program may do it"}
SIGNALS = {
    f"{how}-{rule.id}": SignalKind(f"{_MEANINGS[how]}: {rule.title.lower()}", proof=how == "proven")
    for rule in rules()
    for how in rule.says
}


def detect(analyses: Sequence[Analysis]) -> tuple[list[Finding], list[Signal]]:
    """Every finding, and one signal for each failure mode, with all its places."""
    found = review(*analyses)
    signals = []
    for rule in rules():
        mine = [finding for finding in found if finding.rule == rule.id]
        proven = [finding for finding in mine if finding.proven]
        if mine:
            signals.append(_signal("proven" if proven else "suspected", proven or mine))
    return found, signals


def _signal(how: str, findings: Sequence[Finding]) -> Signal:
    first = findings[0]
    facts: dict[str, Fact] = {**first.facts, "fault_place": first.place.text}
    places = [_cited(finding.place, finding.claim) for finding in findings]
    places += [_cited(place, claim) for place, claim in first.also]
    return Signal(
        id=f"{how}-{first.rule}",
        claim=f"{first.claim} ({first.place.text})",
        citations=places[:MOST_PLACES],
        facts=facts,
    )


def _cited(place: Place, claim: str) -> Citation:
    return cite_line(place.unit.path, place.unit.file_line(place.line), claim, place.quote)
