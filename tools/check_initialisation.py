"""How the code sets the first weights."""

from traindx.detectors.program import initialisation
from traindx.detectors.program.initialisation import Initialisation
from traindx.program.followed import program_of
from traindx.readers import Run
from traindx.runtime import NoData, ToolInput, ToolOutput, tool


class Input(ToolInput):
    """No options: all code of the run is read."""


class InitialisationReport(ToolOutput):
    """Every statement that sets weights."""

    statements: list[Initialisation]


@tool(needs=["code"], emits=initialisation.SIGNALS)
def check_initialisation(given: Input, run: Run) -> InitialisationReport:  # noqa: ARG001 - every tool takes its input
    """Read which distribution or constant the code gives to the first weights."""
    if not run.program:
        raise NoData("no Python file among the files of this run")
    found = initialisation.initialisations(run.program, program_of(run))
    return InitialisationReport(statements=found, signals=initialisation.detect(found))
