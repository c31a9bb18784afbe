"""Where the run was resumed, and what jumped there: loss, learning rate, step, optimizer state."""

from traindx.detectors.citing import cite
from traindx.detectors.curves import resumption
from traindx.detectors.curves.objective import objective
from traindx.detectors.curves.resumption import Seam
from traindx.detectors.program import restoring
from traindx.program.followed import program_of
from traindx.readers import Run, Series
from traindx.readers.excerpts import read_excerpt
from traindx.readers.logs.resumed import loads_weights_alone, speaks_of_resuming
from traindx.readers.quoting import fill_quotes
from traindx.runtime import NoData, ToolInput, ToolOutput, tool


class Input(ToolInput):
    """No options: every seam that the log or the axis shows is checked."""


class SeamReport(ToolOutput):
    """Every resumption and the levels on both sides."""

    seams: list[Seam]


@tool(needs=["series"], emits={**resumption.SIGNALS, **restoring.SIGNALS})
def check_resumption(given: Input, run: Run) -> SeamReport:  # noqa: ARG001 - every tool takes its input
    """Find where the run was resumed (the log says so, or the step jumps back) and compare loss and learning rate on
    both sides; read whether the code restores the optimizer.
    """
    goal = run.once(objective)
    if goal is None:
        raise NoData("no loss to compare before and after a resume")
    loss = goal.series
    indexes = [index for index in resumption.seams(loss) if not _is_another_training(loss, index, run)]
    if not indexes:
        raise NoData("nothing in the log mentions a resume, and the step never jumps back")
    seams = [resumption.seam(loss, index, run.series) for index in indexes]
    shown = [fill_quotes(cite(loss, index, ""), run).quote for index in indexes]
    signals = [resumption.detect(loss, *found) for found in zip(indexes, seams, shown, strict=True)]
    return SeamReport(seams=seams, signals=[*signals, *restoring.detect(run.program, program_of(run))])


def _is_another_training(loss: Series, index: int, run: Run) -> bool:
    """Whether the program trains anew there, as with the next seed or fold; who says that it resumes does not."""
    around = resumption.between(loss, index)
    if around is None:
        return False
    lines = read_excerpt(run, around).lines
    said = speaks_of_resuming({line.encode() for line in lines})
    if said and not (loads_weights_alone(said) and loss.at[index] <= loss.at[0]):
        return False
    if said:
        return True
    return resumption.starts_over(loss, index) or resumption.is_another_stage(loss, index, lines)
