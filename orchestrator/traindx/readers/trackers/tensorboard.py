"""TensorBoard event files: scalars of every style, hyper-parameters and texts, without TensorFlow.

A writer repeats itself: the events of one tag differ in time, step and value only. One event of a kind is parsed, and
where its numbers stand is then read from all its likes at once; whatever has no likes is parsed for itself.
"""

from __future__ import annotations

import math
from collections import Counter
from typing import TYPE_CHECKING, BinaryIO

from traindx.readers.model import Setting
from traindx.readers.trackers import tfrecord
from traindx.readers.trackers.events import Event, Malformed, Slot, decode, parse
from traindx.readers.trackers.points import Found, Points, Stretch, counted

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from traindx.readers.trackers.tfrecord import Bytes, Places, Sums

_FEWEST_ALIKE = 6
"""events for which reading them at once pays"""
_MOST_ROUNDS = 16
"""layouts that events of one length may have before the rest is parsed one by one"""
_MOST_TEXTS = 500
_LONGEST_TEXT = 500


def read(handle: BinaryIO, source: str) -> Found:
    """The scalars, hyper-parameters and texts of an event file."""
    reader, records = _Reader(source), tfrecord.Records(handle)
    for chunk in records.chunks():
        reader.chunk(chunk)
    return Found(reader.points.series(source), reader.settings, records.troubles + reader.remarks())


def quote(handle: BinaryIO, number: int) -> str:
    """The scalars of one record in words, to cite it: `step 120: loss/train 0.3812`."""
    import numpy as np

    for chunk in tfrecord.Records(handle).chunks():
        if number <= chunk.numbers[-1]:
            place = int(np.searchsorted(chunk.numbers, number))
            start, length = int(chunk.starts[place]), int(chunk.lengths[place])
            try:
                event = parse(chunk.data[start : start + length], {})
            except Malformed:
                return ""
            return event.words(chunk.data[start : start + length])
    return ""


class _Reader:
    """What has been read of one event file."""

    def __init__(self, source: str) -> None:
        self.source = source
        self.points = Points()
        self.settings: list[Setting] = []
        self._plugins: dict[str, str] = {}
        self._skipped: Counter[str] = Counter()
        self._damaged = 0
        self._notes: list[str] = []

    def remarks(self) -> list[str]:
        """What the reader of the series should know about the file."""
        said = list(self._notes)
        if self._damaged:
            said.append(f"{self._damaged:,} records do not match their checksum and were left out")
        if self.points.overflow:
            said.append(self.points.overflow)
        if self._skipped:
            said.append(f"not read: {counted(sorted(self._skipped.items()))}")
        return said if self.points.count else [*said, "it has no scalars"]

    def chunk(self, chunk: tfrecord.Chunk) -> None:
        """Take in records, those of one length together.

        The longest come first: a tag's first event may be the only one that says what the tag is: it is longer.
        """
        import numpy as np

        order = np.argsort(-chunk.lengths, kind="stable")
        ends = np.flatnonzero(np.diff(chunk.lengths[order], append=-1)) + 1
        for alike in np.split(order, ends[:-1]):
            length = int(chunk.lengths[alike[0]])
            if len(alike) < _FEWEST_ALIKE or length > tfrecord.LONGEST_CHECKED:
                self._one_by_one(chunk, alike, checked=False)
            else:
                self._one_by_one(chunk, _Alike(self, chunk, alike, length).read(), checked=True)

    def damaged(self, count: int) -> None:
        """Count records that do not match their checksum."""
        self._damaged += count

    def event(self, data: bytes) -> Event | None:
        """An event parsed; None where it is none."""
        try:
            return parse(data, self._plugins)
        except Malformed:
            return None

    def _one_by_one(self, chunk: tfrecord.Chunk, places: Places, *, checked: bool) -> None:
        for place in sorted(places.tolist()):
            start, length = int(chunk.starts[place]), int(chunk.lengths[place])
            data = chunk.data[start : start + length]
            if not checked and length <= tfrecord.LONGEST_CHECKED and not tfrecord.sound(chunk.data, start, length):
                self._damaged += 1
                continue
            event = self.event(data)
            if event is None:
                self._skipped["malformed event"] += 1
            else:
                self._take(event, data, int(chunk.numbers[place]))

    def _take(self, event: Event, data: bytes, number: int) -> None:
        step = event.step.number(data) if event.step else 0.0
        wall = event.time.number(data) if event.time else math.nan
        for tag, slot in event.scalars:
            self.points.one(tag, number, step, slot.number(data), wall)
        self._skipped.update(event.skipped)
        self._notes += [note for note in event.notes if note not in self._notes]
        for key, value in event.settings:
            if len(self.settings) < _MOST_TEXTS:
                bounded = value[:_LONGEST_TEXT] if isinstance(value, str) else value
                self.settings.append(Setting(key, bounded, self.source, number))


