"""What several curves say together: an idle latent, a discriminator that wins, a task that is forgotten."""

import re

import numpy as np

from traindx.contract import Citation, Fact, Signal
from traindx.detectors.citing import cite, where
from traindx.detectors.curves.objective import adversaries, objective, words_of
from traindx.detectors.settings.lookup import cite_setting, is_number, named
from traindx.readers import Run, Series
from traindx.runtime import NoData, ToolInput, ToolOutput, tool

FEWEST = 5
# Words inside a metric's name, told apart by `/`, `_`, `.`, `-` and digits.
_PARTS = re.compile(r"[/_.\-\s]+")
_KL = {"kl", "kld", "kldiv", "rate"}
_DISCRIMINATOR = {"d", "disc", "discriminator", "critic"}
_GENERATOR = {"g", "gen", "generator"}
_PHASES = {"train", "val", "valid", "validation", "test", "eval", "dev"}
_HIGHER = {
    "acc", "accuracy", "f1", "auc", "map", "recall", "precision", "score", "bleu", "rouge", "reward", "em", "success",
    "sr", "win", "winrate", "hits", "pass", "correct",
}  # fmt: skip
_LOWER = {"loss", "error", "ppl", "perplexity", "mse", "mae", "rmse", "wer", "cer", "bpb", "nll", "ce"}
# A KL term of a hundredth of a nat, or below a thousandth of the reconstruction, tells the decoder nothing.
NO_INFORMATION = 0.05
_RECONSTRUCTIONS = {"rec", "recon", "reconstruction", "nll", "elbo", "ll", "likelihood", "negll", "bce", "mse", "ce"}
_PENALTIES = {"l1", "l2", "reg", "penalty", "regularization", "regularisation", "sparsity", "regloss", "wd"}
MOST_LINES = 4_000
_REDUCED = re.compile(
    r"(?:reduc\w{1,4}|lower\w{1,4}|decreas\w{1,4}|halv\w{1,4})\b[^.\d]{0,40}?"
    r"\bto:?\s{0,3}(\d[\d.]{0,30}(?:e[-+]?\d{1,4})?)(?=\D|$)",
    re.IGNORECASE,
)
_OF_BOXES = {"box", "bbox", "rpn", "cls", "obj", "dfl", "iou", "giou", "mask"}
# From here on the penalty is the larger part of what is minimised.
DOMINATES = 0.5
FORGOTTEN = 0.15
MOST_WORDS = 3
"""words that name a task"""
KL_WEIGHTS = ("beta", "kl_weight", "kl_coef", "lambda_kl", "kl_lambda", "kld_weight", "beta_kl")
FOR_ONE_SIDE = re.compile(
    r"(?:lr|steps?|iters?|rate)_?(?:d|disc)(?:$|_)|(?:^|[._])(?:d|disc|critic)_?(?:lr|steps?|iters?)", re.I
)


class Input(ToolInput):
    """Nothing to choose: every pair of curves that belongs together is looked at."""


class Together(ToolOutput):
    """The curves that were looked at together."""

    resolve_inputs: list[str]


@tool(
    needs=["series"],
    emits={
        "kl-near-zero": "the KL term of a latent-variable model is (nearly) zero at the end",
        "adversaries-balanced": "discriminator and generator keep each other in balance to the end",
        "discriminator-wins": "the discriminator's loss goes to zero while the generator's rises",
        "penalty-dominates": "a penalty is most of the loss, and the rest of the loss goes nowhere",
        "steps-skipped": "most steps were skipped by the loss scaler",
        "loss-scale-at-floor": "the scale of mixed-precision training has halved to its floor",
        "older-task-forgotten": "one task's metric gets clearly worse while another's improves",
    },
)
def compare_metrics(given: Input, run: Run) -> Together:  # noqa: ARG001 - every tool takes its input
    """Look at curves that belong together: the KL term of a VAE, the two losses of a GAN, the same metric on several
    tasks or domains.
    """
    series = [row for row in run.series if len(row) >= FEWEST and np.isfinite(row.values).all()]
    found = [
        *_latent(run, series),
        *_adversaries(run, series),
        *_tasks(run, series),
        *_penalty(run, series),
        *(_scale(run, series) or _announced_scale(run)),
        *_skipped(run),
    ]
    resolve_inputs = sorted(
        {row.name for row in series if _words(row) & (_KL | _DISCRIMINATOR | _GENERATOR | {"scale"})}
    )
    if not found and not resolve_inputs and not _task_groups(series):
        raise NoData("no KL term, no pair of adversarial losses and no metric of several tasks among the series")
    return Together(resolve_inputs=resolve_inputs, signals=found)


def _words(row: Series) -> set[str]:
    return {word for word in _PARTS.split(re.sub(r"\d+", "", row.original.lower())) if word}


