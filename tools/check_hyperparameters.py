"""The learning rate and its neighbours, against the moment the loss broke."""

from traindx.detectors.settings.logged_rate import at_the_break, stalled
from traindx.detectors.settings.lookup import clip_threshold, rates
from traindx.detectors.settings.precision import clipping, precision
from traindx.detectors.settings.rate import fine_tuning, logged_rate, unusual_rate
from traindx.detectors.settings.regularisation import regularisation
from traindx.detectors.settings.size import batch, capacity
from traindx.detectors.settings.warmup import warmup
from traindx.readers import Run
from traindx.runtime import NoData, ToolInput, ToolOutput, tool


class Input(ToolInput):
    """Nothing to choose: every setting and the logged rate are looked at."""


class HyperparameterReport(ToolOutput):
    """What was found: rates as configured and as logged, clipping, the change at the break."""

    configured_rates: dict[str, float]
    logged_rate: str | None
    clipping: str | None


@tool(
    needs=["series", "settings"],
    emits={
        "lr-raised-at-onset": "the learning rate was raised at the very point where the loss broke",
        "lr-unchanged-at-onset": "the learning rate was the same before and after the loss broke",
        "lr-zero-before-end": "the learning rate is zero for a good part of the run",
        "fine-tuning-rate": "a rate as for fine-tuning, and a loss that is low from the start",
        "lr-annealed": "the logged learning rate came down to its floor as the run ended",
        "lr-far-below-usual": "the configured learning rate is far below what the optimizer is usually given",
        "warmup-zero": "a warm-up can be set and is set to zero, at a bold learning rate",
        "lr-absurd": "the learning rate is thirty times beyond what the optimizer is usually given",
        "lr-far-above-usual": "the configured learning rate is far above what the optimizer is usually given",
        "lr-modest": "the learning rate is in the lower half of what the optimizer is usually given",
        "no-warmup": "the learning rate starts at its peak",
        "transformer-without-warmup": "attention layers, a bold rate of Adam's kind, and no warm-up",
        "weights-in-half": "the weights themselves are fp16, with neither autocast nor a loss scaler",
        "regularised-heavily": "weight decay or dropout far above the usual",
        "regularised-absurdly": "weight decay thirty times beyond what is already much",
        "batch-tiny": "the batch holds a handful of samples",
        "capacity-tiny": "the model has a handful of units per layer",
        "half-precision": "the run computes in fp16",
        "clipping-configured": "gradient clipping is configured",
        "recurrent-unclipped": "a recurrent network is trained without gradient clipping",
        "clipping-absent": "no gradient clipping is configured anywhere in config or code",
    },
)
def check_hyperparameters(given: Input, run: Run) -> HyperparameterReport:  # noqa: ARG001 - every tool takes its input
    """Find learning rate, schedule and clipping in config, code and logs, and say which of them changed where the loss
    broke; names the line that sets the value and proposes another.
    """
    configured = {row.key: float(row.value) for row in rates(run.settings)}
    logged = logged_rate(run)
    clip = clip_threshold(run.settings)
    signals = [
        *at_the_break(run, logged),
        *stalled(run, logged),
        *unusual_rate(run),
        *fine_tuning(run, logged),
        *regularisation(run),
        *capacity(run),
        *batch(run),
        *precision(run),
        *warmup(run, logged),
        *clipping(run, clip),
    ]
    if not signals and not configured and logged is None and clip is None:
        raise NoData("no learning rate and no clipping in any config, code or log of this run")
    return HyperparameterReport(
        configured_rates=configured,
        logged_rate=None if logged is None else f"{logged.source}: {logged.values[0]:.4g} .. {logged.values[-1]:.4g}",
        clipping=None if clip is None else f"{clip.source}:{clip.line} {clip.key} = {clip.value}",
        signals=signals,
    )
