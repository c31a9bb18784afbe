"""A column of a table of samples: range, missing values, order and classes, kept without the values."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from operator import ne
from typing import TYPE_CHECKING

from traindx.vocabulary.data_names import names_somebody

if TYPE_CHECKING:
    from traindx.readers.logs.bulk.digits import Floats, Places, Truths

_MOST_VALUES = 50
_MOST_MEMBERS = 5_000
_MISSING = {"", "na", "n/a", "nan", "null", "none", "-", "?"}


@dataclass(frozen=True)
class ColumnInfo:
    """One column: its range where it is numeric, and where values are missing."""

    name: str
    numbers: int
    texts: int
    missing: int
    first_missing: int | None
    """line of the first missing or non-finite value"""
    low: float | None
    high: float | None
    mean: float | None
    deviation: float | None
    values: dict[str, int] = field(default_factory=dict)
    """how often each value occurs, where there are few: classes, labels, splits"""
    low_line: int | None = None
    high_line: int | None = None
    """lines of the first lowest and the first highest value"""
    changes: int = field(default=0, compare=False)
    """how often a row says something else than the one read before it, as long as the values are few"""
    first_text: int | None = None
    """line of the first cell that is no number, in a column that has numbers as well"""
    members: frozenset[str] = frozenset()
    """whom the rows were taken from, where the column says so and they are no more than some thousand"""
    rises: bool = field(default=False, compare=False)
    """whether no row says less than the one before it: numbers, or dates that sort as they are spelt"""

    @property
    def described(self) -> str:
        """Range and gaps in one line: what a citation of a column without lines quotes."""
        told = f"{self.numbers} numbers"
        if self.low is not None and self.mean is not None:
            told += f", {self.low:.6g} to {self.high:.6g}, mean {self.mean:.6g}"
        return f"{told}, {self.missing} missing or not finite" if self.missing else told

    @property
    def constant(self) -> bool:
        """Whether every row says the same."""
        return len(self.values) == 1 and not self.missing and self.numbers + self.texts > 1


class Column:
    """A column while it is read; mean and spread are kept as Welford does, without the values."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.numbers = self.texts = self.missing = 0
        self.first_missing: int | None = None
        self.low, self.high, self.mean, self.squares = math.inf, -math.inf, 0.0, 0.0
        self.low_line: int | None = None
        self.high_line: int | None = None
        self.values: Counter[str] | None = Counter()
        self.members: set[str] | None = set() if names_somebody(name) else None
        self.changes = 0
        self.first_text: int | None = None
        self._before = ""
        self._highest: float | str | None = None
        self._rises = True

    def take(self, cell: str, line: int) -> None:
        """Take in a cell."""
        number = number_in(cell)
        if is_missing(cell.strip(), number):
            self._miss(1, line)
            return
        self._count_values([cell.strip()])
        if number is None:
            self._follow([cell.strip()])
            self._text(1, line)
            return
        self._follow([number])
        self._spread(1, number, 0.0)
        self._extremes(number, line, number, line)

    def take_many(
        self, values: Floats, present: Truths | None, lines: Places, spell: Callable[[Places], bytes]
    ) -> None:
        """Take in the cells of a stretch of rows: the numbers, which of the cells hold one, and how to spell some."""
        import numpy as np

        told = np.isfinite(values) if present is None else present & np.isfinite(values)
        if (self.values is not None or self.members is not None) and len(values):
            words = _words(spell(np.arange(len(values))))
            kinds = {word: is_missing(word, number_in(word)) for word in set(words)}
            self._count_values([word for word in words if not kinds[word]])
        if not bool(told.all()):
            self._no_numbers(lines[~told], _words(spell(np.flatnonzero(~told))))
            lines, values = lines[told], values[told]
        if not len(values):
            return
        if self._rises:
            self._rises = bool((values[1:] >= values[:-1]).all())
            self._follow([float(values[0]), float(values[-1])])
        low, high = int(values.argmin()), int(values.argmax())
        with np.errstate(over="ignore", invalid="ignore"):
            mean = float(values.mean())
            self._spread(len(values), mean, float(np.square(values - mean).sum()))
        self._extremes(float(values[low]), int(lines[low]), float(values[high]), int(lines[high]))

    def _no_numbers(self, lines: Places, words: list[str]) -> None:
        kinds = {word: is_missing(word, number_in(word)) for word in set(words)}
        absent = [line for line, word in zip(lines.tolist(), words, strict=True) if kinds[word]]
        if absent:
            self._miss(len(absent), absent[0])
        told = next((line for line, word in zip(lines.tolist(), words, strict=True) if not kinds[word]), None)
        if told is not None:
            self._follow([word for word in words if not kinds[word]])
            self._text(len(words) - len(absent), told)

    def _follow(self, cells: Sequence[float | str]) -> None:
        """Keep whether every cell is at least the one before it; a column of both numbers and texts does not rise."""
        for cell in cells if self._rises else ():
            if self._highest is not None and (type(cell) is not type(self._highest) or cell < self._highest):  # type: ignore[operator]
                self._rises = False
                return
            self._highest = cell

    def _text(self, count: int, line: int) -> None:
        self.texts += count
        self.first_text = min(line, self.first_text or line)

    def _miss(self, count: int, line: int) -> None:
        self.missing += count
        self.first_missing = min(line, self.first_missing or line)

    def _count_values(self, words: list[str]) -> None:
        if self.members is not None:
            self.members.update(word[:60] for word in words)
            self.members = self.members if len(self.members) <= _MOST_MEMBERS else None
        if self.values is not None:
            self.values.update(word[:60] for word in words)
            self.values = self.values if len(self.values) <= _MOST_VALUES else None
            self.changes += sum(map(ne, words, [self._before, *words[:-1]]))
            self._before = words[-1] if words else self._before

    def _spread(self, count: int, mean: float, squares: float) -> None:
        """Put the mean and the squared differences of further numbers to those so far (Chan et al.)."""
        together = self.numbers + count
        step = mean - self.mean
        self.squares += squares + step * step * self.numbers * count / together
        self.mean += step * count / together
        self.numbers = together

    def _extremes(self, low: float, low_line: int, high: float, high_line: int) -> None:
        if low < self.low or (low == self.low and low_line < (self.low_line or 0)):
            self.low, self.low_line = low, low_line
        if high > self.high or (high == self.high and high_line < (self.high_line or 0)):
            self.high, self.high_line = high, high_line

    def info(self) -> ColumnInfo:
        """The column as it stands."""
        known = self.numbers > 0
        return ColumnInfo(
            name=self.name,
            numbers=self.numbers,
            texts=self.texts,
            missing=self.missing,
            first_missing=self.first_missing,
            low=self.low if known else None,
            high=self.high if known else None,
            mean=self.mean if known else None,
            deviation=math.sqrt(max(0.0, self.squares) / self.numbers)
            if known and math.isfinite(self.squares)
            else None,
            values=dict(self.values or {}),
            low_line=self.low_line,
            high_line=self.high_line,
            changes=max(0, self.changes - 1) if self.values else 0,
            first_text=self.first_text if known else None,
            members=frozenset(self.members or ()),
            rises=self._rises and self.numbers + self.texts > 1,
        )


def _words(spelled: bytes) -> list[str]:
    return [word.strip() for word in spelled.decode(errors="replace").split("\n")[:-1]]


def is_missing(word: str, number: float | None) -> bool:
    """Whether a cell holds nothing, or no finite number."""
    return word.lower() in _MISSING or (number is not None and not math.isfinite(number))


def number_in(cell: str) -> float | None:
    """The number that a cell spells; None where it spells none."""
    if len(cell) > 60:
        return None
    try:
        return float(cell)
    except ValueError:
        return None
