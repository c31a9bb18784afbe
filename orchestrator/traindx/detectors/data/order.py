"""Training data in the order of its classes, or of time."""

from __future__ import annotations

from collections.abc import Sequence

from traindx.contract import Citation, Fact, Signal
from traindx.detectors.data.labels import Labels
from traindx.detectors.data.places import cite_cell
from traindx.readers.tables.datatables import TableInfo
from traindx.vocabulary.data_names import is_time, split_of

SIGNALS = {
    "labels-in-order": "the training data is sorted by class",
    "labels-in-order-unshuffled": "the training data is sorted by class, and the loader does not shuffle",
    "time-in-order-unshuffled": "the training data is sorted by time, and the loader does not shuffle",
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


def in_time(tables: Sequence[TableInfo], unshuffled: Citation | None) -> list[Signal]:
    """Whether rows stand in the order of a column of times, and the loader keeps it; `unshuffled` is where it does."""
    for table in tables if unshuffled is not None else ():
        column = next((one for one in table.columns if is_time(one.name) and one.rises), None)
        if column is None or split_of(table.path) == "val" or table.rows < FEWEST or column.constant:
            continue
        claim = f"the rows of {table.path} stand in the order of `{column.name}`, and the loader keeps that order"
        facts: dict[str, Fact] = {"order_where": f"`{column.name}` of {table.path}", "order": "by time"}
        facts["shuffle_place"] = f"{unshuffled.source}:{unshuffled.locator.removeprefix('line ')}" if unshuffled else ""
        places = [cite_cell(table, column, column.low_line, claim), *([unshuffled] if unshuffled else [])]
        return [Signal(id="time-in-order-unshuffled", claim=claim, citations=places, facts=facts)]
    return []
