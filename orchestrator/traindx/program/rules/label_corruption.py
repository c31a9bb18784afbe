"""Inputs and labels are put in different orders.

## What it finds
Two arrays that are paired row by row (a data set, a split, a call of `fit`) of which one was shuffled and the other was
not, or each by a permutation of its own. Numbered names that are sorted as text, beside labels in the order of the
numbers.

## Why it matters
Every input gets the label of another sample: there is nothing to learn but the labels' frequencies.

## Silent
One permutation for both, equal seeds set before each shuffle, rows of one table, pairs that are mixed up on purpose
within a batch.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from itertools import pairwise

from traindx.program.analysis import Analysis
from traindx.program.finding import Finding
from traindx.program.name_order import sorted_as_text
from traindx.program.trace import Event
from traindx.program.values import Place, Tensor

ID = "label-corruption"


def check(analysis: Analysis) -> Iterator[Finding]:
    """Look at every pair of arrays, and at names that are sorted as text."""
    for found in sorted_as_text(analysis.units, analysis.beside):
        place, labels = Place(found.unit, found.sorted_at), Place(found.unit, found.labels_at)
        named = Place(found.named_in, found.named_at)
        yield Finding(
            ID,
            place,
            f"the names are sorted as text, and are numbered without leading zeros ({named.text}): 10 comes before 2,"
            f" while the labels at {labels.text} are in the order of the numbers",
            facts={"pair_place": labels.text, "shuffle_place": place.text},
            also=((labels, "the labels, by position"), (named, "the names, without leading zeros")),
        )
    done: set[int] = set()
    orders = analysis.trace.of("ordered")
    in_place = frozenset(int(row.facts["order"]) for row in orders if row.facts.get("in_place"))
    rebound = [row for row in orders if _rebinds(row)]
    for event in analysis.trace.of("paired", "loss"):
        whole = frozenset(int(row.facts["order"]) for row in rebound if len(row.path) < len(event.path))
        parts = [part for part in _parts(event) if isinstance(part, Tensor)]
        for one, other in pairwise(parts):
            if not _differ(one, other, event.kind == "paired", in_place | whole) or id(event.place.node) in done:
                continue
            done.add(id(event.place.node))
            drawn = _shuffles(analysis, event, one.order ^ other.order)
            place = drawn[-1].place if drawn else event.place
            both = bool(one.order and other.order)
            how = "each in a random order of its own" if both else "only one of them in a new order"
            yield Finding(
                ID,
                place,
                f"inputs and labels are paired at {event.place.text}, {how}: rows no longer belong together",
                facts={"pair_place": event.place.text, "shuffle_place": place.text},
                also=((event.place, "pairs them row by row"),),
            )


def _rebinds(event: Event) -> bool:
    """`X = X[order]`: the name holds the same rows in another order from here on."""
    node, unit = event.place.node, event.place.unit
    if not isinstance(node, ast.Subscript) or not isinstance(node.value, ast.Name):
        return False
    return any(
        part.value is node
        and any(isinstance(target, ast.Name) and target.id == node.value.id for target in part.targets)
        for part in unit.nodes.of(ast.Assign)
    )


def _parts(event: Event) -> Sequence[object]:
    given: Sequence[object] = event.facts.get("parts") or (event.facts.get("prediction"), event.facts.get("target"))
    return given


def _differ(one: Tensor, other: Tensor, paired: bool, in_place: frozenset[int]) -> bool:
    if one.order and other.order:
        return bool(one.order - other.order) and bool(other.order - one.order)
    # In a batch one side may be mixed up on purpose; in a data set, or where the data itself was shuffled, it may not.
    if not paired and one.order & in_place and not other.order:
        return bool(other.origin) and not other.marks & {"zeros", "constant"} and not one.origin & other.origin
    return paired and bool(one.order or other.order) and bool(one.origin) and bool(other.origin)


def _shuffles(analysis: Analysis, event: Event, orders: frozenset[int]) -> list[Event]:
    """Where the orders that the two do not share were given to an array."""
    return [row for row in analysis.trace.events[: event.at] if row.kind == "ordered" and row.facts["order"] in orders]
