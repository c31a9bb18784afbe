"""One task that is forgotten while another is learned."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from traindx.contract import Fact, Signal
from traindx.detectors.citing import cite, where
from traindx.detectors.curves.metric_names import ends, words_without_digits
from traindx.readers.model import Series

SIGNALS = {"older-task-forgotten": "one task's metric gets clearly worse while another's improves"}

_PHASES = {"train", "val", "valid", "validation", "test", "eval", "dev"}
_HIGHER = {
    "acc", "accuracy", "f1", "auc", "map", "recall", "precision", "score", "bleu", "rouge", "reward", "em", "success",
    "sr", "win", "winrate", "hits", "pass", "correct", "top", "miou", "iou", "dice", "r", "ndcg", "mrr", "exact",
}  # fmt: skip
_LOWER = {
    "loss",
    "error",
    "ppl",
    "perplexity",
    "mse",
    "mae",
    "rmse",
    "wer",
    "cer",
    "bpb",
    "nll",
    "ce",
    "err",
    "bpc",
    "eer",
}
_NO_PARTS = {"ppl", "perplexity", "wer", "cer", "bpb", "bpc", "err", "eer"}
"""low is good, and no model adds them up: they need no word for the phase"""
_STATISTICS = {
    "std", "var", "stdev", "stddev", "variance", "min", "max", "median", "frac", "fraction", "ratio", "share", "zero",
    "count", "num", "n", "length", "len", "entropy", "margin", "quantile", "percentile", "spread", "range", "sum",
    "time", "weight", "coef", "scale", "advantage", "advantages", "baseline", "ema", "delta", "gap",
}  # fmt: skip
"""words that name a property of one metric's values, no task: a spread may well fall while the level rises"""
_PLAYERS = {
    "predator", "prey", "attacker", "defender", "adversary", "adversaries", "opponent", "player", "players", "team",
    "agent", "seeker", "hider",
}  # fmt: skip
"""sides of a game: what one of them gains the other loses"""
_AVERAGES = {
    "last", "mean", "average", "avg", "running", "moving", "rolling", "smooth", "smoothed", "current", "recent", "best",
    "cumulative", "episode", "ep",
}  # fmt: skip
"""words that say which values of a metric are told: they tell no two tasks apart"""
FORGOTTEN = 0.15
CLOSE = 0.3
"""of what was gained: a best this low is close to nought"""
GIVEN_BACK = 0.1
"""of what was gained, that a metric which improved may stand below its best at the end"""
SWINGS = 3.0
"""usual changes from point to point that a loss must exceed"""
HALFWAY, NEARLY = 0.5, 0.25
"""of what was lost in the end: how far a metric must have fallen, and how near to its best it then came again"""
MOST_WORDS = 3
"""words that name a task"""


def task_groups(series: Sequence[Series]) -> list[list[Series]]:
    """Held-out metrics that are the same but for one word: the name of a task or a domain."""
    groups: dict[tuple[str, str, str], list[Series]] = {}
    for row in series:
        words = words_without_digits(row)
        kinds = words & (_HIGHER | _LOWER)
        # `acc_A` beside `acc_B` needs no word for the phase; losses of two parts of a model do.
        of_its_own = bool(kinds & (_HIGHER | _NO_PARTS))
        held_out = bool(words & (_PHASES - {"train"})) or (of_its_own and not words & _PHASES)
        rest = words - _PHASES - _AVERAGES - kinds
        if words & (_STATISTICS | _PLAYERS):
            continue
        if len(kinds) == 1 and held_out and 1 <= len(rest) <= MOST_WORDS:
            groups.setdefault((_home(row), row.axis, kinds.pop()), []).append(row)
    return [rows for rows in groups.values() if len(rows) > 1]


def _home(row: Series) -> str:
    """The file that a metric stands in; the folder where each metric has a file of its own, as MLflow keeps them."""
    return row.source.removesuffix(row.original) if row.source.endswith(f"/{row.original}") else row.source


def detect(series: Sequence[Series]) -> list[Signal]:
    """A metric that lost clearly what it had reached, beside one of another task that improved."""
    for rows in task_groups(series):
        higher = bool(words_without_digits(rows[0]) & _HIGHER)
        scored = [(_lost(row, higher), row) for row in rows]
        (lost, worst), (kept, best) = max(scored, key=lambda pair: pair[0]), min(scored, key=lambda pair: pair[0])
        gained = _gained(best, higher)
        if (
            lost < FORGOTTEN
            or gained <= 0
            or _is_swing(worst, lost)
            or _comes_back(worst, higher)
            or (kept > FORGOTTEN / 3 and not _holds(best, higher, gained))
        ):
            continue
        top = int(np.argmax(worst.values) if higher else np.argmin(worst.values))
        end = ends(worst)[1]
        claim = (
            f"`{worst.original}` went from {worst.values[top]:.4g} at {where(worst, top)} to {end:.4g}"
            f" while `{best.original}` improved to {ends(best)[1]:.4g}"
        )
        facts: dict[str, Fact] = {
            "old_metric": worst.original,
            "new_metric": best.original,
            "old_best": float(worst.values[top]),
            "old_end": end,
            "forgot_at": where(worst, top),
        }
        places = [
            cite(worst, top, "the old task at its best"),
            cite(worst, len(worst) - 1, "the old task at the end"),
            cite(best, len(best) - 1, "the new task at the end"),
        ]
        return [Signal(id="older-task-forgotten", claim=claim, citations=places, facts=facts)]
    return []


def _lost(row: Series, higher: bool) -> float:
    """How much of its level a metric has lost since its best, as a share of that best."""
    best = float(row.values.max() if higher else row.values.min())
    end = ends(row)[1]
    return (best - end if higher else end - best) / max(abs(best), 1e-12)


def _is_swing(row: Series, lost: float) -> bool:
    """Whether what was lost is no more than what the metric changes by from one point to the next."""
    best = float(np.abs(row.values).max())
    return lost * best < SWINGS * float(np.median(np.abs(np.diff(row.values))))


def _comes_back(row: Series, higher: bool) -> bool:
    """Whether a metric that had lost half of what it lost in the end was nearly back at its best later on: it swings,
    and what swings was not forgotten.
    """
    values = row.values if higher else -row.values
    top = int(np.argmax(values))
    drop = float(values[top]) - (ends(row)[1] if higher else -ends(row)[1])
    after = values[top:]
    fell = np.flatnonzero(after < values[top] - HALFWAY * drop)
    return len(fell) > 0 and bool((after[fell[0] :] > values[top] - NEARLY * drop).any())


def _holds(row: Series, higher: bool, gained: float) -> bool:
    """Whether a metric that came close to nought has kept nearly all that it gained: there a share of its best says
    little.
    """
    if higher:
        return False
    best, end = float(row.values.min()), ends(row)[1]
    return abs(best) <= CLOSE * gained and abs(best - end) <= GIVEN_BACK * gained


def _gained(row: Series, higher: bool) -> float:
    start, end = ends(row)
    return end - start if higher else start - end
