"""What the logged gradient norm says about the break."""

import numpy as np

from traindx.contract import Citation, Fact, Signal
from traindx.detectors.citing import cite, moment, where
from traindx.detectors.curves.objective import objective, words_of
from traindx.detectors.curves.series import by_layer, level, listed_gradients
from traindx.detectors.settings.lookup import cite_setting, clip_threshold
from traindx.readers import Run, Series
from traindx.runtime import NoData, ToolInput, ToolOutput, tool

# AutoTrainer calls a growth of 70x an explosion; ten times the usual norm is where clipping recipes start to act.
SPIKE = 5.0
EXPLOSION = 30.0
BURST = 100.0
# Below this a step of any usual learning rate changes no weight in single precision (SageMaker takes 1e-7 per weight).
TINY = 1e-5
# AutoTrainer calls early layers vanished below a thousandth of the late ones.
VANISHED = 1e-3
EVEN = 0.01
FADED = 0.05
GRADIENT_WORDS = ("grad", "grads", "gradient", "gradients", "gn", "gnorm", "gradnorm")
# Clipping half of all updates is called extremely aggressive in the literature.
MOSTLY = 0.5
FEWEST = 5
STILL = 1e-5
AFTER_CLIPPING = {"g", "gn", "grad", "grads", "gnorm", "gradnorm", "norm", "gradient"}


class Input(ToolInput):
    """Nothing to choose: the run's own gradient norm is looked at."""


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
    emits={
        "grad-norm-exploded-before-onset": "the gradient norm grew by orders of magnitude before the loss broke",
        "grad-norm-jumped-at-onset": "the gradient norm jumped together with the loss",
        "grad-norm-calm-at-onset": "the gradient norm stays in its range where the loss breaks",
        "grad-norm-burst": "the gradient norm burst to a hundred times its usual size, for a moment",
        "grad-norm-exploded": "the gradient norm grew by orders of magnitude and stayed there",
        "grad-norm-steady": "the gradient norm stayed in its usual range to the end",
        "grad-norm-non-finite": "the gradient norm is NaN or Inf from some point on to the end",
        "grad-norm-faded": "the gradient norm fades to nothing while the loss is as high as ever",
        "grad-norm-tiny": "the gradient norm is next to nothing from the start",
        "gradients-vanish-towards-input": "the first layers' gradients are orders of magnitude below the last ones'",
        "gradients-even-over-layers": "the gradients of the first and last layers are of the same order",
        "updates-tiny": "each step changes the weights by next to nothing of their size",
        "updates-clipped-away": "the gradient norm stands far above the clipping threshold nearly all the time",
        "updates-rarely-clipped": "the gradient norm stays below the clipping threshold most of the time",
    },
)
def check_gradients(given: Input, run: Run) -> GradientReport:  # noqa: ARG001 - every tool takes its input
    """Compare the logged gradient norm with the loss: did it explode, and before, with or after the break?"""
    norms = max((row for row in run.series if row.name == "grad_norm" and len(row) > 2), key=len, default=None)
    layers = [*(_over_layers(run) or _listed(run)), *_updates(run), *_at_threshold(run)]
    logged = by_layer(run.series, *GRADIENT_WORDS)
    if norms is None and layers and not logged:
        place = layers[0].citations[0]
        size = next(fact for name, fact in layers[0].facts.items() if name in {"late_norm", "update_ratio", "clip"})
        return GradientReport(
            series="gradients per layer",
            source=place.source,
            usual=float(str(size)),
            highest=float(str(size)),
            highest_at=place.locator,
            non_finite=0,
            signals=layers,
        )
    if norms is None and layers:
        first = logged[0]
        return GradientReport(
            series=first.name,
            source=first.source,
            usual=level(first),
            highest=float(np.nanmax(first.values)),
            highest_at=where(first, int(np.nanargmax(first.values))),
            non_finite=int((~np.isfinite(first.values)).sum()),
            signals=layers,
        )
    if norms is None:
        raise NoData(
            "no gradient norm was logged; looked for grad_norm, gradient_norm, gnorm, total_norm in every series"
        )
    finite = np.isfinite(norms.values)
    if not finite.any():
        raise NoData(f"`{norms.original}` in `{norms.source}` holds no finite value")
    usual = float(np.median(norms.values[finite]))
    top = int(np.argmax(np.where(finite, norms.values, -np.inf)))
    return GradientReport(
        series=norms.name,
        source=norms.source,
        usual=usual,
        highest=float(norms.values[top]),
        highest_at=where(norms, top),
        non_finite=int((~finite).sum()),
        signals=[
            *_signals(run, norms, top),
            *_tiny(run, norms, usual),
            *_faded(run, norms),
            *layers,
            *_clipped(run, norms),
            *_lost(run, norms),
        ],
    )


