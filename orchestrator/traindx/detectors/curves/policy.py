"""Reinforcement learning: rewards that tell nothing apart, and a policy that runs away from its reference."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from traindx.contract import Citation, Fact, Signal
from traindx.detectors.citing import cite, where
from traindx.detectors.curves.change_point import stays_since
from traindx.detectors.curves.objective import words_of
from traindx.detectors.curves.shape import Numbers
from traindx.readers.model import Series

SIGNALS = {
    "rewards-all-equal": "all rewards of a group are equal and never were higher: there is nothing to learn from",
    "policy-kl-exploded": "the KL to the reference policy grew by orders of magnitude, and the reward fell",
    "policy-kl-ran-away": "within one update of a policy its KL to the policy before grew far beyond a small step",
    "task-solved": "nearly everything that is sampled earns the reward for a right answer, from early on to the end",
    "policy-kl-grew": "the KL to the reference policy grew by orders of magnitude; the reward kept up",
}

FEWEST = 8
FEW = 3
GREW = 20.0
"""late over early KL"""
LEFT = 10.0
"""times the early KL, from which on the policy has left its reference"""
LEAST_KL = 1.0
"""nats: below this a policy is still close to its reference"""
FELL = 0.3
"""share of what the reward had gained that it lost again"""
_SOLVED = 0.95
_SELDOM = 0.8
"""the least share of right answers in any step of a task that is solved"""
_RIGHT = {"accuracy", "acc", "correct", "correctness", "exact", "solved", "success", "answer", "match"}
_REWARDS = {"reward", "rewards", "rew", "return", "returns", "score", "scores"}
_SPREAD = {"std", "var"}
_NO_REWARD = {"frac", "min", "max", "non"}
"""words of shares and bounds, and of `non_score_reward`, the penalty for leaving the reference"""
_KL = {"kl", "kld", "approxkl", "klref"}


def detect(series: Sequence[Series], graders: Sequence[Citation] = ()) -> list[Signal]:
    """What rewards and KL say together; `graders` are the places in the code where rewards come from."""
    reward = _reward(series)
    if reward is None:
        return _within_update(series)
    return [*_equal(series, reward, graders), *_solved(series), *_runaway(series, reward)]


def _reward(series: Sequence[Series]) -> Series | None:
    """The mean reward: the plainest name among the longest series."""
    rows = [row for row in series if words_of(row) & _REWARDS and not words_of(row) & (_SPREAD | _NO_REWARD)]
    rows = [row for row in rows if len(row) >= FEWEST and np.isfinite(row.values).all() and "kl" not in words_of(row)]
    named = [row for row in rows if words_of(row) & {"reward", "rewards", "rew", "return"}] or rows
    return min(named, key=lambda row: (-len(row) // 2, len(row.original)), default=None)


def _equal(series: Sequence[Series], reward: Series, graders: Sequence[Citation]) -> list[Signal]:
    spread = _spread(series)
    if spread is None:
        return []
    row, zero = spread
    late = slice(len(row) // 3, None)
    if float(np.mean(zero[late])) < 0.85:
        return []
    values = reward.values
    end, top, bottom = (float(value) for value in (np.median(values[-len(values) // 4 :]), values.max(), values.min()))
    gained = end - float(np.median(values[: max(1, len(values) // 5)]))
    # A solved task has equal rewards as well: it got there, or stands at the highest that is usual.
    solved = gained > 0.2 * max(abs(top), abs(bottom), 1e-9) or end >= _SOLVED * max(1.0, top)
    if solved:
        return []
    claim = f"`{row.original}` is {row.values[-1]:.3g} at the end: all rewards of a group are equal, at {end:.4g}"
    facts: dict[str, Fact] = {"reward_level": end, "reward_series": reward.original, "spread_series": row.original}
    places = [cite(row, len(row) - 1, claim), cite(reward, len(reward) - 1, "the reward at the end")]
    norm = next((one for one in series if one.name == "grad_norm" and len(one) >= FEWEST), None)
    if norm is not None and float(np.median(norm.values[len(norm) // 3 :])) < 1e-6:
        places.append(cite(norm, len(norm) - 1, "no gradient"))
    places += graders
    return [Signal(id="rewards-all-equal", claim=claim, citations=places, facts=facts)]


def _solved(series: Sequence[Series]) -> list[Signal]:
    """A share of right answers near one; one that never moves at all may come from its grader."""
    for row in series:
        if len(row) < FEWEST or not words_of(row) & _REWARDS or not words_of(row) & _RIGHT:
            continue
        values = row.values
        late = values[len(values) // 3 :]
        if values.min() < 0 or values.max() > 1 or words_of(row) & (_SPREAD | _NO_REWARD):
            continue
        if float(np.median(late)) >= _SOLVED and float(late.min()) >= _SELDOM and len(set(values.tolist())) > FEW:
            claim = f"`{row.original}` stays near 1: lowest {late.min():.3g}, {values[-1]:.3g} at the end"
            return [Signal(id="task-solved", claim=claim, citations=[cite(row, len(row) - 1, claim)])]
    return []


def _spread(series: Sequence[Series]) -> tuple[Series, Numbers] | None:
    """The spread of rewards within a group, and where it is nothing."""
    for row in series:
        words = words_of(row)
        if len(row) < FEWEST or not words & _REWARDS or not np.isfinite(row.values).all():
            continue
        if {"frac", "zero", "std"} <= words:
            return row, (row.values >= 0.99).astype(np.float64)
    for row in series:
        words = words_of(row)
        grouped = words & (_REWARDS | {"advantage", "advantages"}) and words & _SPREAD and "per" not in words
        # The spread of one of several rewards says nothing about their sum.
        if grouped and len(row) >= FEWEST and np.isfinite(row.values).all() and row.original.count("/") < 2:
            return row, (row.values <= 1e-6).astype(np.float64)
    return None


def _runaway(series: Sequence[Series], reward: Series) -> list[Signal]:
    for row in series:
        words = words_of(row)
        if not (words & _KL or {"approx", "kl"} <= words) or words & {
            "coef",
            "weight",
            "beta",
            "target",
            "loss",
            "penalty",
        }:
            continue
        values = np.abs(row.values)
        if len(row) < FEWEST or not np.isfinite(values).all():
            continue
        early = float(np.median(values[len(values) // 20 : max(3, len(values) // 4)]))
        late = float(np.median(values[-max(2, len(values) // 8) :]))
        if late < LEAST_KL or late < GREW * max(early, 1e-4):
            continue
        return [_grown(row, reward, early, late)]
    return []


def _within_update(series: Sequence[Series]) -> list[Signal]:
    """The KL of a clipped surrogate's own passes over its batch, where no reward is logged beside them."""
    surrogate = any(word.startswith("surr") for row in series for word in words_of(row))
    for row in series:
        if not surrogate or not words_of(row) & _KL or len(row) < FEW or not np.isfinite(row.values).all():
            continue
        early, late = float(row.values[0]), float(np.median(row.values[len(row) // 2 :]))
        if late < LEAST_KL or late < GREW * max(early, 1e-4):
            continue
        claim = f"`{row.original}` went from {early:.3g} to {late:.3g}"
        facts: dict[str, Fact] = {"kl_early": early, "kl_late": late, "kl_since": where(row, 1)}
        places = [cite(row, 0, "the first value"), cite(row, len(row) - 1, claim)]
        return [
            Signal(id="policy-kl-ran-away", claim=claim, citations=places, facts={**facts, "kl_series": row.original})
        ]
    return []


def _grown(row: Series, reward: Series, early: float, late: float) -> Signal:
    values = reward.values
    start = float(np.median(values[: max(1, len(values) // 8)]))
    best = float(np.max(np.convolve(values, np.ones(3) / 3, mode="valid")))
    end = float(np.median(values[-max(2, len(values) // 8) :]))
    lost = best - end > FELL * max(best - start, 0.1 * abs(best), 1e-9)
    left = min(len(row) - 1, stays_since(np.abs(row.values) > LEFT * max(early, 1e-9)))
    claim = f"`{row.original}` went from {early:.3g} to {late:.3g}"
    claim += (
        f", and `{reward.original}` fell from {best:.3g} to {end:.3g}" if lost else f" while `{reward.original}` held"
    )
    facts: dict[str, Fact] = {
        "kl_early": early,
        "kl_late": late,
        "kl_since": where(row, left),
        "kl_series": row.original,
    }
    facts |= {"reward_best": best, "reward_end": end}
    places = [
        cite(row, left, f"from here on it is above {LEFT:g} times its early level"),
        cite(row, len(row) - 1, claim),
        cite(reward, len(reward) - 1, "the reward at the end"),
    ]
    return Signal(id="policy-kl-exploded" if lost else "policy-kl-grew", claim=claim, citations=places, facts=facts)
