"""How a training loop handles recurrent state."""

from pydantic import Field

from traindx.detectors.program import recurrent_state
from traindx.detectors.program.recurrent_state import CarriedState
from traindx.program.followed import program_of
from traindx.readers import Run
from traindx.runtime import NoData, ToolInput, ToolOutput, tool


class Input(ToolInput):
    """Which file to look at."""

    path: str = Field(default="", description="a Python file of the run; all of them when empty")


class StateReport(ToolOutput):
    """Every state that a training loop carries, and whether it is cut from its graph."""

    states: list[CarriedState]


@tool(needs=["code"], emits=recurrent_state.SIGNALS, timeout=120.0)
def check_recurrent_state(given: Input, run: Run) -> StateReport:
    """Read the training loops and say which recurrent states are carried from one iteration to the next, and whether
    each is detached between backward and the next forward.
    """
    units = [unit for unit in run.program if not given.path or unit.path == given.path]
    followed = program_of(run)
    states, signals = recurrent_state.detect(units, followed)
    if not states:
        looked_in = ", ".join(unit.path for unit in units) or "no Python file"
        raise NoData(f"no training loop that carries a recurrent state; looked in: {looked_in}")
    return StateReport(states=states, signals=signals)
