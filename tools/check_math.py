"""Operations that turn a rare value into NaN or Inf, and have nothing that keeps that value away."""

from traindx.detectors.program import unguarded_math
from traindx.detectors.program.masked_rows import masked_rows
from traindx.detectors.program.unguarded_math import Unguarded
from traindx.program.followed import program_of
from traindx.readers import Run
from traindx.runtime import NoData, ToolInput, ToolOutput, tool


class Input(ToolInput):
    """No options: all code of the run is read."""


class MathReport(ToolOutput):
    """Every operation with nothing to guard it."""

    operations: list[Unguarded]


@tool(needs=["code"], emits=unguarded_math.SIGNALS)
def check_math(given: Input, run: Run) -> MathReport:  # noqa: ARG001 - every tool takes its input
    """Follow the model and loss code to each log, sqrt, division and exp of tensors, and say which of them can be given
    a value at the edge of its domain: no epsilon, clamp or safe variant (log_softmax, logsumexp, log1p) prevents it.
    """
    units = unguarded_math.model_units(run.program)
    if not units:
        raise NoData("no model or training code among the files of this run")
    programs = program_of(run)
    events = unguarded_math.operations(units, programs)
    found = unguarded_math.unguarded(events)
    masked = list(masked_rows(programs))
    signals = [*unguarded_math.detect(events, found, masked), *unguarded_math.left_out(programs, found)]
    return MathReport(operations=found, signals=signals)
