"""Lines of one plan with their numbers; lines that several ranks wrote are read together and then told apart."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from traindx.readers.logs.bulk.digits import Floats, Places

if TYPE_CHECKING:
    from traindx.readers.logs.textlog import LogReader, Plan

    Spell = Callable[[int, Places | None], bytes]
    """how the number at a place is spelt in some of the lines (None: in all), each with a line feed"""


_MOST_COUNTED = 1 << 16
"""ranks that are counted in a table"""


@dataclass(frozen=True)
class Part:
    """Lines of one plan, with the numbers that the plan asks for, by their place in the line."""

    plan: Plan
    units: Places
    numbers: dict[int, Floats]
    texts: dict[int, bytes]
    ranks: Places | None = None
    """the rank that speaks in each line, where lines of several stand together"""


def distinct(ranks: Places) -> list[int]:
    """Each rank once, in order."""
    if int(ranks.max(initial=0)) < _MOST_COUNTED:
        return np.flatnonzero(np.bincount(ranks)).tolist()
    found: list[int] = np.unique(ranks).tolist()
    return found


def by_rank(
    plan: Plan,
    ranks: Places | None,
    units: Places,
    numbers: dict[int, Floats],
    spell: Spell,
    reader: LogReader,
) -> list[Part]:
    """The lines as one part, or where ranks wrote them as one part for each; the reader has met all of them.

    Lines of which no spelling is kept stay together: they are told apart later, many blocks at once.
    """
    if ranks is None or not len(ranks):
        return [Part(plan, units, numbers, _texts(plan, spell, len(units), None))] if len(units) else []
    if reader.keeps_no_texts(distinct(ranks), plan.shape):
        return [Part(plan, units, numbers, {}, ranks)]
    order = np.argsort(ranks, kind="stable")
    sorted_ranks = ranks[order]
    cuts = [0, *(np.flatnonzero(np.diff(sorted_ranks)) + 1).tolist(), len(order)]
    units = units[order]
    numbers = {place: found[order] for place, found in numbers.items()}
    parts = []
    for begin, end in pairwise(cuts):
        own = reader.plan(int(sorted_ranks[begin]), plan.shape)
        if own is not None:
            texts = _texts(own, spell, end - begin, order[begin:end])
            of_rank = {place: found[begin:end] for place, found in numbers.items()}
            parts.append(Part(own, units[begin:end], of_rank, texts))
    return parts


def _texts(plan: Plan, spell: Spell, count: int, chosen: Places | None) -> dict[int, bytes]:
    return {place: spell(place, chosen) for place, column in plan.columns if column.keeps_texts(count)}
