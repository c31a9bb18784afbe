"""What the training program is made of and does, read without running it."""

from traindx.program.facts import ProgramFact, program_facts
from traindx.program.followed import program_of
from traindx.readers import Run
from traindx.runtime import NoData, ToolInput, ToolOutput, tool


class Input(ToolInput):
    """Nothing to choose: the program that ran is described."""


class Described(ToolOutput):
    """The facts, each with its place and how sure its values are."""

    facts: list[ProgramFact]
    whole: bool


@tool(needs=["code"], timeout=120.0)
def describe_program(given: Input, run: Run) -> Described:  # noqa: ARG001 - every tool takes its input
    """List the layers, losses, optimizers, schedulers, loaders, loops, clipping, modes and checkpoints of the program,
    with the line of each and whether its values are constants, defaults, configuration or unknown.
    """
    if not run.program:
        raise NoData("no Python file or notebook among the files of this run")
    analyses = program_of(run)
    facts = [fact for analysis in analyses for fact in program_facts(analysis)]
    if not facts:
        raise NoData("the program builds no model and has no loop")
    return Described(facts=facts, whole=all(analysis.whole for analysis in analyses))
