"""Metrics in text logs: any line that counts an epoch or a step, or names a loss, gives its numbers to series.

A line is split at its numbers. What stands between them is the line's form; a log has few forms, so each is
understood once and then applied to every line that has it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import BinaryIO

from traindx.artifacts.columns import Column, Columns
from traindx.artifacts.form import NUMBER, Form, matcher, number, understand
from traindx.artifacts.lines import blocks
from traindx.artifacts.model import Series
from traindx.artifacts.prefix import PREFIX

LONGEST = 20_000
"""characters of a line that may hold metrics: longer ones are dumps of something else"""
LARGEST = 1 << 30
"""bytes of a log that are read for metrics"""
_MOST_FORMS = 6_000
_LIKELY = re.compile(
    r"\W{0,4}(?:[A-Za-z]{1,12}\W{1,3})?(?:epoch|step|global_step|iter|iteration|batch|loss|\d{1,9}/\d{1,9})\b|\W{0,2}\{['\"]",
    re.IGNORECASE,
)
# Forms that a log alternates between (step lines, epoch lines, validation lines) are tried before splitting.
_MOST_RECENT = 4
_MOST_NUMBERS = 40


@dataclass
class _Plan:
    """A form with the columns its numbers go to."""

    form: Form
    columns: list[tuple[int, Column]]


@dataclass
class _Batch:
    """Lines of one form that follow each other, waiting to go to their columns at once."""

    plan: _Plan | None = None
    rows: list[tuple[str, ...]] = field(default_factory=list)
    lines: list[int] = field(default_factory=list)


class LogReader:
    """Reads one log, block by block."""

    def __init__(self) -> None:
        self.columns = Columns()
        self.records = 0
        self._plans: dict[tuple[str, ...], _Plan | None] = {}
        self._recent: list[tuple[re.Pattern[str], _Plan]] = []
        self._batch = _Batch()
        self._epoch: float | None = None
        self._step: float | None = None

    def block(self, first: int, text: str) -> None:
        """Take in a stretch of text that starts at line `first`."""
        for at, line in enumerate(text.split("\n"), first):
            if "\r" in line:
                for part in line.split("\r"):
                    self.line(at, part)
            elif line:
                self.line(at, line)
        self._flush()

    def line(self, at: int, line: str) -> None:
        """Take in one line, or one state of a progress bar."""
        for place, (pattern, plan) in enumerate(self._recent):
            found = pattern.fullmatch(line)
            if found:
                if plan is not self._batch.plan:
                    self._flush()
                    self._batch.plan = plan
                    if place:
                        self._recent.insert(0, self._recent.pop(place))
                self._batch.rows.append(found.groups())
                self._batch.lines.append(at)
                return
        if len(line) <= LONGEST:
            self._new_line(at, line)

    def _flush(self) -> None:
        """Give the waiting lines, all of one form, to their columns."""
        batch, self._batch = self._batch, _Batch()
        if batch.plan is None or not batch.rows:
            return
        form, numbers = batch.plan.form, list(zip(*batch.rows, strict=True))
        epochs = _floats(numbers[form.epoch]) if form.epoch >= 0 else None
        steps = _floats(numbers[form.step]) if form.step >= 0 else None
        # A line that counts nothing itself belongs to where the log is.
        self._epoch = epochs[-1] if epochs else self._epoch
        self._step = steps[-1] if steps else self._step
        if epochs is None and self._epoch is not None:
            epochs = [self._epoch] * len(batch.rows)
        if epochs is None and steps is None and self._step is not None:
            steps = [self._step] * len(batch.rows)
        for index, column in batch.plan.columns:
            texts: Sequence[str] = numbers[index]
            values = _floats(texts)
            if index in form.ratios:
                wholes = numbers[index + 1]
                texts = [f"{part}/{whole}" for part, whole in zip(texts, wholes, strict=True)]
                values = [part / (whole or 1.0) for part, whole in zip(values, _floats(wholes), strict=True)]
            column.extend(values, texts, batch.lines, epochs, steps)
            if form.total >= 0:
                column.total = number(numbers[form.total][-1])
        self.records += len(batch.rows) if batch.plan.columns else 0

    def _new_line(self, at: int, line: str) -> None:
        prefix = PREFIX.match(line)
        start = prefix.end() if prefix else 0
        parts = NUMBER.split(line[start:])
        if len(parts) == 1:
            return
        shape = tuple(parts[::2])
        known = shape in self._plans
        if not known:
            if len(self._plans) >= (_MOST_FORMS if _LIKELY.match(line, start) else _MOST_FORMS // 2):
                return  # a log with so many forms is mostly text
            self._plans[shape] = self._plan(shape)
        plan = self._plans[shape]
        if plan is not None:
            self._flush()
            if known and len(shape) <= _MOST_NUMBERS:
                self._recent = [(matcher(line[:start], shape), plan), *self._recent[: _MOST_RECENT - 1]]
            self._batch = _Batch(plan, [tuple(parts[1::2])], [at])

    def _plan(self, shape: tuple[str, ...]) -> _Plan | None:
        form = understand(shape)
        if form is None:
            return None
        columns = []
        for measured in form.fields:
            column = self.columns.column(measured.original, measured.metric, form.counted_by)
            if column is not None:
                columns.append((measured.index, column))
        return _Plan(form, columns)


def _floats(texts: Sequence[str]) -> list[float]:
    try:
        return list(map(float, texts))
    except ValueError:  # thousands separators
        return [number(text) for text in texts]


def read_log(handle: BinaryIO, source: str) -> tuple[list[Series], bool]:
    """The metrics of a text log, and whether there were too many different ones to keep."""
    reader = LogReader()
    for first, text in blocks(handle, LARGEST):
        reader.block(first, text)
    return reader.columns.series(source), reader.columns.overflow


def records_in(text: str) -> int:
    """How many lines of a text look like metrics."""
    reader = LogReader()
    reader.block(1, text)
    return reader.records
