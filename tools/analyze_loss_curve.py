"""What the loss curve says: where it broke, whether it learned, how validation follows."""

import math

import numpy as np
import numpy.typing as npt
from pydantic import Field

from traindx.artifacts import Run, Series
from traindx.contract import Citation, Fact, Signal
from traindx.curves import (
    Shape,
    cite,
    cite_setting,
    main_loss,
    named,
    nearest_index,
    shape_of,
    validation_of,
    where,
)
from traindx.toolbelt import NoData, ToolInput, ToolOutput, tool

# Classes of common tasks: a loss that sits at ln K has learned nothing but the number of classes.
MOST_CLASSES = 1000
CHANCE_TOLERANCE = 0.02


class Question(ToolInput):
    """Which curve to look at."""

    series: str = Field(default="", description="a series name such as `train/loss`; the main loss when empty")


class LossCurve(ToolOutput):
    """The measured shape of the curve, and what it means."""

    series: str
    source: str
    points: int
    start: float
    best: float
    best_at: str
    end: float
    onset: str | None = Field(description="where a lasting rise begins, null when there is none")


@tool(
    needs=["series"],
    emits={
        "loss-diverged": "the loss rose lastingly above its best level",
        "loss-shifted-level": "the loss jumped to a higher level in one step and went on learning from there",
        "loss-non-finite": "the loss is NaN or Inf from some point on",
        "loss-spike-recovered": "the loss jumped up and came back on its own",
        "loss-at-chance": "the loss sits at ln K for a whole number of classes",
        "loss-never-fell": "the loss ended where it began",
        "loss-fell": "the loss fell clearly and ended near its best",
        "loss-still-falling": "the last quarter of the run still brought a good part of the improvement",
        "loss-starts-far-above-chance": "the first loss is far above ln K for the configured number of classes",
        "loss-unstable-early": "the loss shoots up within the first tenth of the run before it settles",
        "loss-oscillates": "the loss swings widely without a trend",
        "loss-fell-slowly": "the loss falls steadily but has hardly left its start",
        "val-rises-while-train-falls": "validation loss rises from its best while training loss goes on falling",
        "val-follows-train": "validation loss ended near its best",
    },
)
def analyze_loss_curve(question: Question, run: Run) -> LossCurve:
    """Measure the shape of a loss curve: start, best, end, the onset of divergence, spikes that recovered, plateaus
    at chance level, NaN, and whether validation follows training.
    """
    loss = _chosen(question, run)
    shape = shape_of(loss.values)
    signals = [
        *_start(run, loss, shape),
        *_broken(run, loss, shape),
        *_learned(run, loss, shape),
        *_restless(run, loss, shape),
        *_validation(run, loss, shape),
    ]
    return LossCurve(
        series=loss.name,
        source=loss.source,
        points=shape.points,
        start=shape.start,
        best=shape.best,
        best_at=where(loss, shape.best_index),
        end=shape.end,
        onset=None if shape.onset is None else where(loss, shape.onset),
        signals=signals,
    )


def _chosen(question: Question, run: Run) -> Series:
    named = [row for row in run.series if row.name == question.series and len(row)]
    loss = max(named, key=len) if named else None if question.series else main_loss(run.series)
    if loss is None:
        known = ", ".join(sorted({row.name for row in run.series})) or "none at all"
        raise NoData(
            f"no {'loss' if not question.series else f'`{question.series}`'} series in this run; series found: {known}"
        )
    return loss


def _broken(run: Run, loss: Series, shape: Shape) -> list[Signal]:
    found = []
    if shape.first_non_finite is not None:
        at = where(loss, shape.first_non_finite)
        claim = f"`{loss.original}` is {loss.values[shape.first_non_finite]} from {at} on"
        place = cite(run, loss, shape.first_non_finite, claim)
        found.append(Signal(id="loss-non-finite", claim=claim, citations=[place], facts={"onset": at}))
    if shape.onset is not None:
        found.extend(_divergence(run, loss, shape, shape.onset))
    elif shape.peak_index is not None and shape.first_non_finite is None:
        top = shape.peak_index
        claim = f"`{loss.original}` jumped to {loss.values[top]:.4g} at {where(loss, top)} and came back down"
        facts = {"spike_at": where(loss, top), "spike": float(loss.values[top])}
        # A spike that recovered is worth a remark, never a cause by itself: its strength stays below the bar.
        strength = 0.8 * float(np.clip((loss.values[top] - shape.best) / max(shape.improvement, 1e-12), 0.3, 1.0))
        place = cite(run, loss, top, claim)
        found.append(Signal(id="loss-spike-recovered", claim=claim, strength=strength, citations=[place], facts=facts))
    return found


