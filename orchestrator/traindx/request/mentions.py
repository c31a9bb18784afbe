"""Everything a message names, gathered."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import islice
from typing import TypeVar

from traindx.request.clauses import Clause, suspicion
from traindx.request.figures import epochs, quantities, steps
from traindx.request.model import Mentions
from traindx.request.quotes import errors, layers

_MOST = 40
"""of each sort: a pasted log would otherwise fill the context package"""

T = TypeVar("T")


def mentions(text: str, parts: Sequence[tuple[Clause, ...]]) -> Mentions:
    """What a text names; numbers and quoted errors are found in any language."""
    return Mentions(
        epochs=_unique(epochs(text)),
        steps=_unique(steps(text)),
        quantities=_unique(quantities(text)),
        errors=_unique(errors(text)),
        layers=_unique(layers(text)),
        suspicions=_unique(said for part in parts for clause in part if (said := suspicion(clause))),
    )


def _unique(found: Iterable[T]) -> tuple[T, ...]:
    return tuple(islice(dict.fromkeys(found), _MOST))
