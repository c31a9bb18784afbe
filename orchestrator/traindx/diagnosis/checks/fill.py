"""A failure mode's checks with the numbers of a run; the sentence that people read shares its limits."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING

from traindx.contract import Check, Fact
from traindx.diagnosis.checks.declared import DEFAULT, RELATIONS, DeclaredCheck

if TYPE_CHECKING:
    from traindx.diagnosis.catalog import FailureMode

PLACE = re.compile(r"\b(epoch|step|row) (-?\d[\d.]*(?:e[+-]?\d+)?)")


def with_limits(mode: FailureMode, facts: Mapping[str, Fact]) -> dict[str, Fact]:
    """The facts and the limits that follow from them; a limit whose facts are unknown is left out."""
    from traindx.diagnosis.wording import first_value

    known = dict(facts)
    for name, wording in mode.limits.items():
        value = _number(first_value([wording], facts))
        if value is not None:
            known[name] = value
    return known


def filled(mode: FailureMode, facts: Mapping[str, Fact]) -> list[Check]:
    """The checks that the facts are known for, and the default where none is."""
    known = with_limits(mode, facts)
    found = [check for row in mode.checks if (check := _filled(row, mode, known)) is not None]
    return found or [check for row in DEFAULT if (check := _filled(row, mode, known)) is not None]


def own_signals(mode: FailureMode) -> list[str]:
    """What clearly speaks for a failure mode: decisive signals, and strong ones that show the fault itself."""
    return [
        name
        for name, speaks in mode.speaks_for.items()
        if speaks.tier == "decisive" or (speaks.tier == "strong" and speaks.kind == "direct")
    ]


def _filled(row: DeclaredCheck, mode: FailureMode, known: Mapping[str, Fact]) -> Check | None:
    if row.gone is not None:
        return Check(kind="gone", signals=own_signals(mode) if row.gone == "own" else list(row.gone))
    if row.error is not None:
        return Check(kind="error")
    if row.checkpoints is not None:
        return Check(kind="checkpoints")
    if row.past is not None:
        if row.past == "end":
            return Check(kind="past")
        axis, at = _place(known.get(row.past))
        return Check(kind="past", axis=axis, at=at) if at is not None else None
    relation = next(name for name in RELATIONS if getattr(row, name) not in {None, False})
    axis, since = _place(known.get(row.since)) if row.since else ("", None)
    value = None
    if relation in {"below", "above"}:
        word = str(getattr(row, relation))
        value = _number(str(known.get(word, word)))
        if value is None or (row.since and since is None):
            return None
    return Check.model_validate(
        {"kind": "series", "series": row.series, "relation": relation, "value": value, "over": row.over}
        | {"axis": axis, "at": since}
    )


def _place(fact: Fact | None) -> tuple[str, float | None]:
    found = PLACE.search(str(fact)) if fact is not None else None
    return (found.group(1), _number(found.group(2).rstrip("."))) if found else ("", None)


def _number(text: str) -> float | None:
    try:
        value = float(text)
    except ValueError:
        return None
    return value if math.isfinite(value) else None