def _divergence(run: Run, loss: Series, shape: Shape, onset: int) -> list[Signal]:
    before = max(onset - 1, 0)
    at = where(loss, onset)
    rose = f"from {loss.values[before]:.4g} to {loss.values[onset]:.4g}"
    claim = f"`{loss.original}` rose {rose} at {at} and ended at {shape.end:.4g}"
    places = [
        cite(run, loss, before, f"the last value before the break: {loss.values[before]:.4g}"),
        cite(run, loss, onset, f"the loss breaks here: {loss.values[onset]:.4g}"),
    ]
    facts = {
        "onset": at,
        "last_good": where(loss, before),
        "loss_before": float(loss.values[before]),
        "loss_after": float(loss.values[onset]),
        "loss_best": shape.best,
        "loss_end": shape.end,
    }
    # Rising by all that was learned is as clear as it gets; a quarter of it is the least that counts.
    learned = max(shape.improvement, 1e-12)
    strength = float(np.clip(0.5 + 0.5 * shape.rise / learned, 0.5, 1.0))
    found = [Signal(id="loss-diverged", claim=claim, strength=strength, citations=places, facts=facts)]
    after = loss.values[onset:][np.isfinite(loss.values[onset:])]
    if _learns_on(after, shape.noise):
        said = f"after the jump at {at} the loss falls again, from {after[0]:.4g} to {after[-1]:.4g}"
        found.append(Signal(id="loss-shifted-level", claim=said, citations=places[1:], facts=facts))
    return found


def _learns_on(after: npt.NDArray[np.float64], noise: float) -> bool:
    """Whether a curve that has jumped goes on falling from its new level, without a burst and without a flat line."""
    if len(after) < 4:
        return False
    half = len(after) // 2
    early, late = float(np.median(after[:half])), float(np.median(after[half:]))
    return float(after.max()) <= 2 * float(np.median(after)) and early - late > max(0.02 * abs(early), noise)


def _learned(run: Run, loss: Series, shape: Shape) -> list[Signal]:
    if not shape.enough or shape.onset is not None or shape.first_non_finite is not None:
        return []
    last = len(loss) - 1
    facts = {"loss_start": shape.start, "loss_end": shape.end, "loss_best": shape.best}
    chance = _chance(run, loss, shape)
    at_chance = bool(chance) and chance[0].strength == 1.0
    if at_chance or shape.improvement <= max(0.02 * abs(shape.start), 2 * shape.noise):
        claim = f"`{loss.original}` stayed near {shape.end:.4g} from the first point to the last"
        flat = Signal(id="loss-never-fell", claim=claim, citations=[cite(run, loss, last, claim)], facts=facts)
        return [flat, *chance]
    claim = f"`{loss.original}` fell from {shape.start:.4g} to {shape.end:.4g} over {shape.points} points"
    ends = [cite(run, loss, 0, "the first value"), cite(run, loss, last, "the last value")]
    found = [Signal(id="loss-fell", claim=claim, citations=ends, facts=facts)]
    if shape.slope > 0.1:
        said = f"the last quarter of the run still brought {shape.slope:.0%} of the improvement"
        found.append(
            Signal(
                id="loss-still-falling",
                claim=said,
                strength=min(1.0, shape.slope / 0.3),
                citations=ends[1:],
                facts=facts,
            )
        )
    return found


def _chance(run: Run, loss: Series, shape: Shape) -> list[Signal]:
    """Whether the loss ended at ln K without ever having been far from it, and accuracy agrees where it is known."""
    classes = round(math.exp(shape.end)) if 0 < shape.end < math.log(MOST_CLASSES) + 1 else 0
    chance = math.log(classes) if classes > 1 else 0.0
    if classes < 2 or abs(shape.end - chance) > CHANCE_TOLERANCE * chance or shape.start > 1.5 * chance:
        return []
    # From the start down to chance is no learning; from chance on it would be.
    if chance - shape.best > 2 * CHANCE_TOLERANCE * chance + 2 * shape.noise:
        return []
    accuracy = _accuracy_share(run)
    if accuracy is not None and accuracy > 1.5 / classes + 0.02:
        return []
    # ln K lies within 2 % of any number beyond a dozen classes: only small K, or an accuracy of 1/K, are telling.
    strength = 1.0 if classes <= 12 or accuracy is not None else 0.4
    guessing = f", and accuracy is {accuracy:.1%}" if accuracy is not None else ""
    claim = f"`{loss.original}` sits at {shape.end:.4g}, and ln {classes} = {chance:.4g}{guessing}"
    facts: dict[str, Fact] = {"classes": classes, "chance": chance, "loss_end": shape.end}
    return [
        Signal(id="loss-at-chance", claim=claim, strength=strength, citations=[_last(run, loss, claim)], facts=facts)
    ]


def _start(run: Run, loss: Series, shape: Shape) -> list[Signal]:
    """The start against what a network that knows nothing would score, where the number of classes is configured."""
    classes = named(run.settings, "num_classes", "n_classes", "classes", "num_labels", "vocab_size", "n_vocab", "vocab")
    first = float(loss.values[0])
    if classes is None or not 2 <= float(classes.value) <= 1e6 or not math.isfinite(first) or not shape.enough:
        return []
    expected = math.log(float(classes.value))
    if first < 1.5 * expected + 0.5:
        return []
    claim = f"`{loss.original}` starts at {first:.4g}, where knowing nothing costs ln {classes.value} = {expected:.4g}"
    facts: dict[str, Fact] = {"loss_start": first, "expected_start": expected, "classes": classes.value}
    places = [cite(run, loss, 0, claim), cite_setting(run, classes, f"the number of classes: {classes.value}")]
    strength = float(np.clip((first / expected - 1) / 2, 0.2, 1.0))
    return [Signal(id="loss-starts-far-above-chance", claim=claim, strength=strength, citations=places, facts=facts)]


