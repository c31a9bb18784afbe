"""Failure modes that are easily taken for each other: which id a wrong one was meant to be, and which lie beside it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from traindx.diagnosis.catalog import Catalog
from traindx.errors import nearest

OPPOSITES = (
    ("high", "low"), ("over", "under"), ("exploding", "vanishing"), ("explode", "vanish"), ("rising", "falling"),
    ("missing", "extra"), ("missing", "excessive"), ("too-many", "too-few"), ("large", "small"), ("big", "small"),
    ("long", "short"), ("fast", "slow"), ("early", "late"), ("increase", "decrease"), ("raised", "decayed"),
    ("growing", "shrinking"), ("overflow", "underflow"), ("memorised", "forgotten"),
)  # fmt: skip
"""words that turn a name into its contrary; a guess that swaps them would be worse than none"""


def meant(name: str, known: Iterable[str]) -> str | None:
    """The id that a wrong one was probably meant to be; never one that says the contrary."""
    return nearest(name, [one for one in known if not contrary(name, one)])


def contrary(one: str, other: str) -> bool:
    """Whether two names differ by a word and its contrary."""
    first, second = one.casefold(), other.casefold()
    return any(
        (_holds(first, left) and _holds(second, right) and not _holds(second, left))
        or (_holds(first, right) and _holds(second, left) and not _holds(second, right))
        for left, right in OPPOSITES
    )


def neighbours(name: str, catalog: Catalog, most: int = 6) -> Sequence[str]:
    """The ids that the page of a failure mode tells it from, in the order in which it names them."""
    mode = catalog.get(name)
    if mode is None:
        return []
    page = mode.body.partition("## How to tell it from its neighbours")[2].partition("\n## ")[0]
    named = [one for one in re.findall(r"`([a-z0-9-]+)`", page) if one in catalog and one != name]
    return list(dict.fromkeys([*named, *(one for one in mode.leads_to if one in catalog)]))[:most]


def _holds(name: str, word: str) -> bool:
    """Whether a name has the word, or begins one of its words with it: `over` in `overfitting`."""
    return re.search(rf"(?:^|[-_ ]){re.escape(word)}", name) is not None
