"""Whether a curve sits where guessing would put it."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

import numpy as np

from traindx.contract import Fact, Signal
from traindx.detectors.citing import cite
from traindx.detectors.curves.objective import Objective, words_of
from traindx.detectors.curves.shape import Numbers
from traindx.detectors.settings.lookup import named
from traindx.readers.code.codeunit import CodeUnit
from traindx.readers.model import Series, Setting

SIGNALS = {
    "loss-at-chance": "the loss sits at ln K for a whole number of classes",
    "loss-at-variance": "a regression stays at the variance of its target",
}

CLASS_COUNTS = ("num_classes", "n_classes", "classes", "num_labels", "n_labels", "nclass", "n_class", "num_class")
VOCABULARIES = ("vocab_size", "n_vocab", "vocab", "n_tokens")
MOST_CLASSES = 1000
# ln K lies within 2 % of any number beyond a dozen classes: only few classes, a configured K or an accuracy tell.
FEW_CLASSES = 12
MANY = 15
_ACCURACIES = {"accuracy", "acc", "top1", "top1_acc", "acc1", "a_acc"}
_R2 = re.compile(r"(?:^|[^a-z0-9])r2(?:[^a-z0-9]|$)")


def class_count(settings: Sequence[Setting]) -> Setting | None:
    """The configured number of classes or tokens."""
    found = named(settings, *CLASS_COUNTS) or named(settings, *VOCABULARIES)
    return found if found is not None and 2 <= float(found.value) <= 1e6 else None


def accuracy_share(series: Sequence[Series]) -> float | None:
    """The best accuracy that any phase has in the second half of the run, between 0 and 1."""
    rows = [row.values[np.isfinite(row.values)] for row in series if is_accuracy(row.name)]
    return max((_best_late(values) for values in rows if len(values)), default=None)


def _best_late(values: Numbers) -> float:
    late = values[len(values) // 2 :]
    # Single batches are lucky at times: of many values the usual one counts.
    share = float(np.median(late) if len(late) >= MANY else late.max())
    return share / 100 if float(values.max()) > 1 else share


def is_accuracy(name: str) -> bool:
    """Whether a series of this name is an accuracy, of whichever phase."""
    last = name.rpartition("/")[2]
    return last in _ACCURACIES or last.endswith("_accuracy")


def at_chance(
    goal: Objective, series: Sequence[Series], classes: Setting | None, code: Sequence[CodeUnit]
) -> Signal | None:
    """Whether the loss stays at ln K, the price of knowing nothing but the number of classes."""
    shape, loss = goal.shape, goal.series
    if goal.rewarded or not shape.enough or shape.onset is not None or shape.first_non_finite is not None:
        return None
    unexplained = _at_variance(goal, series, code)
    if unexplained is not None:
        return unexplained
    if not 0 < shape.end < math.log(MOST_CLASSES) + 1:
        return None
    count = int(classes.value) if classes is not None else round(math.exp(shape.end))
    if count < 2:
        return None
    chance = math.log(count)
    accuracy = accuracy_share(series)
    guesses = accuracy is not None and 0.7 / count <= accuracy <= 1.2 / count
    # Who guesses right once in K guesses, whatever came before: then the end alone is looked at.
    late = goal.costs[len(goal.costs) * (2 if guesses else 1) // 3 :]
    late = late[np.isfinite(late)]
    wobble = 2 * float(np.std(late)) / math.sqrt(len(late)) if len(late) else 0.0
    # Guessing costs ln K and a little more for the noise of the guesses, never less.
    # An accuracy of 1/K settles it: then the loss may wander a little more.
    slack = 0.02 if accuracy is not None else 0.01
    if not -slack * chance - wobble <= shape.end - chance <= 0.03 * chance + wobble:
        return None
    best = float(np.percentile(late, 10)) if guesses else shape.best
    if chance - best > 2 * slack * chance + 2 * shape.noise or np.percentile(late, 90) > 1.3 * chance:
        return None
    third = max(1, len(late) // 3)
    if abs(float(np.median(late[:third]) - np.median(late[-third:]))) > slack * chance + wobble:
        return None
    if accuracy is not None and accuracy > 1.6 / count + 0.02:
        return None
    certain = classes is not None or accuracy is not None
    fell_to_it = shape.start > 1.5 * chance
    # ln K of some K is near any number: only few classes tell, and after a fall only the number itself.
    if not certain and (count > FEW_CLASSES or (fell_to_it and abs(shape.end - chance) > 0.003 * chance)):
        return None
    strength = 0.6 if fell_to_it and not certain else 1.0
    guessing = f", and accuracy is {accuracy:.1%}" if accuracy is not None else ""
    seen = float(loss.values[goal.at_end])
    claim = f"`{loss.original}` sits at {seen:.4g}, and ln {count} = {chance:.4g}{guessing}"
    facts: dict[str, Fact] = {"classes": count, "chance": chance, "loss_end": seen}
    place = cite(loss, goal.at_end, claim)
    return Signal(id="loss-at-chance", claim=claim, strength=strength, citations=[place], facts=facts)


def _at_variance(goal: Objective, series: Sequence[Series], code: Sequence[CodeUnit]) -> Signal | None:
    """Whether a regression stays at the variance of its target: R2 of zero, or a squared error that stays at one."""
    shape, loss = goal.shape, goal.series
    fell = shape.improvement > max(0.05 * abs(shape.start), 2 * shape.noise)
    explained = next((row for row in series if is_r2(row) and len(row) >= 3), None)
    seen = float(loss.values[goal.at_end])
    facts: dict[str, Fact] = {"loss_end": seen}
    if explained is not None:
        finite = explained.values[np.isfinite(explained.values)]
        if not len(finite) or fell or float(np.median(finite[-max(1, len(finite) // 4) :])) > 0.05:
            return None
        claim = f"`{explained.original}` ends at {finite[-1]:.3g}: none of the target's variance is explained"
        place = cite(explained, len(explained) - 1, claim)
        return Signal(id="loss-at-variance", claim=claim, citations=[place], facts=facts)
    squared = {"mse", "l2"} & words_of(loss) or any("squared-error" in unit.traits for unit in code)
    if not squared or fell or not 0.93 < shape.end < 1.07:
        return None
    claim = f"`{loss.original}` stays at {seen:.4g}: a standardised target has a variance of 1"
    return Signal(
        id="loss-at-variance", claim=claim, strength=0.8, citations=[cite(loss, len(loss) - 1, claim)], facts=facts
    )


def is_r2(row: Series) -> bool:
    """Whether a series is a coefficient of determination."""
    return bool(words_of(row) & {"rsq", "rsquared"}) or _R2.search(row.original.lower().replace("²", "2")) is not None