def _restless(run: Run, loss: Series, shape: Shape) -> list[Signal]:
    """A curve that shoots up early, swings without a trend, or hardly moves."""
    values = loss.values[np.isfinite(loss.values)]
    if len(values) < 20 or shape.onset is not None:
        return []
    early = values[: max(3, len(values) // 10)]
    top = int(np.argmax(early))
    learned = max(shape.improvement, 1e-12)
    if top > 0 and early[top] - values[0] > max(0.5 * abs(values[0]), 8 * shape.noise, 0.5 * learned):
        claim = f"`{loss.original}` shoots up from {values[0]:.4g} to {early[top]:.4g} at {where(loss, top)}"
        facts: dict[str, Fact] = {"spike": float(early[top]), "spike_at": where(loss, top)}
        return [Signal(id="loss-unstable-early", claim=claim, citations=[cite(run, loss, top, claim)], facts=facts)]
    half = values[len(values) // 2 :]
    swing = float(np.percentile(half, 90) - np.percentile(half, 10))
    drift = abs(float(np.mean(half[: len(half) // 2]) - np.mean(half[len(half) // 2 :])))
    if swing > 0.5 * learned and drift < 0.25 * swing and swing > 0.3 * abs(float(np.median(half))):
        claim = f"`{loss.original}` swings by {swing:.3g} over the second half of the run, with no trend"
        return [Signal(id="loss-oscillates", claim=claim, citations=[_last(run, loss, claim)], facts={"swing": swing})]
    fallen = shape.improvement / max(abs(shape.start), 1e-12)
    if 0.02 < fallen < 0.15 and shape.slope > 0.15:
        claim = f"`{loss.original}` fell by only {fallen:.1%} over {shape.points} points, steadily to the end"
        return [Signal(id="loss-fell-slowly", claim=claim, citations=[_last(run, loss, claim)])]
    return []


def _accuracy_share(run: Run) -> float | None:
    """The best accuracy any phase reached, between 0 and 1."""
    best = [float(np.nanmax(row.values)) for row in run.series if row.name.endswith("/accuracy") and len(row)]
    finite = [value / 100 if value > 1 else value for value in best if math.isfinite(value)]
    return max(finite, default=None)


def _last(run: Run, loss: Series, claim: str) -> Citation:
    return cite(run, loss, len(loss) - 1, claim)


def _validation(run: Run, loss: Series, shape: Shape) -> list[Signal]:
    validation = validation_of(loss, run.series)
    if validation is None or loss.name != "train/loss" or shape.onset is not None:
        return []
    seen = shape_of(validation.values)
    if not seen.enough or seen.first_non_finite is not None:
        return []
    best, last = seen.best_index, len(validation) - 1
    facts = {"best_at": where(validation, best), "val_best": seen.best, "val_end": seen.end}
    # A gap between the two is normal; overfitting is validation itself turning upwards, by more than its own wobble.
    turned = seen.onset is not None or seen.rise > max(0.1 * abs(seen.best), 4 * seen.noise, 0.03 * seen.improvement)
    meanwhile = (
        nearest_index(loss, float(validation.at[best]))
        if loss.axis == validation.axis
        else len(loss) * best // len(validation)
    )
    fell_on = float(np.median(loss.values[max(0, meanwhile - 1) : meanwhile + 2])) > shape.end
    if turned and fell_on and best < last:
        claim = (
            f"`{validation.original}` rose from {seen.best:.4g} at {facts['best_at']} to {seen.end:.4g}"
            f" while `{loss.original}` went on falling to {shape.end:.4g}"
        )
        places = [
            cite(run, validation, best, "the best validation loss"),
            cite(run, validation, last, "the validation loss at the end"),
            cite(run, loss, len(loss) - 1, "the training loss at the end"),
        ]
        strength = _overfit_strength(seen)
        return [
            Signal(
                id="val-rises-while-train-falls",
                claim=claim,
                strength=strength,
                citations=places,
                facts=facts,
            )
        ]
    if turned or seen.improvement <= 0:
        return []
    claim = f"`{validation.original}` ended at {seen.end:.4g}, near its best {seen.best:.4g}"
    return [Signal(id="val-follows-train", claim=claim, citations=[cite(run, validation, last, claim)], facts=facts)]


def _overfit_strength(seen: Shape) -> float:
    """A quarter above the best is clear; at the noise floor a rise must also be a share of what was learned."""
    above = seen.rise / (0.25 * max(abs(seen.best), 1e-12))
    undone = seen.rise / (0.15 * max(seen.improvement, 1e-12))
    return float(np.clip(min(above, undone), 0.0, 1.0))
