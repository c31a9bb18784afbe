"""Records of named cells, as columns: rows of a CSV, objects of a JSON history."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from traindx.readers.series.columns import MOST_TEXTS, Column, Columns
from traindx.vocabulary.metrics import MetricName, normalise

if TYPE_CHECKING:
    from traindx.readers.logs.bulk.digits import Floats, Places, Truths

    Points = tuple[Floats, bytes, Places, Floats | None, Floats | None]
    ManyCells = tuple[str, Floats, Truths | None, Callable[[Places], bytes]]
    """a name, a value for each row, in which rows there is one (None: in all), and how to spell some of them"""

_NOT_NUMBERS = {"", "-", "none", "null", "n/a", "na"}
_NAMING_IN_ORDER = ("metric", "metric_name", "key", "tag", "name", "variable", "scalar")
_NAMING = frozenset(_NAMING_IN_ORDER)
_VALUES = frozenset({"value", "val", "metric_value", "scalar_value"})
_LAYERS = frozenset({"layer", "layer_name", "layer_id", "layer_idx", "module", "module_name", "param_name"})
_VARIANTS = ("variant", "phase", "split", "subset")
_LONGEST_NAME = 80
_MOST_HOMES = 10_000
_COUNTERS = ("row", "epoch", "step")


class Records:
    """Collects records; each value goes to the column of its name, at the step or epoch of its record."""

    def __init__(self, columns: Columns | None = None) -> None:
        self.columns = Columns() if columns is None else columns
        self.expected = 0
        """how many records there will be, as far as one can tell"""
        self._homes: dict[tuple[str, str], Column | None] = {}

    def row(self, cells: Iterable[tuple[str, str, int]]) -> None:
        """Take in a record: the name, spelling and line of each cell."""
        cells = told_by_name(list(cells))
        epoch = step = None
        measured: list[tuple[str, MetricName, float, str, int]] = []
        for name, text, line in cells:
            value = number(text)
            if value is None:
                continue
            metric = normalise(name)
            if metric.kind == "epoch":
                epoch = value if math.isfinite(value) else epoch
            elif metric.kind == "step":
                step = value if math.isfinite(value) and step is None else step
            else:
                measured.append((name, metric, value, text, line))
        counted_by = "step" if step is not None else "epoch" if epoch is not None else "row"
        for name, metric, value, text, line in measured:
            column = self._home(name, metric, counted_by)
            if column is not None:
                column.add(value, text, line, epoch, step)

    def rows(self, cells: list[ManyCells], lines: Places) -> None:
        """Take in many records at once, all with the same names."""
        import numpy as np

        self.mixed([(np.arange(len(lines)), cells)], lines)

    def mixed(self, groups: list[tuple[Places, list[ManyCells]]], lines: Places) -> None:
        """Take in many records at once: groups with the same names each, and which of the `lines` they stand on."""
        # Columns are numbered as they come up, row by row.
        shares = sorted(
            (share for units, cells in groups for share in _shares(units, cells, lines)),
            key=lambda share: (share.first, share.place),
        )
        homes: dict[int, tuple[Column, list[_Share]]] = {}
        for share in shares:
            column = self._home(share.name, share.metric, share.counted_by)
            if column is not None:
                homes.setdefault(id(column), (column, []))[1].append(share)
        for column, given in homes.values():
            if self.expected > 2 * MOST_TEXTS and all(share.chosen is None for share in given):
                column.forget_texts()
            spelt = column.keeps_texts(sum(len(share) for share in given))
            column.extend(*(given[0].points(spelt) if len(given) == 1 else _merged(given, spelt)))

    def _home(self, name: str, metric: MetricName, counted_by: str) -> Column | None:
        key = (name, counted_by)
        if key not in self._homes:
            if len(self._homes) >= _MOST_HOMES:
                return None
            self._homes[key] = self.columns.column(name, metric, counted_by)
        return self._homes[key]


@dataclass(frozen=True, eq=False)
class _Share:
    """What the records of a group have for one column; `chosen` says which of them, None for all."""

    place: int
    name: str
    metric: MetricName
    counted_by: str
    units: Places
    chosen: Places | None
    values: Floats
    lines: Places
    epochs: Floats | None
    steps: Floats | None
    spell: Callable[[Places], bytes]

    def __len__(self) -> int:
        return len(self.units) if self.chosen is None else len(self.chosen)

    @property
    def first(self) -> int:
        """The first record that has a value."""
        return int(self.units[0 if self.chosen is None else int(self.chosen[0])])

    def points(self, spelt: bool) -> Points:
        """Values, spelling, lines and counters."""
        import numpy as np

        texts = b""
        if spelt:
            texts = self.spell(np.arange(len(self.units)) if self.chosen is None else self.chosen)
        if self.chosen is None:  # the usual record has all its cells: nothing to pick
            return self.values, texts, self.lines, self.epochs, self.steps
        values, lines = self.values.take(self.chosen), self.lines.take(self.chosen)
        epochs = None if self.epochs is None else self.epochs.take(self.chosen)
        steps = None if self.steps is None else self.steps.take(self.chosen)
        return values, texts, lines, epochs, steps


def _shares(units: Places, cells: list[ManyCells], lines: Places) -> Iterator[_Share]:
    """The records of a group, column by column."""
    import numpy as np

    lines = lines if len(units) == len(lines) else lines.take(units)
    epochs, steps = np.full(len(lines), np.nan), np.full(len(lines), np.nan)
    measured: list[tuple[MetricName, ManyCells]] = []
    for cell in cells:
        name, values, present, _ = cell
        metric = normalise(name)
        if metric.kind not in {"epoch", "step"}:
            measured.append((metric, cell))
            continue
        said = np.isfinite(values) if present is None else present & np.isfinite(values)
        if metric.kind == "epoch":
            epochs = np.where(said, values, epochs)
        else:
            steps = np.where(said & np.isnan(steps), values, steps)
    counted = np.where(np.isnan(steps), np.where(np.isnan(epochs), 0, 1), 2)
    kinds = [counter for counter in range(3) if bool((counted == counter).any())]
    counts_epochs, counts_steps = not bool(np.isnan(epochs).all()), not bool(np.isnan(steps).all())
    for place, (metric, (name, values, present, spell)) in enumerate(measured):
        for counter in kinds:
            chosen = _chosen(present, counted == counter if len(kinds) > 1 else None)
            if chosen is None or len(chosen):
                told = (epochs if counts_epochs else None, steps if counts_steps else None)
                yield _Share(place, name, metric, _COUNTERS[counter], units, chosen, values, lines, *told, spell)


def _merged(shares: list[_Share], spelt: bool) -> Points:
    """The points of several groups in the order of their records."""
    import numpy as np

    points = [share.points(spelt) for share in shares]
    units = [share.units if share.chosen is None else share.units.take(share.chosen) for share in shares]
    order = np.argsort(np.concatenate(units), kind="stable")
    texts = b""
    if spelt:
        words = b"".join(found[1] for found in points).split(b"\n")
        texts = b"\n".join([*(words[place] for place in order.tolist()), b""])
    lengths = [len(found[0]) for found in points]
    values, lines = (np.concatenate([found[place] for found in points])[order] for place in (0, 2))
    epochs = _counters([found[3] for found in points], lengths, order)
    return values, texts, lines, epochs, _counters([found[4] for found in points], lengths, order)


def _counters(pieces: list[Floats | None], lengths: list[int], order: Places) -> Floats | None:
    import numpy as np

    if all(piece is None for piece in pieces):
        return None
    told = [np.full(n, np.nan) if piece is None else piece for piece, n in zip(pieces, lengths, strict=True)]
    joined: Floats = np.concatenate(told)[order]
    return joined


def is_long_form(names: Iterable[str]) -> bool:
    """Whether a column says what a row measures: the metric (`key,value,step`), or the layer (`step,layer,norm`)."""
    return _is_long(tuple(names))


@lru_cache(maxsize=1024)
def _is_long(names: tuple[str, ...]) -> bool:
    """Remembered: the rows of a table mostly have the same names."""
    known = {name.strip().lower() for name in names}
    return (bool(known & _NAMING) and bool(known & _VALUES)) or _is_by_layer(known)


def _is_by_layer(known: set[str]) -> bool:
    """Whether there is a row for each layer at each step."""
    return len(known & _LAYERS) == 1 and any(normalise(name).kind in {"epoch", "step"} for name in known)


def told_by_name(cells: list[tuple[str, str, int]]) -> list[tuple[str, str, int]]:
    """A record in the long form (trackers export it so) with its values under the name that the record tells."""
    if not is_long_form(name for name, _, _ in cells):
        return cells
    if _is_by_layer({name.strip().lower() for name, _, _ in cells}):
        return _told_by_layer(cells)
    by_name = {name.strip().lower(): text.strip() for name, text, _ in cells}
    named = next((by_name[name] for name in _NAMING_IN_ORDER if by_name.get(name)), "")
    if not named or len(named) > _LONGEST_NAME or number(named) is not None:
        return cells
    variant = next((by_name[name] for name in _VARIANTS if by_name.get(name)), "")
    told = f"{variant}/{named}" if variant and number(variant) is None and len(variant) <= _LONGEST_NAME else named
    return [
        (told if name.strip().lower() in _VALUES else name, text, line)
        for name, text, line in cells
        if normalise(name).kind in {"epoch", "step"} or name.strip().lower() in _VALUES
    ]


def _told_by_layer(cells: list[tuple[str, str, int]]) -> list[tuple[str, str, int]]:
    column, layer = next((name, text.strip()) for name, text, _ in cells if name.strip().lower() in _LAYERS)
    if not layer or len(layer) > _LONGEST_NAME:
        return cells
    above = f"layer{layer}" if number(layer) is not None else layer
    return [
        (name if normalise(name).kind in {"epoch", "step"} else f"{above}/{name}", text, line)
        for name, text, line in cells
        if name != column
    ]


def _chosen(present: Truths | None, counted: Truths | None) -> Places | None:
    """The rows that have a value and are counted alike; None for all of them."""
    import numpy as np

    if present is None:
        return None if counted is None else np.flatnonzero(counted)
    return np.flatnonzero(present if counted is None else present & counted)


def number(text: str) -> float | None:
    """The number in a cell; None for what is none, or stands for none."""
    if not text or len(text) > 60 or text.lower() in _NOT_NUMBERS:
        return None
    try:
        return float(text[:-1] if text.endswith("%") else text)
    except ValueError:
        return None
