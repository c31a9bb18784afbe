"""The sentence that everyone reads: a number in it stands in what was read, follows from it, or is marked."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from traindx.brains.interface import Case
from traindx.contract import ContextPackage, RootCause, Signal
from traindx.diagnosis.evidence import Opened, opened
from traindx.diagnosis.evidence.numbers import AXES, NOT_CHECKED, Written, readings_of, same, written_numbers

MARK = "[unverified]"
MOST_BASE = 30
UNITS = (100.0, 1000.0, 1024.0, 1024.0**2, 1024.0**3, 60.0, 3600.0, 86400.0, 1e6, 1e9)
"""factors between a number and the same in another unit: percent, thousands, bytes, seconds"""


@dataclass(frozen=True)
class Met:
    """The numbers that an investigation has met."""

    close: Sequence[float] = ()
    """in the user's message, at the cited places and beside them: they may be rounded as people round"""
    shown: Sequence[float] = ()
    """anywhere else in what the model was shown: they count to the digits that were written"""
    base: Sequence[float] = field(default=())
    """what one step may start from: the message and the quotes"""


async def unfounded(
    causes: Sequence[RootCause], case: Case, signals: Sequence[Signal], told: Iterable[str]
) -> list[list[Written]]:
    """The numbers of each cause's sentence that nothing bears out; `told` are the texts the model was shown."""
    rows = await asyncio.to_thread(opened, causes, case.toolbelt, signals)
    shown = await asyncio.to_thread(_shown, case, signals, told)
    message = readings_of(case.request.message)
    return [
        _strays(cause, _met(cause, row, message, shown), case.context) for cause, row in zip(causes, rows, strict=True)
    ]


def marked(text: str, numbers: Sequence[Written]) -> str:
    """The text with a mark behind these of its numbers."""
    for number in sorted(numbers, key=lambda one: -one.end):
        text = f"{text[: number.end]} {MARK}{text[number.end :]}"
    return text


def _shown(case: Case, signals: Sequence[Signal], told: Iterable[str]) -> list[float]:
    found = {value for text in told for value in readings_of(text)}
    for signal in signals:
        for text in (signal.claim, *map(str, signal.facts.values()), *(place.quote for place in signal.citations)):
            found.update(readings_of(text))
    context = case.context
    found.update(
        value
        for row in context.series
        for value in (row.first, row.last, row.lowest, row.highest, row.start, row.end, float(row.points))
    )
    found.update(float(row.value) for row in context.settings if isinstance(row.value, int | float))
    return sorted(value for value in found if math.isfinite(value))


def _met(cause: RootCause, verdicts: Sequence[Opened], message: Sequence[float], shown: Sequence[float]) -> Met:
    held = [(piece, row) for piece, row in zip(cause.evidence, verdicts, strict=True) if row.verified]
    quoted = [value for piece, _ in held for text in (piece.quote, piece.claim) for value in readings_of(text)]
    beside = [value for _, row in held for value in row.numbers]
    return Met([*message, *quoted, *beside], shown, [*message, *quoted])


def _strays(cause: RootCause, met: Met, context: ContextPackage) -> list[Written]:
    numbers = written_numbers(cause.issue)
    checked = [row for row in numbers if row.axis not in AXES and row.axis not in NOT_CHECKED and not row.counts]
    found = [row for row in checked if _is_met(row, met)]
    base = list(dict.fromkeys([*(row.value for row in found), *met.base]))[:MOST_BASE]
    lost = [row for row in checked if row not in found and not _follows(row, base)]
    beyond = [row for row in numbers if _is_beyond(row, context) and not any(same(row, value) for value in met.close)]
    return [*lost, *beyond]


def _is_met(number: Written, met: Met) -> bool:
    return any(same(number, value) for value in met.close) or any(_is_written(number, value) for value in met.shown)


def _is_written(number: Written, value: float) -> bool:
    """Whether the number is this value to the digits that were written; a single digit has to be the value itself."""
    if number.significant < 2:
        return abs(number.value) == abs(value) or (number.unit == "%" and number.value == 100 * value)
    shown = (value, 100 * value) if number.unit == "%" else (value,)
    return any(_rounds_to(number, one) for one in shown)


def _rounds_to(number: Written, value: float) -> bool:
    if number.digits < 0:
        return math.isclose(abs(number.value), abs(value), rel_tol=5e-3)
    return abs(abs(number.value) - abs(value)) <= 0.5000001 * 10.0**-number.digits


def _follows(number: Written, base: Sequence[float]) -> bool:
    """Whether one step leads from two numbers to this one, or from one to the same in another unit."""
    if number.significant < 2 and not number.unit:
        return False
    for one in base:
        if one and any(_rounds_to(number, scaled) for unit in UNITS for scaled in (one * unit, one / unit)):
            return True
        for other in base:
            if other in {0.0, one}:
                continue
            ratio = one / other
            steps = (100 * ratio, 100 * (ratio - 1)) if number.unit == "%" else (ratio, one - other, 100 * ratio)
            if any(_rounds_to(number, step) for step in steps):
                return True
    return False


def _is_beyond(number: Written, context: ContextPackage) -> bool:
    """Whether it is an epoch or a step that no curve reaches."""
    axis = AXES.get(number.axis)
    reach = [(row.start, row.end) for row in context.series if row.axis == axis]
    return bool(reach) and not any(start <= number.value <= end for start, end in reach)
