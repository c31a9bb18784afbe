"""Norms of recurrent state, where they were logged."""

from traindx.detectors.curves import state_norms
from traindx.readers import Run
from traindx.runtime import NoData, ToolInput, ToolOutput, tool


class Input(ToolInput):
    """No options: every logged norm of a state is checked."""


class StateNorms(ToolOutput):
    """The last value of each norm, by series."""

    norms: dict[str, float]


@tool(needs=["series"], emits=state_norms.SIGNALS)
def check_state_norms(given: Input, run: Run) -> StateNorms:  # noqa: ARG001 - every tool takes its input
    """Look at logged norms of hidden and cell states: growing without bound, fading to nothing, or NaN."""
    found = state_norms.state_norms(run.series)
    if not found:
        raise NoData("no norm of a hidden or cell state was logged; looked for h_norm, c_norm, hidden_norm, |h|, |c|")
    return StateNorms(norms={row.original: float(row.values[-1]) for row in found}, signals=state_norms.detect(found))
