"""The training program, followed from its entry point and checked against every code rule."""

from pydantic import Field

from traindx.detectors.program import review
from traindx.program.followed import program_of
from traindx.readers import Run
from traindx.runtime import NoData, ToolInput, ToolOutput, tool


class Input(ToolInput):
    """Nothing to choose: it is the program that ran."""


class LoopReport(ToolOutput):
    """What the rules found, and whether the whole program could be followed."""

    faults: list[review.Fault]
    files: int
    whole: bool
    not_followed: list[str] = Field(default_factory=list, description="faults of the analysis itself")


@tool(needs=["code"], emits=review.SIGNALS, timeout=120.0)
def review_training_loop(given: Input, run: Run) -> LoopReport:  # noqa: ARG001 - every tool takes its input
    """Follow the program without running it, through helpers, methods and other files, and check it against the rules:
    gradients, steps, modes, losses and what feeds them, schedules, clipping, precision, recurrent state, data.
    """
    if not run.program:
        raise NoData("no Python file or notebook among the files of this run")
    analyses = program_of(run)
    found, signals = review.detect(analyses)
    ours = review.faults_of_ours(analyses)
    return LoopReport(
        faults=[review.as_fault(one) for one in found],
        files=len(run.program),
        whole=all(analysis.whole for analysis in analyses) and not ours,
        not_followed=ours,
        signals=signals,
    )
