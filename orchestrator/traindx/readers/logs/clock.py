"""When the lines of a log were written: time stamps at the beginning of lines, read when someone asks.

The stamps of a log stand in one place: `2024-05-01 12:00:03,123 INFO`, `[2024-05-01T12:00:03]`. A stamp names no time
zone, or one that stays the same; it is counted as if it were UTC.
"""

from __future__ import annotations

import re
from datetime import date
from typing import TYPE_CHECKING, BinaryIO

from traindx.readers.logs.lines import RawBlocks

if TYPE_CHECKING:
    from traindx.readers.logs.bulk.digits import Bytes, Floats, Places, Truths
    from traindx.readers.model import LineNumbers

_STAMP = re.compile(rb"([^\n]{0,24}?)\d{4}[-/]\d\d[-/]\d\d[T ,]\d\d:\d\d:\d\d")
_LINES = 60
"""lines at the beginning by which it is decided whether the log has stamps, and where"""
_WIDTH = 24
_CLOCK = ((11, 36_000.0), (12, 3_600.0), (14, 600.0), (15, 60.0), (17, 10.0), (18, 1.0))
"""the digits of the time of day, and the seconds that each is worth"""
_MOST = 2_000_000
"""stamps that are kept; of more, every other one"""
_FIRST_DAY = date(1970, 1, 1).toordinal()


class Clock:
    """Collects the stamps of a log, block by block."""

    def __init__(self) -> None:
        self._offset: int | None = None
        """where in a line the stamp stands; None for a log without stamps"""
        self._stride = 1
        self._kept = 0
        self._lines: list[Places] = []
        self._times: list[Floats] = []

    def block(self, first: int, data: bytes) -> None:
        """Take in whole lines, the first of which has this number."""
        if first == 1:
            self._offset = _usual_place(data)
        if self._offset is None:
            return
        import numpy as np

        raw = np.frombuffer(data, dtype=np.uint8)
        begins = np.concatenate([[0], np.flatnonzero(raw == 10) + 1])
        # A line at the very end that is shorter than a stamp with its fraction has the time of the line before.
        whole = begins[begins + (self._offset + _WIDTH) <= len(data)]
        loads = np.ndarray((max(0, len(raw) - _WIDTH + 1),), dtype=f"V{_WIDTH}", buffer=data, strides=(1,))
        cells = loads[whole + self._offset].view(np.uint8).reshape(-1, _WIDTH)
        if not len(cells):
            return
        times, sound = _times(cells)
        chosen = np.flatnonzero(sound)[:: self._stride]
        self._lines.append(first + chosen)
        self._times.append(times[chosen])
        self._kept += len(chosen)
        if self._kept > _MOST:
            self._thin()

    def _thin(self) -> None:
        import numpy as np

        self._lines, self._times = [np.concatenate(self._lines)[::2]], [np.concatenate(self._times)[::2]]
        self._stride *= 2
        self._kept = len(self._lines[0])

    def at(self, lines: LineNumbers) -> Floats | None:
        """The time of each of the lines, or of the last line before it that has one; None for a log without stamps."""
        if not self._kept:
            return None
        import numpy as np

        places = np.searchsorted(np.concatenate(self._lines), lines, side="right") - 1
        times = np.concatenate(self._times)
        return np.where(places < 0, np.nan, times.take(np.maximum(places, 0)))


def read_clock(handle: BinaryIO) -> Clock:
    """The stamps of a log."""
    clock = Clock()
    for first, data in RawBlocks(handle):
        clock.block(first, data)
    return clock


def _usual_place(data: bytes) -> int | None:
    lines = [line for line in data[: _LINES * 400].split(b"\n")[:_LINES] if line.strip()]
    places = [len(found[1]) for line in lines if (found := _STAMP.match(line))]
    usual = max(places, key=places.count, default=0)
    return usual if places and places.count(usual) * 3 >= len(lines) else None


def _times(cells: Bytes) -> tuple[Floats, Truths]:
    """The seconds since 1970 of each stamp, and which of the lines have a sound one."""
    import numpy as np

    digits = cells - np.uint8(48)
    sound: Truths = (cells[:, 13] == 58) & (cells[:, 16] == 58)
    seconds = _days(cells)
    for place, worth in _CLOCK:
        digit = digits[:, place]
        sound &= digit <= 9
        seconds += digit * worth
    parted = (cells[:, 19] == ord(",")) | (cells[:, 19] == ord("."))
    if bool(parted.any()):
        parted &= (digits[:, 20] <= 9) & (digits[:, 21] <= 9) & (digits[:, 22] <= 9)
        thousandths = digits[:, 20] * np.float64(100) + digits[:, 21] * np.float64(10) + digits[:, 22]
        seconds += np.where(parted, thousandths, 0.0) / 1_000
    sound &= np.isfinite(seconds)
    return seconds, sound


def _days(cells: Bytes) -> Floats:
    """The first second of each line's day; NaN for what is no date. Most lines have the date of the line before."""
    import numpy as np

    words = cells.view(np.uint64)
    same = words[:, 0] ^ (words[:, 1] << np.uint64(48))
    starts = np.concatenate([[0], np.flatnonzero(same[1:] != same[:-1]) + 1])
    known: dict[bytes, float] = {}
    found = []
    for start in starts.tolist():
        text = cells[start, :10].tobytes()
        if text not in known:
            known[text] = _day(text)
        found.append(known[text])
    return np.repeat(np.array(found), np.diff(np.append(starts, len(cells))))


def _day(text: bytes) -> float:
    try:
        year, month, day = text.replace(b"/", b"-").split(b"-")
        return (date(int(year), int(month), int(day)).toordinal() - _FIRST_DAY) * 86_400.0
    except ValueError:
        return float("nan")
