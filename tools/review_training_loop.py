"""The training program, followed from its entry point and checked against every code rule."""

from pydantic import Field

from traindx.contract import Value
from traindx.detectors.program import review
from traindx.program.analysis import analyse, known_settings
from traindx.readers import Run
from traindx.runtime import NoData, ToolInput, ToolOutput, tool


class Input(ToolInput):
    """Nothing to choose: every rule is applied to the whole program."""


class Fault(Value):
    """One finding."""

    rule: str = Field(description="the failure mode")
    place: str
    claim: str
    proven: bool


class LoopReport(ToolOutput):
    """What the rules found, and whether the whole program could be followed."""

    faults: list[Fault]
    whole: bool


@tool(needs=["code"], emits=review.SIGNALS)
def review_training_loop(given: Input, run: Run) -> LoopReport:  # noqa: ARG001 - every tool takes its input
    """Follow the program without running it, through helpers, methods and other files, and check it against the rules:
    gradients, steps, modes, losses and what feeds them, schedules, clipping, precision, recurrent state, data.
    """
    if not run.program:
        raise NoData("no Python file or notebook among the files of this run")
    settings = known_settings((row.key, row.value) for row in run.settings if not row.coded)
    analysis = run.kept("program", lambda: analyse(run.program, settings))
    found, signals = review.detect(analysis)
    faults = [Fault(rule=one.rule, place=one.place.text, claim=one.claim, proven=one.proven) for one in found]
    return LoopReport(faults=faults, whole=analysis.whole, signals=signals)
