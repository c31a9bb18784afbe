"""What the logged gradient norm says about the break."""

import numpy as np

from traindx.contract import Signal
from traindx.detectors.citing import where
from traindx.detectors.curves import gradient_norm, layer_gradients, update_size
from traindx.detectors.curves.objective import objective
from traindx.detectors.curves.series import level
from traindx.detectors.settings.lookup import clip_threshold
from traindx.program.followed import settings_of
from traindx.readers import Run, Series, Setting
from traindx.readers.excerpts import log_heads
from traindx.runtime import NoData, ToolInput, ToolOutput, tool


class Input(ToolInput):
    """No options: the run's own gradient norm is checked."""


class GradientReport(ToolOutput):
    """The usual norm, the highest, and where that was."""

    series: str
    source: str
    usual: float
    highest: float
    highest_at: str
    non_finite: int


@tool(
    needs=["series"],
    emits={**gradient_norm.SIGNALS, **layer_gradients.SIGNALS, **update_size.SIGNALS},
)
def check_gradients(given: Input, run: Run) -> GradientReport:  # noqa: ARG001 - every tool takes its input
    """Compare the logged gradient norm with the loss: did it explode, and before, with or after the break?"""
    norms = max((row for row in run.series if row.name == "grad_norm" and len(row) > 2), key=len, default=None)
    limit, logged = clip_threshold(settings_of(run)), layer_gradients.gradients_by_layer(run.series)
    found = [
        *(layer_gradients.logged(logged) or layer_gradients.listed(log_heads(run, layer_gradients.MOST_LINES))),
        *update_size.beside_the_weights(run.series),
        *update_size.at_the_threshold(run.series, limit),
    ]
    if norms is not None:
        return _of_the_norm(run, norms, limit, found)
    if not found:
        raise NoData(
            "no gradient norm was logged; looked for grad_norm, gradient_norm, gnorm, total_norm in every series"
        )
    return _of_a_layer(logged[0], found) if logged else _of_a_list(found)


def _of_the_norm(run: Run, norms: Series, limit: Setting | None, found: list[Signal]) -> GradientReport:
    finite = np.isfinite(norms.values)
    if not finite.any():
        return GradientReport(
            series=norms.name,
            source=norms.source,
            usual=float("nan"),
            highest=float("nan"),
            highest_at=where(norms, 0),
            non_finite=len(norms),
            signals=[*found, *gradient_norm.lost(norms)],
        )
    goal, usual, top = run.once(objective), float(np.median(norms.values[finite])), gradient_norm.highest(norms)
    return GradientReport(
        series=norms.name,
        source=norms.source,
        usual=usual,
        highest=float(norms.values[top]),
        highest_at=where(norms, top),
        non_finite=int((~finite).sum()),
        signals=[
            *gradient_norm.against_the_break(goal, norms),
            *gradient_norm.tiny(goal, norms, usual),
            *gradient_norm.faded(goal, norms),
            *found,
            *update_size.clipped(norms, limit),
            *gradient_norm.lost(norms, goal),
        ],
    )


def _of_a_layer(first: Series, found: list[Signal]) -> GradientReport:
    return GradientReport(
        series=first.name,
        source=first.source,
        usual=level(first),
        highest=float(np.nanmax(first.values)),
        highest_at=where(first, int(np.nanargmax(first.values))),
        non_finite=int((~np.isfinite(first.values)).sum()),
        signals=found,
    )


def _of_a_list(found: list[Signal]) -> GradientReport:
    place = found[0].citations[0]
    size = next(fact for name, fact in found[0].facts.items() if name in {"late_norm", "update_ratio", "clip"})
    return GradientReport(
        series="gradients per layer",
        source=place.source,
        usual=float(str(size)),
        highest=float(str(size)),
        highest_at=place.locator,
        non_finite=0,
        signals=found,
    )