class _Alike:
    """Records of one length in one chunk, as columns of bytes."""

    def __init__(self, reader: _Reader, chunk: tfrecord.Chunk, places: Places, length: int) -> None:
        import numpy as np

        self._reader, self._chunk, self._length = reader, chunk, length
        raw = np.frombuffer(chunk.data, dtype=np.uint8)
        starts = chunk.starts[places]
        columns = np.empty((length, len(places)), dtype=np.uint8)
        for byte in range(length):
            np.take(raw, starts + byte, out=columns[byte], mode="clip")
        self._sums = tfrecord.sums(list(columns)) if length else np.zeros(len(places), dtype=np.uint32)
        sound = tfrecord.masked(self._sums) == tfrecord.words(raw, starts + length)
        reader.damaged(int(len(places) - sound.sum()))
        if not sound.all():
            columns, self._sums, places = columns[:, sound], self._sums[sound], places[sound]
        self._columns, self._places = columns, places

    def read(self) -> Places:
        """Hand the scalars of events that have likes to the reader; returns the places of all others."""
        import numpy as np

        left = np.arange(len(self._places))
        alone: list[Places] = []
        for _ in range(_MOST_ROUNDS):
            if len(left) < _FEWEST_ALIKE:
                break
            event = self._event(int(left[0]))
            if event is None or not event.plain:
                alone.append(left[:1])
                left = left[1:]
            else:
                left = self._round(event, left)
        others: Places = self._places[np.concatenate([*alone, left])]
        return others

    def _event(self, row: int) -> Event | None:
        start = int(self._chunk.starts[self._places[row]])
        return self._reader.event(self._chunk.data[start : start + self._length])

    def _round(self, layout: Event, left: Places) -> Places:
        """Read every row whose numbers stand where those of `layout` do; returns the rows that remain."""
        import numpy as np

        varying = layout.varying
        traits = self._without(varying, left)
        _, first, which, sizes = np.unique(traits, return_index=True, return_inverse=True, return_counts=True)
        order = np.argsort(which, kind="stable")
        groups = np.split(left[order], np.cumsum(sizes)[:-1])
        fixed = np.ones(self._length, dtype=bool)
        fixed[list(varying)] = False
        remaining: list[Places] = []
        for group, leader in zip(groups, left[first], strict=True):
            # The row that gave the layout is taken in any case, so that every round makes the rest smaller.
            if len(group) < _FEWEST_ALIKE and leader != left[0]:
                remaining.append(group)
                continue
            event = layout if leader == left[0] else self._event(int(leader))
            if event is None or not event.plain or event.varying != varying or event.slots != layout.slots:
                remaining.append(group)
                continue
            remaining.append(self._group(event, group, fixed))
        return np.sort(np.concatenate(remaining)) if remaining else left[:0]

    def _group(self, event: Event, rows: Places, fixed: npt.NDArray[np.bool_]) -> Places:
        """Read rows that differ in the varying bytes only; returns those that turn out to differ elsewhere."""
        import numpy as np

        columns = self._columns[:, rows]
        same = (columns[fixed] == columns[fixed][:, :1]).all(axis=0)
        if event.step is not None:
            same &= _same_width(columns, event.step)
        for _, slot in event.scalars:
            if slot.kind in {"varint", "half varint", "brain varint"}:
                same &= _same_width(columns, slot)
        others: Places = rows[~same]
        if len(others):
            rows, columns = rows[same], columns[:, same]
        numbers = self._chunk.numbers[self._places[rows]]
        steps = np.zeros(len(rows)) if event.step is None else decode(event.step, columns)
        walls = np.full(len(rows), np.nan) if event.time is None else decode(event.time, columns)
        for tag, slot in event.scalars:
            self._reader.points.many(tag, Stretch(numbers, steps, decode(slot, columns), walls))
        return others

    def _without(self, varying: frozenset[int], rows: Places) -> Sums:
        """Of each row a number that depends on its fixed bytes only: the checksum, less what the others add to it."""
        table, _ = tfrecord.tables(self._length)
        traits = self._sums[rows]
        for byte in varying:
            traits = traits ^ table[self._length - 1 - byte][self._columns[byte][rows]]
        return traits


def _same_width(columns: Bytes, slot: Slot) -> npt.NDArray[np.bool_]:
    """Whether a varint goes on and ends in each row where it does in the first."""
    part = columns[slot.start : slot.start + slot.width] >= 0x80
    same: npt.NDArray[np.bool_] = (part == part[:, :1]).all(axis=0)
    return same
