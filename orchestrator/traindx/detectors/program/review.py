"""What the rules find in the program, as signals: proven where the program shows it, suspected where it may not."""

from __future__ import annotations

from collections.abc import Sequence

from pydantic import Field

from traindx.contract import Citation, Fact, Signal, SignalKind, Value
from traindx.detectors.citing import cite_line
from traindx.program.analysis import Analysis
from traindx.program.finding import Finding
from traindx.program.options import declared_at
from traindx.program.rules import review, rules
from traindx.program.values import Place

MOST_PLACES = 4
_MEANINGS = {"proven": "the program shows it", "suspected": "the program may do it"}
SIGNALS = {
    f"{how}-{rule.id}": SignalKind(f"{_MEANINGS[how]}: {rule.title.lower()}", proof=how == "proven")
    for rule in rules()
    for how in rule.says
}


class Fault(Value):
    """One finding."""

    rule: str = Field(description="the failure mode")
    path: str
    line: int
    place: str = Field(description="as people are told of it: `train.py:41`, `train.ipynb, cell 7, line 3`")
    quote: str
    claim: str
    proven: bool
    facts: dict[str, Fact]


def as_fault(finding: Finding) -> Fault:
    """A finding without the program that it was found in."""
    place = finding.place
    return Fault(
        rule=finding.rule,
        path=place.unit.path,
        line=place.unit.file_line(place.line),
        place=place.text,
        quote=place.quote,
        claim=finding.claim,
        proven=finding.proven,
        facts=dict(finding.facts),
    )


def faults_of_ours(analyses: Sequence[Analysis]) -> list[str]:
    """What went wrong in following the programs or in a rule, which is no fault of theirs."""
    return [fault for analysis in analyses for fault in analysis.faults]


def detect(analyses: Sequence[Analysis]) -> tuple[list[Finding], list[Signal]]:
    """Every finding, and one signal for each failure mode, with all its places."""
    found = review(*analyses)
    signals = []
    for rule in rules():
        mine = [finding for finding in found if finding.rule == rule.id]
        proven = [finding for finding in mine if finding.proven]
        if mine:
            signals.append(_signal("proven" if proven else "suspected", proven or mine, analyses))
    return found, signals


def _signal(how: str, findings: Sequence[Finding], analyses: Sequence[Analysis]) -> Signal:
    first = findings[0]
    facts: dict[str, Fact] = {**first.facts, "fault_place": first.place.text}
    places = [_cited(finding.place, finding.claim) for finding in findings]
    places += [_cited(place, "the option that decides it") for place in _options(analyses, first)]
    places += [_cited(place, claim) for place, claim in first.also]
    return Signal(
        id=f"{how}-{first.rule}",
        claim=f"{first.claim} ({first.place.text})",
        citations=places[:MOST_PLACES],
        facts=facts,
    )


def _options(analyses: Sequence[Analysis], finding: Finding) -> list[Place]:
    """Where the option is declared that the place at fault reads."""
    own = next((one for one in analyses if any(unit is finding.place.unit for unit in one.units)), None)
    return list(declared_at(own.units, finding.place, finding.rule))[:1] if own is not None else []


def _cited(place: Place, claim: str) -> Citation:
    return cite_line(place.unit.path, place.unit.file_line(place.line), claim, place.quote)
