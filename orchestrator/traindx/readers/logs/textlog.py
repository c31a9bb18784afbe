"""Metrics in text logs: any line that counts an epoch or a step, or names a loss, gives its numbers to series.

A line is split at its numbers. What stands between them is the line's form; a log has few forms, so each is
understood once and then applied to every line that has it.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import BinaryIO

from traindx.readers.coverage import Allowance
from traindx.readers.logs.commas import has_decimal_commas, with_points
from traindx.readers.logs.form import NUMBER, Form, number, understand
from traindx.readers.logs.lines import RawBlocks
from traindx.readers.logs.ranks import labels_ranks, prefix_of
from traindx.readers.logs.texttables import TextTables
from traindx.readers.model import Series
from traindx.readers.series.columns import Column, Columns

LONGEST = 20_000
"""characters of a line that may hold metrics: longer ones are dumps of something else"""
_MOST_FORMS = 6_000
_MOST_PLANS = 30_000
"""forms times ranks"""
_LIKELY = re.compile(
    r"\W{0,4}(?:[A-Za-z]{1,12}\W{1,3})?(?:epoch|step|global_step|iter|iteration|batch|loss|\d{1,9}/\d{1,9})\b|\W{0,2}\{['\"]",
    re.IGNORECASE,
)
_BLOCK = 1 << 20
_SMALL = 16 << 10
"""bytes that are read line by line: less than numpy takes to get going"""


@dataclass(eq=False)
class Plan:
    """A form with the columns its numbers go to."""

    form: Form
    columns: list[tuple[int, Column]]
    shape: tuple[str, ...] = ()
    """the text around the numbers"""
    rank: int = -1
    """the rank that writes these lines; -1 where none is told"""


class LogReader:
    """Reads one log: understands its lines one at a time, and keeps what they say."""

    longest = LONGEST

    def __init__(self, columns: Columns | None = None, labelled: bool = False) -> None:
        self.columns = columns or Columns()
        self.labelled = labelled
        """whether a launcher put the number of a rank before every line"""
        self.records = 0
        self.epoch: float | None = None
        self.step: float | None = None
        self.long_lines = 0
        self._forms: dict[tuple[str, ...], Form | None] = {}
        """by the text around the numbers"""
        self._plans: dict[tuple[int, tuple[str, ...]], Plan] = {}
        """by the rank that speaks (-1 for none) and that text"""
        self._without_texts: set[tuple[int, tuple[str, ...]]] = set()
        """plans none of whose columns keeps the spelling of its points"""

    def block(self, first: int, text: str) -> None:
        """Take in a stretch of text that starts at line `first`."""
        for at, line in enumerate(text.split("\n"), first):
            for part in line.split("\r") if "\r" in line else (line,):
                found = self.understood(part) if part else None
                if found is not None:
                    self._keep(at, *found)

    def understood(self, line: str) -> tuple[Plan, tuple[str, ...]] | None:
        """What a line, or one state of a progress bar, reports: its plan and its numbers as they are spelt."""
        if len(line) > LONGEST:
            self.long_lines += 1
            return None
        start, rank, _ = prefix_of(line, self.labelled)
        parts = NUMBER.split(line[start:])
        if len(parts) == 1:
            return None
        shape = tuple(parts[::2])
        if shape not in self._forms:
            if len(self._forms) >= (_MOST_FORMS if _LIKELY.match(line, start) else _MOST_FORMS // 2):
                return None  # a log with so many forms is mostly text
            self._forms[shape] = understand(shape)
        plan = self.plan(rank, shape)
        return None if plan is None else (plan, tuple(parts[1::2]))

    def has_met(self, rank: int, shape: tuple[str, ...]) -> bool:
        """Whether asking for the plan of a rank changes nothing: its columns are there, or there will be none."""
        return (rank, shape) in self._plans or len(self._plans) >= _MOST_PLANS

    def plan(self, rank: int, shape: tuple[str, ...]) -> Plan | None:
        """The plan for lines of a known form that a rank writes (-1 for none)."""
        form = self._forms[shape]
        plan = self._plans.get((rank, shape))
        if plan is not None or form is None or len(self._plans) >= _MOST_PLANS:
            return plan
        columns = []
        for measured in form.fields:
            column = self.columns.column(measured.original, measured.metric, form.counted_by, rank)
            if column is not None:
                column.unit = column.unit or measured.unit
                columns.append((measured.index, column))
        plan = self._plans[rank, shape] = Plan(form, columns, shape, rank)
        return plan

    def keeps_no_texts(self, ranks: Iterable[int], shape: tuple[str, ...]) -> bool:
        """Whether the spelling of nothing that these ranks write is kept; once it is not, it never is again."""
        for rank in ranks:
            if (rank, shape) not in self._without_texts:
                plan = self.plan(rank, shape)
                if plan is not None and any(column.spells for _, column in plan.columns):
                    return False
                self._without_texts.add((rank, shape))
        return True

    def remarks(self, source: str) -> list[str]:
        """What was left out, in words."""
        found = []
        if self.columns.overflow:
            found.append(f"`{source}` names more metrics than are kept; the later ones were left out")
        if self.long_lines:
            found.append(
                f"{self.long_lines:,} lines of `{source}` are longer than {LONGEST:,} characters"
                " and were not read for metrics"
            )
        return found + self.columns.remarks(source)

    def _keep(self, at: int, plan: Plan, spelled: tuple[str, ...]) -> None:
        numbers, texts = numbers_of(plan, [spelled])
        form = plan.form
        epoch = numbers[form.epoch][0] if form.epoch >= 0 else self.epoch
        step = numbers[form.step][0] if form.step >= 0 else None
        self.epoch = epoch
        self.step = step if form.step >= 0 else self.step
        # A line that counts nothing itself belongs to where the log is.
        if epoch is None and step is None:
            step = self.step
        for place, column in plan.columns:
            column.add(numbers[place][0], texts[place][0], at, epoch, step)
            if form.total >= 0:
                column.total = numbers[form.total][0]
        self.records += bool(plan.columns)


def numbers_of(plan: Plan, rows: Sequence[tuple[str, ...]]) -> tuple[dict[int, list[float]], dict[int, list[str]]]:
    """The numbers that a plan asks for, by their place in the line, and the spelling of its metrics."""
    form = plan.form
    spelled = list(zip(*rows, strict=True))
    numbers = {place: _floats(spelled[place]) for place in (form.epoch, form.step, form.total) if place >= 0}
    texts: dict[int, list[str]] = {}
    for place, _ in plan.columns:
        texts[place] = list(spelled[place])
        numbers[place] = _floats(spelled[place])
        if place in form.ratios:
            _take_ratios(numbers, texts, place, spelled[place + 1])
    return numbers, texts


def _take_ratios(
    numbers: dict[int, list[float]], texts: dict[int, list[str]], place: int, wholes: Sequence[str]
) -> None:
    """`119/1000` is a share; `1.361/0.306` are two metrics of which the first is named: a whole is counted."""
    for row, whole in enumerate(wholes):
        if "." not in whole or "." not in texts[place][row]:
            texts[place][row] = f"{texts[place][row]}/{whole}"
            numbers[place][row] /= number(whole) or 1.0


def _floats(texts: Sequence[str]) -> list[float]:
    try:
        return list(map(float, texts))
    except ValueError:  # thousands separators
        return [number(text) for text in texts]


def read_log(handle: BinaryIO, source: str, allowance: Allowance | None = None) -> tuple[list[Series], list[str]]:
    """The metrics of a text log, and remarks on what was left out."""
    reader, _, troubles = _gone_through(handle, allowance or Allowance(), None)
    return reader.columns.series(source), reader.remarks(source) + [f"`{source}`: {trouble}" for trouble in troubles]


@dataclass(frozen=True)
class Manner:
    """How a log is written: what is looked for in its first lines, and holds for all of them."""

    labelled: bool
    """whether a launcher put the number of a rank before every line"""
    commas: bool
    """whether its numbers have commas for points"""
    tables: bool = True
    """whether tables may stand in it"""

    @classmethod
    def of(cls, head: bytes) -> Manner:
        """The manner of a log that begins like this."""
        return cls(labels_ranks(head), has_decimal_commas(head))


def read_piece(handle: BinaryIO, source: str, manner: Manner) -> tuple[list[Series], bool]:
    """The metrics of a piece of a growing log that is written in this manner, and whether tables stand in it."""
    reader, rows, _ = _gone_through(handle, Allowance(), manner)
    return reader.columns.series(source), rows > 0


def _gone_through(
    handle: BinaryIO, allowance: Allowance, manner: Manner | None
) -> tuple[LogReader, int, Sequence[str]]:
    """The reader after all blocks, the rows that stood in tables, and what was troublesome."""
    size = handle.seek(0, os.SEEK_END)
    handle.seek(0)
    reader = LogReader(Columns(allowance.points))
    bulk = None
    blocks = RawBlocks(handle, _BLOCK, allowance=allowance)
    tables = TextTables(reader.columns)
    for first, block in blocks:
        manner = manner or Manner.of(block)
        reader.labelled = manner.labelled
        data = with_points(block) if manner.commas else block
        data = tables.take(first, data) if manner.tables else data
        if bulk is None and len(data) <= _SMALL:
            reader.block(first, data.decode(errors="replace"))
            continue
        if bulk is None:
            from traindx.readers.logs.bulk.blocks import Bulk
            from traindx.readers.logs.bulk.digits import line_feeds
            from traindx.readers.native.library import library

            bulk, blocks.count = Bulk(reader, library()), line_feeds
        bulk.block(first, data)
        if first == 1 and size:
            reader.columns.expect(len(block) / size)
        bulk.bound()
    if bulk is not None:
        bulk.finish()
    reader.long_lines += blocks.long_lines
    return reader, tables.rows, blocks.troubles


def records_in(text: str) -> int:
    """How many lines or tables of a text look like metrics."""
    reader = LogReader()
    tables = TextTables(reader.columns)
    data = text.encode(errors="replace")
    data = with_points(data) if has_decimal_commas(data) else data
    reader.block(1, tables.take(1, data).decode(errors="replace"))
    return reader.records + tables.rows