def _ends(row: Series) -> tuple[float, float]:
    part = max(1, len(row) // 10)
    return float(np.median(row.values[:part])), float(np.median(row.values[-part:]))


def _latent(run: Run, series: list[Series]) -> list[Signal]:
    weights = {"weight", "beta", "coef", "coeff", "anneal", "target", "penalty"}
    for row in series:
        words = _words(row)
        if not words & _KL or words & (weights | {"policy", "approx", "ref", "teacher", "distill"}):
            continue
        end = _ends(row)[1]
        others = [_ends(other)[1] for other in series if _RECONSTRUCTIONS & _words(other) and not _words(other) & _KL]
        scale = max((abs(value) for value in others), default=0.0)
        if not others or end < 0 or end > max(NO_INFORMATION, 1e-3 * scale):
            continue
        claim = (
            f"`{row.original}` ends at {end:.3g} beside a reconstruction term of {scale:.4g}: the latent says nothing"
        )
        facts: dict[str, Fact] = {"kl_end": end, "kl_series": row.original}
        places = [cite(run, row, len(row) - 1, claim)]
        weight = named(run.settings, *KL_WEIGHTS)
        if weight is not None and float(weight.value) > 0:
            places.append(cite_setting(run, weight, f"the weight of the KL term: {weight.value:g}"))
        return [Signal(id="kl-near-zero", claim=claim, citations=places, facts=facts)]
    return []


def _adversaries(run: Run, series: list[Series]) -> list[Signal]:
    pair = adversaries(series)
    if pair is None:
        return []
    discriminator, generator = pair
    (d_start, d_end), (g_start, g_end) = _ends(discriminator), _ends(generator)
    # ln 4 (or ln 2 per half) is the balance of the original game; a tenth of it is a discriminator that knows.
    risen = g_end >= 1.5 * max(g_start, 0.7)
    d_first, g_first = float(discriminator.values[0]), float(generator.values[0])
    lost = g_end >= 4 * max(g_first, 0.7) and 0 <= d_end < 0.35 * max(d_first, 0.7)
    # With a generator's loss that saturates there is nothing to rise: a discriminator that is never wrong is enough.
    if not lost and not 0 <= d_end < (0.1 if risen else 0.02) * max(d_start, 0.5):
        return _balance(run, discriminator, generator)
    claim = (
        f"`{discriminator.original}` fell to {d_end:.3g} while `{generator.original}` rose from {g_start:.3g}"
        f" to {g_end:.3g}"
    )
    places = [
        cite(run, discriminator, len(discriminator) - 1, "the discriminator's loss at the end"),
        cite(run, generator, len(generator) - 1, "the generator's loss at the end"),
    ]
    faster = [row for row in run.settings if is_number(row) and FOR_ONE_SIDE.search(row.key)]
    places += [cite_setting(run, row, f"`{row.key}` sets the balance between the two") for row in faster[:3]]
    return [Signal(id="discriminator-wins", claim=claim, citations=places, facts={"d_end": d_end, "g_end": g_end})]


def _penalty(run: Run, series: list[Series]) -> list[Signal]:
    """A penalty that makes up most of the loss, while the rest of the loss goes nowhere."""
    goal = objective(run)
    loss = None if goal is None or goal.rewarded else goal.series
    whole = loss is not None and loss.name == "train/loss"
    for row in series:
        own = {word for word in _PARTS.split(row.original.lower()) if word}
        if loss is None or row is loss or not own & _PENALTIES or len(row) != len(loss) or row.source != loss.source:
            continue
        boxed = own & _PENALTIES == {"reg"} and any(words_of(other) & _OF_BOXES for other in series)
        layers = own & {"l1", "l2"} and {"l3", "l4"} & {other.original.lower() for other in series}
        if row.unit or boxed or layers:
            continue  # a share of something, the regression of a box, or one of several layers
        task = loss.values - row.values if whole else loss.values
        total = loss.values if whole else loss.values + row.values
        share = row.values / np.where(total > 0, total, np.nan)
        top = int(np.nanargmax(share)) if np.isfinite(share).any() else 0
        early, late = (
            float(np.median(task[: max(1, len(task) // 10)])),
            float(np.median(task[-max(1, len(task) // 4) :])),
        )
        if not DOMINATES <= float(share[top]) <= 1 or early <= 0 or late < 0.9 * early:
            continue
        part = f"`{row.original}` is {share[top]:.0%} of what is minimised at {where(row, top)}"
        claim = f"{part}; the rest stays at {late:.4g}"
        return [Signal(id="penalty-dominates", claim=claim, citations=[cite(run, row, top, claim)])]
    return []


def _scale(run: Run, series: list[Series]) -> list[Signal]:
    """A loss scale that starts high and ends at one or below: every halving was a step that was skipped."""
    for row in series:
        words = _words(row)
        if not ("scale" in words or "lossscale" in words or "scaler" in words) or words & {"lr", "grad", "scales"}:
            continue
        first, last = float(row.values[0]), float(row.values[-1])
        if first >= 128 and last <= 1 and float(np.mean(np.diff(row.values) <= 0)) > 0.9:
            claim = f"`{row.original}` fell from {first:g} to {last:g}"
            place = cite(run, row, len(row) - 1, claim)
            facts: dict[str, Fact] = {"scale_start": first, "scale_end": last}
            return [Signal(id="loss-scale-at-floor", claim=claim, citations=[place], facts=facts)]
    return []


def _announced_scale(run: Run) -> list[Signal]:
    """A scale that is told in sentences: `Gradient overflow.  Skipping step, … reducing loss scale to 0.5`."""
    for file in run.files:
        told: list[tuple[int, str, float]] = []
        for number, text in enumerate(run.lines(file.path, 1, MOST_LINES) if file.role == "log" else [], 1):
            found = _REDUCED.search(text[:400]) if "scale" in text else None
            if found is not None:
                told.append((number, text.strip()[:240], float(found[1])))
        if len(told) >= FEWEST and told[-1][2] <= 1 < told[0][2]:
            (first_line, first, start), (last_line, last, end) = told[0], told[-1]
            claim = f"{len(told)} overflows reduced the loss scale from {start:g} to {end:g}"
            places = [
                Citation(claim=claim, source=file.path, locator=f"line {line}", quote=text)
                for line, text in ((first_line, first), (last_line, last))
            ]
            facts: dict[str, Fact] = {"scale_start": start, "scale_end": end}
            return [Signal(id="loss-scale-at-floor", claim=claim, citations=places, facts=facts)]
    return []


def _skipped(run: Run) -> list[Signal]:
    """A counter of skipped steps that keeps up with the steps themselves."""
    for row in run.series:
        words = _words(row)
        if not words & {"skipped", "skips", "skip", "overflows"} or len(row) < FEWEST or row.axis != "step":
            continue
        done, skipped = float(row.at[-1]), float(row.values[-1])
        if done > 0 and 0.5 * done < skipped <= 1.1 * done:
            claim = f"`{row.original}` is {skipped:g} after {done:g} steps: most of them were skipped"
            return [Signal(id="steps-skipped", claim=claim, citations=[cite(run, row, len(row) - 1, claim)])]
    return []


def _balance(run: Run, discriminator: Series, generator: Series) -> list[Signal]:
    """Neither loss runs away or dies over the second half of the run."""
    halves = [row.values[len(row) // 2 :] for row in (discriminator, generator)]
    if any(float(np.ptp(half)) > 4 * max(abs(float(np.median(half))), 0.5) for half in halves):
        return []
    levels = f"({np.median(halves[0]):.3g} and {np.median(halves[1]):.3g})"
    claim = f"`{discriminator.original}` and `{generator.original}` {levels} stay in balance over the second half"
    place = cite(run, generator, len(generator) - 1, claim)
    return [Signal(id="adversaries-balanced", claim=claim, citations=[place])]


def _task_groups(series: list[Series]) -> list[list[Series]]:
    """Held-out metrics that are the same but for one word: the name of a task or a domain."""
    groups: dict[tuple[str, str, str], list[Series]] = {}
    for row in series:
        words = _words(row)
        kinds = words & (_HIGHER | _LOWER)
        # `acc_A` beside `acc_B` needs no word for the phase; losses of two parts of a model do.
        held_out = bool(words & (_PHASES - {"train"})) or (bool(kinds & _HIGHER) and not words & _PHASES)
        rest = words - _PHASES - kinds
        if len(kinds) == 1 and held_out and 1 <= len(rest) <= MOST_WORDS:
            groups.setdefault((row.source, row.axis, kinds.pop()), []).append(row)
    return [rows for rows in groups.values() if len(rows) > 1]


def _tasks(run: Run, series: list[Series]) -> list[Signal]:
    for rows in _task_groups(series):
        higher = bool(_words(rows[0]) & _HIGHER)
        scored = [(_lost(row, higher), row) for row in rows]
        (lost, worst), (kept, best) = max(scored, key=lambda pair: pair[0]), min(scored, key=lambda pair: pair[0])
        gained = _gained(best, higher)
        if lost < FORGOTTEN or kept > FORGOTTEN / 3 or gained <= 0:
            continue
        top = int(np.argmax(worst.values) if higher else np.argmin(worst.values))
        end = _ends(worst)[1]
        claim = (
            f"`{worst.original}` went from {worst.values[top]:.4g} at {where(worst, top)} to {end:.4g}"
            f" while `{best.original}` improved to {_ends(best)[1]:.4g}"
        )
        facts: dict[str, Fact] = {
            "old_metric": worst.original,
            "new_metric": best.original,
            "old_best": float(worst.values[top]),
            "old_end": end,
            "forgot_at": where(worst, top),
        }
        places = [
            cite(run, worst, top, "the old task at its best"),
            cite(run, worst, len(worst) - 1, "the old task at the end"),
            cite(run, best, len(best) - 1, "the new task at the end"),
        ]
        return [Signal(id="older-task-forgotten", claim=claim, citations=places, facts=facts)]
    return []


def _lost(row: Series, higher: bool) -> float:
    """How much of its level a metric has lost since its best, as a share of that best."""
    best = float(row.values.max() if higher else row.values.min())
    end = _ends(row)[1]
    return (best - end if higher else end - best) / max(abs(best), 1e-12)


def _gained(row: Series, higher: bool) -> float:
    start, end = _ends(row)
    return end - start if higher else start - end
