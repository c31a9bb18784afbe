"""The learning rate and its neighbours, against the moment the loss broke."""

import numpy as np

from traindx.detectors.curves import loss_scale
from traindx.detectors.curves.objective import Objective, objective
from traindx.detectors.program import half_range
from traindx.detectors.settings import (
    batch,
    capacity,
    clipping,
    fine_tuning,
    logged_rate,
    precision,
    regularisation,
    unusual_rate,
    warmup,
)
from traindx.detectors.settings.lookup import clip_threshold, optimizer, peak_rate, rates
from traindx.detectors.settings.own_schedule import own_plan
from traindx.program.followed import program_of, settings_of
from traindx.readers import Run
from traindx.readers.excerpts import log_heads
from traindx.runtime import NoData, ToolInput, ToolOutput, tool


class Input(ToolInput):
    """No options: every setting and the logged rate are checked."""


class HyperparameterReport(ToolOutput):
    """What was found: rates as configured and as logged, clipping, the change at the break."""

    configured_rates: dict[str, float]
    logged_rate: str | None
    clipping: str | None


@tool(
    needs=["series", "settings"],
    emits={
        **logged_rate.SIGNALS,
        **fine_tuning.SIGNALS,
        **unusual_rate.SIGNALS,
        **warmup.SIGNALS,
        **precision.SIGNALS,
        **half_range.SIGNALS,
        **regularisation.SIGNALS,
        **batch.SIGNALS,
        **capacity.SIGNALS,
        **clipping.SIGNALS,
    },
)
def check_hyperparameters(given: Input, run: Run) -> HyperparameterReport:  # noqa: ARG001 - every tool takes its input
    """Find learning rate, schedule and clipping in config, code and logs, and say which of them changed where the loss
    broke; names the line that sets the value and proposes another.
    """
    series, settings, code = run.series, settings_of(run), run.program
    goal, logged = run.once(objective), run.once(logged_rate.rate_series)
    name, clip = optimizer(settings, code, series), clip_threshold(settings)
    configured = {row.key: float(row.value) for row in rates(settings)}
    change = logged_rate.at_the_break(goal, logged, series)
    raising = logged_rate.raising_setting(change, settings)
    signals = [
        *logged_rate.changed_at_break(change, settings, raising),
        *logged_rate.stalled(goal, logged, settings),
        *unusual_rate.detect(settings, logged, name),
        *fine_tuning.detect(goal, peak_rate(settings, logged)),
        *regularisation.detect(settings, name),
        *capacity.detect(settings, log_heads(run, capacity.MOST_LINES)),
        *batch.detect(settings),
        *(precision.detect(settings, code) or precision.of_program(program_of(run))),
        *(half_range.detect(code, precision.half_precision(settings)) if _overflows(run, goal) else []),
        *warmup.detect(settings, logged, name, code, own_plan(program_of(run), settings)),
        *clipping.detect(clip, code),
    ]
    if not signals and not configured and logged is None and clip is None:
        raise NoData("no learning rate and no clipping in any config, code or log of this run")
    return HyperparameterReport(
        configured_rates=configured,
        logged_rate=None if logged is None else f"{logged.source}: {logged.values[0]:.4g} .. {logged.values[-1]:.4g}",
        clipping=None if clip is None else f"{clip.source}:{clip.line} {clip.key} = {clip.value}",
        signals=signals,
    )


def _overflows(run: Run, goal: Objective | None) -> bool:
    """Whether values left their range: the loss is not finite, the loss scale fell to its floor, or the log says so."""
    if goal is not None and not np.isfinite(goal.series.values).all():
        return True
    if half_range.is_in_trouble(run.errors) or loss_scale.logged(run.series):
        return True
    return bool(loss_scale.announced(log_heads(run, loss_scale.MOST_LINES)))
