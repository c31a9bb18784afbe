"""Activations: saturated or dead where they were logged, and code that is prone to it."""

from traindx.detectors.curves import activations as logged
from traindx.detectors.program import activations as coded
from traindx.program.followed import program_of
from traindx.readers import Run
from traindx.readers.excerpts import last_line
from traindx.runtime import NoData, ToolInput, ToolOutput, tool


class Input(ToolInput):
    """No options: every logged activation statistic and all model code are checked."""


class ActivationReport(ToolOutput):
    """The shares found in the logs, by series."""

    saturated: dict[str, float]
    dead: dict[str, float]


@tool(needs=["series", "code"], emits={**logged.SIGNALS, **coded.SIGNALS})
def check_activations(given: Input, run: Run) -> ActivationReport:  # noqa: ARG001 - every tool takes its input
    """Look at logged shares of saturated and dead units, and read the model code for deep stacks of squashing
    activations without residual connections or normalization.
    """
    lines = {row: last_line(run, row) for row in logged.named_like_layers(run.series)}
    saturated, dead = logged.saturated_shares(run.series, lines), logged.dead_shares(run.series, lines)
    if not saturated and not dead and not run.program:
        raise NoData("no share of saturated or dead units was logged, and there is no model code")
    programs = program_of(run)
    return ActivationReport(
        saturated={row.original: share for row, share in saturated},
        dead={row.original: share for row, share in dead},
        signals=[
            *logged.detect(saturated, dead),
            *coded.at_the_output(programs),
            *coded.squashing(run.program, programs),
        ],
    )
