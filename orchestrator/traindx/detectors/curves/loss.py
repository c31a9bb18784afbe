"""Which of a run's series is *the* loss."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from traindx.readers.model import Series
from traindx.vocabulary.metrics import normalise

# What people call a loss when they do not call it a loss; lower is better for all of them.
_LIKE_A_LOSS = re.compile(
    r"(?:^|[^a-z])(?:mse|mae|rmse|nll|ce|bce|xent|smooth_?l1|huber|nce|infonce|verlust|perte|sq_?err|squared_?error|residual|energy|elbo|nelbo|cost|recon|reconstruction|log_?loss|objective|perplexity|ppl|bpb|bpc|"
    r"cross_?entropy|neg_?log_?lik\w*)(?:[^a-z]|$)"
)
_PHASES = ("train", "val", "test")
FEWEST = 5
TO_THE_END = 0.8
"""share of a file that a curve must reach into, to speak for the run"""
_NO_LOSS = re.compile(
    r"acc|genauigkeit|f1|fb1|auc|recall|prec|score|reward|return|bleu|rouge|psnr|ssim|norm|mem|time|speed|scale|skip|count"
    r"|ratio|entropy|lr|rate|beta|eps|temp|gamma|step|epoch|seed|size|batch|frac|share|r2|top\d|activ|alive|dead|grad|std"
    r"|dist|mean|var|regret|length|len|(?:^|[^a-z])p_?\d|hit|ndcg|mrr|map|iou|dice|corr|kappa|sat|units|weight|scale|buffer"
)
_BESIDE_THE_LOSS = frozenset({"kl", "kld"})
"""parts of a loss that are never the whole of it"""


def main_loss(series: Sequence[Series]) -> Series | None:
    """The training loss with the most to say; a validation loss where there is no other."""
    series = _without_single_values(series)
    ends = {
        row.source: max(int(other.lines[-1]) for other in series if other.source == row.source and len(other))
        for row in series
        if len(row)
    }
    found = next(
        (
            max(rows, key=lambda row: (row.lines[-1] >= TO_THE_END * ends[row.source], *_telling(row)))
            for phase in _PHASES
            for rows in _losses(series, phase)
            if rows
        ),
        None,
    )
    # One validation value per epoch says less than a training curve by another name.
    other = _by_elimination(series) if found is None or found.phase != "train" else None
    return other if other is not None and (found is None or len(other) > 3 * len(found)) else found


def _without_single_values(series: Sequence[Series]) -> Sequence[Series]:
    """Without single values that count nothing, of a file of their own, where another file has a curve of a loss: what
    an evaluation printed is no course of training.
    """
    curves = {row.source for row in series if len(row) >= FEWEST and row.axis != "row" and is_loss(row.name)}
    alone = [row for row in series if len(row) == 1 and row.axis == "row" and curves - {row.source}]
    lone = {row.source for row in alone} - {row.source for row in series if len(row) > 1}
    return [row for row in series if row.source not in lone] if lone else series


def _telling(row: Series) -> tuple[int, bool]:
    """The more points the better; of two alike, a mean says more than a sum, which grows with what is summed."""
    return len(row), "sum" not in row.original.lower()


def _by_elimination(series: Sequence[Series]) -> Series | None:
    """The first measure of training that is no counter, rate, norm, score or cost, and that falls or goes NaN.

    Whatever its name, it is the loss: people print that first.
    """
    left = [
        row
        for row in series
        if len(row) >= FEWEST
        and row.phase in {"train", ""}
        and not row.duplicate_of
        and row.name not in {"lr", "grad_norm"}
        and not _NO_LOSS.search(row.name.lower())
        and normalise(row.original).kind in {"other", "score", "loss", "phase"}
    ]
    if len({row.name for row in left}) == 1:
        return left[0]
    return next((row for row in left if _falls(row)), None)


def _falls(row: Series) -> bool:
    finite = np.isfinite(row.values)
    if not finite.any():
        return False
    if not finite[-1]:
        return True
    values = row.values[finite]
    quarter = max(1, len(values) // 4)
    early, late = float(np.median(values[:quarter])), float(np.median(values[-quarter:]))
    return late < early and float((np.diff(values) >= 0).mean()) < 0.9


def validation_of(loss: Series, series: Sequence[Series]) -> Series | None:
    """The validation loss that belongs to a training loss: the same measure and the same file before any other."""
    candidates = [
        row for phase in ("val", "test") for rows in _losses(series, phase) for row in rows if row is not loss
    ]
    measure = loss.name.rpartition("/")[2]
    return max(
        candidates,
        key=lambda row: (row.name.endswith(f"/{measure}"), row.source == loss.source, row.phase == "val", len(row)),
        default=None,
    )


def is_loss(name: str) -> bool:
    """Whether a series of this name is a loss of some kind."""
    last = name.rpartition("/")[2].lower()
    return ("loss" in last and normalise(last).kind != "other") or _LIKE_A_LOSS.search(name.lower()) is not None


def _losses(series: Sequence[Series], phase: str) -> list[list[Series]]:
    """Candidates of a phase, the plainest name first: `loss`, `..._loss`, `mse` and the like, a part of some loss."""
    mine = [row for row in series if len(row) and (row.phase == phase or (phase == "train" and not row.phase))]
    mine = [row for row in mine if not _counts(row)]
    plain = [row for row in mine if row.name == f"{phase}/loss"]
    named = [row for row in mine if row.phase and row.name.lower().endswith("loss") and row not in plain]
    like = [row for row in mine if _is_like(row, series) and row not in plain and row not in named]
    bare = [row for row in mine if not row.phase and row.name.lower().endswith("loss") and row not in like]
    return [plain, named, like, bare]


def _counts(row: Series) -> bool:
    """Whether the values are those of a counter (`eval @ 500`, `eval @ 1000`): whole numbers, equally far apart."""
    if len(row) < 4 or not np.isfinite(row.values).all():
        return False
    steps = np.diff(row.values)
    return bool(steps[0] > 0 and (steps == steps[0]).all() and (row.values == np.round(row.values)).all())


def _is_like(row: Series, series: Sequence[Series]) -> bool:
    metric = normalise(row.original)
    measure = metric.name.rpartition("/")[2]
    if measure in _BESIDE_THE_LOSS:
        return False
    if measure in {"l1", "l2"}:  # a distance, unless a loss stands beside it: then it is a layer or a penalty
        return not any("loss" in other.name.lower() for other in series)
    if measure == "rec":  # a reconstruction, unless a precision stands beside it: then it is recall
        return not any("prec" in other.name.lower() for other in series)
    return metric.kind == "loss" or _LIKE_A_LOSS.search(row.name.lower()) is not None
