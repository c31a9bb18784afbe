"""Which of a run's series is *the* loss."""

from __future__ import annotations

from collections.abc import Sequence

from traindx.artifacts import Series


def main_loss(series: Sequence[Series]) -> Series | None:
    """The training loss with the most to say; a validation loss where there is no other."""
    for name in ("train/loss", "val/loss", "test/loss"):
        candidates = [row for row in series if row.name == name and len(row) > 0]
        if candidates:
            return max(candidates, key=len)
    return None


def validation_of(loss: Series, series: Sequence[Series]) -> Series | None:
    """The validation loss that belongs to a training loss: the same file before any other."""
    candidates = [row for row in series if row.name in {"val/loss", "test/loss"} and len(row) > 0 and row is not loss]
    return max(
        candidates,
        key=lambda row: (row.source == loss.source, row.name == "val/loss", len(row)),
        default=None,
    )