def _signals(run: Run, norms: Series, top: int) -> list[Signal]:
    goal = objective(run)
    onset = None if goal is None else goal.shape.broke
    if goal is None or onset is None or (goal.series.axis != norms.axis and goal.series.source != norms.source):
        return [_without_break(run, norms, top)]
    loss = goal.series
    at = moment(norms, loss, onset)
    calm = _level(norms, 0, at)
    window = max(1, len(norms) // 20)
    ahead = _highest(norms, max(1, at - window), at)
    with_it = _level(norms, at, at + window)
    if at > 3 and ahead > EXPLOSION * _level(norms, 0, max(1, at - window)):
        grown = ahead / calm
        claim = f"`{norms.original}` had already grown {grown:.0f}-fold before the loss broke at {where(loss, onset)}"
        return [_signal("grad-norm-exploded-before-onset", claim, run, norms, [max(0, at - 1)], {"grad_norm": ahead})]
    if with_it > SPIKE * calm >= 0:
        claim = (
            f"`{norms.original}` jumped from {calm:.3g} to {with_it:.3g} at {where(norms, at)}, together with the loss"
        )
        facts: dict[str, Fact] = {"grad_norm_before": calm, "grad_norm": with_it}
        signal = _signal("grad-norm-jumped-at-onset", claim, run, norms, [max(0, at - 1), at], facts)
        # Ten times the usual goes with any break; a thousand times is a gradient that exploded.
        strength = float(np.clip(np.log10(with_it / max(calm, 1e-30)) / 3, 0.3, 1.0))
        return [signal.model_copy(update={"strength": strength})]
    if at > 3 and 0 < with_it <= 3 * calm and loss.at[onset] > 0:
        claim = f"`{norms.original}` stays at {with_it:.3g} ({calm:.3g} before) where the loss breaks"
        return [_signal("grad-norm-calm-at-onset", claim, run, norms, [at], {})]
    return []


def _without_break(run: Run, norms: Series, top: int) -> Signal:
    early, late = _level(norms, 0, max(1, len(norms) // 4)), _level(norms, 3 * len(norms) // 4, len(norms))
    if late > EXPLOSION * early:
        claim = f"`{norms.original}` grew from {early:.3g} to {late:.3g}"
        return _signal("grad-norm-exploded", claim, run, norms, [top], {"grad_norm": late})
    usual, highest = _level(norms, 0, len(norms)), float(norms.values[top])
    if highest > BURST * usual > 0:
        claim = f"`{norms.original}` burst to {highest:.3g} at {where(norms, top)}, where {usual:.3g} is usual"
        return _signal("grad-norm-burst", claim, run, norms, [top], {"grad_norm": highest, "onset": where(norms, top)})
    claim = f"`{norms.original}` went from {early:.3g} to {late:.3g}"
    return _signal("grad-norm-steady", claim, run, norms, [len(norms) - 1], {})


def _tiny(run: Run, norms: Series, usual: float) -> list[Signal]:
    """A norm of next to nothing, all along: nothing reaches the weights. At the end of a run it may have converged."""
    early = _level(norms, 0, max(3, len(norms) // 3))
    goal = objective(run)
    learned = goal is not None and goal.shape.improvement > 0.2 * abs(goal.shape.start)
    # Losses in tiny units have tiny gradients, and learn: only a zero is nothing whatever the unit.
    if not early < TINY or (learned and early > 0):
        return []
    claim = f"`{norms.original}` is {early:.2g} from the start (usually {usual:.2g})"
    return [_signal("grad-norm-tiny", claim, run, norms, [0], {"grad_norm": early})]


def _faded(run: Run, norms: Series) -> list[Signal]:
    """A norm that was there and goes to nothing although nothing is solved: it underflows, or the units have died."""
    goal = objective(run)
    finite = norms.values[np.isfinite(norms.values)]
    if goal is None or goal.rewarded or len(finite) < 4 * FEWEST or goal.shape.end < 0.8 * goal.shape.start:
        return []
    early, late = float(np.median(finite[: len(finite) // 10])), float(np.median(finite[-(len(finite) // 10) :]))
    if not late < FADED * early:
        return []
    claim = f"`{norms.original}` fades from {early:.2g} to {late:.2g} while the loss stays high"
    return [_signal("grad-norm-faded", claim, run, norms, [0, len(norms) - 1], {"grad_norm": late})]


def _at_threshold(run: Run) -> list[Signal]:
    """A norm that is the clipping threshold itself, step after step: it was measured after clipping."""
    limit = clip_threshold(run.settings)
    if limit is None:
        return []
    threshold = float(limit.value)
    for row in run.series:
        finite = row.values[np.isfinite(row.values)]
        if len(finite) < FEWEST or not words_of(row) & AFTER_CLIPPING or words_of(row) & {"clip", "range", "max"}:
            continue
        if float(np.mean(np.abs(finite - threshold) < 0.01 * threshold)) >= 0.9:
            claim = f"`{row.original}` is {threshold:g} nearly all the time: every update is clipped to the threshold"
            places = [cite(run, row, len(row) // 2, claim), cite_setting(run, limit, "the threshold")]
            return [Signal(id="updates-clipped-away", claim=claim, citations=places, facts={"clip": threshold})]
    return []


def _updates(run: Run) -> list[Signal]:
    """A logged ratio of update to weight: a thousandth is healthy, below a hundred-thousandth nothing moves."""
    for row in run.series:
        words = words_of(row)
        ratio = bool(words & {"upd", "update", "updates", "uw"}) and bool(words & {"ratio", "rel", "weight", "uw"})
        usual = level(row) if ratio and len(row) >= FEWEST else float("nan")
        if 0 < usual < STILL:
            claim = f"`{row.original}` is {usual:.2g}: each step changes the weights by that share of their size"
            place = cite(run, row, len(row) // 2, claim)
            return [Signal(id="updates-tiny", claim=claim, citations=[place], facts={"update_ratio": usual})]
    return []


def _listed(run: Run) -> list[Signal]:
    """What a list of gradients says, from input to output."""
    found = listed_gradients(run)
    if found is None or found.sizes[-1] <= 0:
        return []
    first, last = found.sizes[0], found.sizes[-1]
    ratio = first / last
    early, late = found.names
    claim = f"{first:.2g} in `{early}`, the first of {len(found.sizes)} layers, {last:.2g} in `{late}`"
    facts: dict[str, Fact] = {
        "early_layer": early,
        "late_layer": late,
        "early_norm": first,
        "late_norm": last,
        "layer_ratio": ratio,
    }
    places = [
        Citation(claim=claim, source=found.source, locator=f"line {line}", quote=text) for line, text in found.places
    ]
    if ratio >= VANISHED and ratio <= EVEN:
        return []
    name = "gradients-vanish-towards-input" if ratio < VANISHED else "gradients-even-over-layers"
    return [Signal(id=name, claim=claim, citations=places, facts=facts)]


def _over_layers(run: Run) -> list[Signal]:
    layers = [row for row in by_layer(run.series, *GRADIENT_WORDS) if level(row) >= 0]
    if len(layers) < 2 or level(layers[-1]) <= 0:
        return []
    first, last = layers[0], layers[-1]
    ratio = level(first) / level(last)
    claim = f"`{first.original}` is {level(first):.2g} where `{last.original}` is {level(last):.2g} (ratio {ratio:.1g})"
    facts: dict[str, Fact] = {
        "early_layer": first.original,
        "late_layer": last.original,
        "early_norm": level(first),
        "late_norm": level(last),
        "layer_ratio": ratio,
    }
    places = [cite(run, row, len(row) // 2, f"the gradient of `{row.original}`") for row in (first, last)]
    if ratio < VANISHED:
        strength = float(np.clip(np.log10(ratio + 1e-30) / np.log10(VANISHED) / 1.5, 0.6, 1.0))
        name = "gradients-vanish-towards-input"
        return [Signal(id=name, claim=claim, strength=strength, citations=places, facts=facts)]
    if 0.01 < ratio < 100:
        return [Signal(id="gradients-even-over-layers", claim=claim, citations=places, facts=facts)]
    return []


def _clipped(run: Run, norms: Series) -> list[Signal]:
    """How the logged norm (frameworks log it before clipping) compares with the configured threshold."""
    limit = clip_threshold(run.settings)
    finite = norms.values[np.isfinite(norms.values)]
    if limit is None or len(finite) < FEWEST:
        return []
    threshold = float(limit.value)
    share, ratio = float(np.mean(finite > threshold)), float(np.median(finite)) / threshold
    facts: dict[str, Fact] = {
        "clip": threshold,
        "clip_key": limit.key,
        "clip_place": f"{limit.source}:{limit.line}",
        "clip_ratio": ratio,
        "clip_share": share,
        "clip_proposed": float(np.percentile(finite, 90)),
    }
    if share <= MOSTLY:
        claim = f"only {share:.0%} of the logged gradient norms exceed the clipping threshold {threshold:g}"
        return [_signal("updates-rarely-clipped", claim, run, norms, [len(norms) - 1], facts)]
    claim = f"{share:.0%} of the logged gradient norms exceed `{limit.key}` = {threshold:g}, typically {ratio:.3g}-fold"
    # A norm of twice the threshold is how many recipes run; a hundred times leaves nothing of the gradient's scale.
    strength = float(np.clip(np.log10(max(ratio, 1.0)) / 2, 0.0, 1.0))
    signal = _signal("updates-clipped-away", claim, run, norms, [len(norms) // 2], facts)
    place = cite_setting(run, limit, f"the threshold that nearly every update runs into: {threshold:g}")
    return [signal.model_copy(update={"strength": strength, "citations": [place, *signal.citations]})]


def _lost(run: Run, norms: Series) -> list[Signal]:
    """A norm that is not finite at the end; a loss scaler makes the first few infinite on purpose."""
    bad = ~np.isfinite(norms.values)
    tail = max(2, len(norms) // 10)
    if not bad[-tail:].all():
        return []
    first = int(len(bad) - np.argmin(bad[::-1])) if not bad.all() else 0
    claim = f"`{norms.original}` is {norms.values[first]} from {where(norms, first)} to the end"
    return [_signal("grad-norm-non-finite", claim, run, norms, [first], {"onset": where(norms, first)})]


def _level(norms: Series, first: int, last: int) -> float:
    window = norms.values[first : max(last, first + 1)]
    finite = window[np.isfinite(window)]
    return float(np.median(finite)) if len(finite) else float("inf")


def _highest(norms: Series, first: int, last: int) -> float:
    window = norms.values[first : max(last, first + 1)]
    finite = window[np.isfinite(window)]
    return float(finite.max()) if len(finite) else 0.0


def _signal(name: str, claim: str, run: Run, norms: Series, points: list[int], facts: dict[str, Fact]) -> Signal:
    places = [cite(run, norms, point, f"the gradient norm is {norms.values[point]:.3g}") for point in points]
    return Signal(id=name, claim=claim, citations=places, facts=facts)
