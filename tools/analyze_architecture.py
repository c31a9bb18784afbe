"""Whether a model's proportions make sense: what dominates, what is narrow, what is tied."""

from itertools import pairwise
from typing import Literal

from pydantic import Field

from traindx.contract import Value
from traindx.detectors.checkpoints import balance, parameters
from traindx.detectors.checkpoints.balance import Parameter
from traindx.detectors.program import layer_sizes
from traindx.readers import Run
from traindx.report.plot import Bars, drawn
from traindx.runtime import NoData, ToolInput, ToolOutput, tool

NARROW = 16
"""times narrower than both of its neighbours"""


class Input(ToolInput):
    """The largest model of the run is looked at."""

    format: Literal["", "svg", "png", "both"] = Field(
        default="", description="draw the shares as well: `svg`, `png` or `both`"
    )


class Bottleneck(Value):
    """A layer that is far narrower than what comes before and after it."""

    layer: str
    width: int
    before: int
    after: int


class Architecture(ToolOutput):
    """The proportions of a model."""

    source: str
    total: int
    shares: dict[str, float] = Field(description="share of the parameters by kind")
    embedding: str = Field(description="the largest table, with its shape and share")
    tied: dict[str, str]
    bottlenecks: list[Bottleneck]
    chart: str
    pictures: dict[str, str] = Field(default_factory=dict, description="`svg` as text, `png` in base64")


@tool(needs=["checkpoints", "code"], emits=balance.SIGNALS)
def analyze_architecture(given: Input, run: Run) -> Architecture:
    """Look at the proportions of the model in a checkpoint (or of the layers in the code): does an embedding hold most
    parameters, which layers are bottlenecks, which weights are tied?
    """
    chosen = parameters.largest(run.checkpoints)
    found = parameters.parameters_of(chosen) if chosen is not None else []
    if not found:
        found = layer_sizes.layers_in(run.program, run.settings)
    if not found:
        raise NoData("no checkpoint with a model's tensors, and no layer in the code whose sizes are known")
    told = balance.measure(found)
    table = told.largest
    return Architecture(
        source=chosen.path if chosen is not None else "code",
        total=told.total,
        shares={kind: round(count / max(1, told.total), 4) for kind, count in told.kinds.items()},
        embedding=""
        if table is None
        else f"{table.name} {'x'.join(map(str, table.shape))}: {table.elements / max(1, told.total):.0%}",
        tied=told.tied,
        bottlenecks=_bottlenecks(found),
        chart=balance.chart(told.kinds),
        pictures=drawn(
            Bars(
                f"{told.total:,} parameters by kind",
                chosen.path if chosen is not None else "from the code",
                tuple(told.kinds.items()),
            ),
            given.format,
        ),
        # In code, what a loop builds many times is counted once: no word about shares.
        signals=balance.detect(told) if chosen is not None else [],
    )


def _bottlenecks(found: list[Parameter]) -> list[Bottleneck]:
    """Matrices whose output is narrow and feeds the next: low-rank by design in adapters, which are left out."""
    matrices = [one for one in found if len(one.shape) == 2 and one.kind not in {"embedding", "norm"}]
    rows = []
    for one, after in pairwise(matrices):
        narrow, before = one.shape
        wide = after.shape[0]
        if after.shape[1] == narrow and "lora" not in one.name and NARROW * narrow <= min(before, wide):
            rows.append(Bottleneck(layer=one.name, width=narrow, before=before, after=wide))
    return rows[:20]
