"""How many parameters a model has, and where they are."""

from typing import Literal

from pydantic import Field

from traindx.detectors.checkpoints import balance, parameters
from traindx.detectors.program import layer_sizes
from traindx.readers import Run
from traindx.report.plot import Bars, drawn
from traindx.runtime import NoData, ToolInput, ToolOutput, tool


class Input(ToolInput):
    """Which checkpoint, and how deep to look."""

    checkpoint: str = Field(default="", description="path of a checkpoint; the one with most parameters when empty")
    depth: int = Field(default=2, ge=1, le=8, description="parts of a name that make a module: 2 is `encoder.layers`")
    format: Literal["", "svg", "png", "both"] = Field(
        default="", description="draw the shares as well: `svg`, `png` or `both`"
    )


class ParameterCount(ToolOutput):
    """The parameters, by kind and by module, the largest first."""

    source: str = Field(description="the checkpoint, or `code` where there is none")
    total: int
    by_kind: dict[str, int]
    by_module: dict[str, int]
    tied: dict[str, str] = Field(description="parameters that share the memory of another")
    chart: str = Field(description="the share of each module as bars of text")
    pictures: dict[str, str] = Field(default_factory=dict, description="`svg` as text, `png` in base64")


@tool(needs=["checkpoints", "code"])
def count_parameters(given: Input, run: Run) -> ParameterCount:
    """Count the parameters of a model by kind (embedding, attention, linear) and by module, with a bar chart: from a
    checkpoint, or from the layers in the code whose sizes can be read off.
    """
    rows = [row for row in run.checkpoints if given.checkpoint in {"", row.path}]
    chosen = parameters.largest(rows)
    found = parameters.parameters_of(chosen) if chosen is not None else []
    if not found and not given.checkpoint:
        found = layer_sizes.layers_in(run.program, run.settings)
    if not found:
        raise NoData("no checkpoint with a model's tensors, and no layer in the code whose sizes are known")
    told = balance.measure(found, given.depth)
    return ParameterCount(
        source=chosen.path if chosen is not None else "code",
        total=told.total,
        by_kind=told.kinds,
        by_module=dict(list(told.modules.items())[:100]),
        tied=told.tied,
        chart=balance.chart(told.modules),
        pictures=drawn(
            Bars(
                f"{told.total:,} parameters by module",
                chosen.path if chosen is not None else "from the code",
                tuple(told.modules.items()),
            ),
            given.format,
        ),
    )
