"""The training program, followed from its entry point and checked against every code rule."""

from pydantic import Field

from traindx.contract import Fact, Value
from traindx.detectors.program import review
from traindx.program.followed import program_of
from traindx.readers import Run
from traindx.runtime import NoData, ToolInput, ToolOutput, tool


class Input(ToolInput):
    """How much of the folder to look at."""

    everything: bool = Field(default=False, description="every Python file, not only the program that ran")


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


class LoopReport(ToolOutput):
    """What the rules found, and whether the whole program could be followed."""

    faults: list[Fault]
    files: int
    whole: bool
    not_followed: list[str] = Field(default_factory=list, description="faults of the analysis itself")


@tool(needs=["code"], emits=review.SIGNALS, timeout=120.0)
def review_training_loop(given: Input, run: Run) -> LoopReport:
    """Follow the program without running it, through helpers, methods and other files, and check it against the rules:
    gradients, steps, modes, losses and what feeds them, schedules, clipping, precision, recurrent state, data.
    """
    units = run.code if given.everything else run.program
    if not units:
        raise NoData("no Python file or notebook among the files of this run")
    analyses = program_of(run, given.everything)
    found, signals = review.detect(analyses)
    faults = [
        Fault(
            rule=one.rule,
            path=one.place.unit.path,
            line=one.place.unit.file_line(one.place.line),
            place=one.place.text,
            quote=one.place.quote,
            claim=one.claim,
            proven=one.proven,
            facts=dict(one.facts),
        )
        for one in found
    ]
    whole = all(analysis.whole for analysis in analyses)
    ours = [fault for analysis in analyses for fault in analysis.faults]
    return LoopReport(faults=faults, files=len(units), whole=whole and not ours, not_followed=ours, signals=signals)
