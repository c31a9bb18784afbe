"""Training data in the order of its classes."""

from __future__ import annotations

from collections.abc import Sequence

from traindx.contract import Citation, Fact, Signal
from traindx.detectors.data.labels import Labels

SIGNALS = {
    "labels-in-order": "the training data is sorted by class",
    "labels-in-order-unshuffled": "the training data is sorted by class, and the loader does not shuffle",
}
FEWEST = 60
SORTED = 0.05
"""of the changes from row to row that a random order has, what is left at most in sorted data"""


def detect(labels: Sequence[Labels], unshuffled: Citation | None) -> list[Signal]:
    """Whether the rows of one class stand together; `unshuffled` is the place that keeps their order."""
    for row in labels:
        classes = {label: count for label, count in row.counts.items() if count > 1}
        total = sum(row.counts.values())
        if row.split == "val" or len(classes) < 2 or total < FEWEST:
            continue
        by_chance = total * (1 - sum((count / total) ** 2 for count in classes.values()))
        if row.changes > max(SORTED * by_chance, len(row.counts) - 1) or by_chance < 10 * len(classes):
            continue
        claim = (
            f"{row.where} is sorted: the label changes {row.changes} times in {total:,} rows,"
            f" {by_chance:,.0f} times in a random order"
        )
        facts: dict[str, Fact] = {"order_where": row.where, "order_changes": row.changes}
        places = [row.cite(claim)]
        if unshuffled is None:
            return [Signal(id="labels-in-order", claim=claim, citations=places, facts=facts)]
        facts["shuffle_place"] = f"{unshuffled.source}:{unshuffled.locator.removeprefix('line ')}"
        claim += ", and the loader keeps that order"
        return [Signal(id="labels-in-order-unshuffled", claim=claim, citations=[*places, unshuffled], facts=facts)]
    return []
