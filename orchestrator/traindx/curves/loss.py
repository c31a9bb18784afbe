"""Which of a run's series is *the* loss."""

from __future__ import annotations

import re
from collections.abc import Sequence

from traindx.artifacts import Series
from traindx.artifacts.metrics.names import normalise

# What people call a loss when they do not call it a loss; lower is better for all of them.
_LIKE_A_LOSS = re.compile(
    r"(?:^|[^a-z])(?:mse|mae|rmse|nll|ce|bce|xent|l1|l2|smooth_?l1|huber|nce|infonce|verlust|perte|sq_?err|squared_?error|residual|energy|elbo|nelbo|cost|recon|reconstruction|log_?loss|objective|perplexity|ppl|bpb|bpc|"
    r"cross_?entropy|neg_?log_?lik\w*)(?:[^a-z]|$)"
)
_PHASES = ("train", "val", "test")
FEWEST = 5
_NO_LOSS = re.compile(
    r"acc|genauigkeit|f1|auc|recall|precision|score|reward|return|bleu|rouge|psnr|ssim|norm|mem|time|speed|scale|skip|count"
    r"|ratio|entropy|lr|rate|beta|eps|temp|gamma|step|epoch|seed|size|batch|frac|share|r2|top\d"
)


def main_loss(series: Sequence[Series]) -> Series | None:
    """The training loss with the most to say; a validation loss where there is no other."""
    found = next((max(rows, key=len) for phase in _PHASES for rows in _losses(series, phase) if rows), None)
    # One validation value per epoch says less than a training curve by another name.
    other = _by_elimination(series) if found is None or found.phase != "train" else None
    return other if other is not None and (found is None or len(other) > 3 * len(found)) else found


def _by_elimination(series: Sequence[Series]) -> Series | None:
    """The one measure of training that is no counter, rate, norm, score or cost: it is the loss, whatever its name."""
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
    return left[0] if len({row.name for row in left}) == 1 else None


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
    return "loss" in name.rpartition("/")[2].lower() or _LIKE_A_LOSS.search(name.lower()) is not None


def _losses(series: Sequence[Series], phase: str) -> list[list[Series]]:
    """Candidates of a phase, the plainest name first: `loss`, `..._loss`, `mse` and the like, a part of some loss."""
    mine = [row for row in series if len(row) and (row.phase == phase or (phase == "train" and not row.phase))]
    plain = [row for row in mine if row.name == f"{phase}/loss"]
    named = [row for row in mine if row.phase and row.name.lower().endswith("loss") and row not in plain]
    like = [row for row in mine if _LIKE_A_LOSS.search(row.name.lower()) and row not in plain and row not in named]
    bare = [row for row in mine if not row.phase and row.name.lower().endswith("loss") and row not in like]
    return [plain, named, like, bare]
