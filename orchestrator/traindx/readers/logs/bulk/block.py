"""A block of a log cut into units and runs of digits, all of it at once."""

from __future__ import annotations

import numpy as np

from traindx.readers.logs.bulk.digits import Places, Text, Truths, Words
from traindx.readers.logs.bulk.skeleton import Lines

_MIX_TAIL = np.uint64(0xC2B2AE3D27D4EB4F)
# What a name may end with: digits after it belong to it (`top5`), and to the hash.
_NAMES = np.zeros(256, dtype=np.bool_)
_NAMES[[*range(65, 91), *range(97, 123), ord("_"), ord("@"), *range(128, 256)]] = True


_RANK = np.array([int.from_bytes(word.rjust(8, b"\0"), "little") for word in (b"[rank", b"[RANK", b"[Rank")], np.uint64)
_LAST_FIVE = np.uint64(0xFFFFFFFFFF000000)


class Block:
    """A block of a log, cut into units (lines, or the states of a progress bar between carriage returns)."""

    def __init__(self, first: int, data: bytes, origin: Places | None = None) -> None:
        self.data = data
        self.text = Text(data)
        raw = self.text.bytes
        breaks = raw == 10
        ends = np.flatnonzero(breaks | (raw == 13) if b"\r" in data else breaks)
        feeds = breaks[ends]
        if not data.endswith((b"\n", b"\r")):
            ends, feeds = np.append(ends, len(data)), np.append(feeds, False)
        self.ends: Places = ends
        self.begins: Places = np.empty_like(ends)
        self.begins[0] = 0
        np.add(ends[:-1], 1, out=self.begins[1:])
        self.numbers: Places = first + np.cumsum(feeds) - feeds
        """the number that an editor gives the line of each unit"""
        self.origin: Places = np.arange(len(ends)) if origin is None else origin
        """which units of the whole block these are"""

    def only(self, chosen: Truths) -> Block:
        """A block of some of the units."""
        if bool(chosen.all()):
            return self
        kept = np.repeat(chosen, self.ends - self.begins + 1)[: len(self.data)]
        return Block(0, self.text.bytes[kept].tobytes(), np.flatnonzero(chosen))

    def find_runs(self) -> None:
        """Find every run of digits."""
        raw = self.text.bytes
        is_digit = np.empty(len(raw) + 2, dtype=np.bool_)
        is_digit[0] = is_digit[-1] = False
        np.less(raw - np.uint8(48), 10, out=is_digit[1:-1])
        edges = np.flatnonzero(is_digit[1:] != is_digit[:-1])
        self.starts: Places = edges[::2].copy()
        self.stops: Places = edges[1::2].copy()
        self.first_runs: Places = np.searchsorted(self.starts, np.append(self.begins, len(raw)))

    def __len__(self) -> int:
        return len(self.ends)

    def raw(self, unit: int) -> bytes:
        """The bytes of a unit."""
        return self.data[self.begins[unit] : self.ends[unit]]

    def runs(self, unit: int) -> list[tuple[int, int]]:
        """The runs of digits of a unit, from its beginning."""
        begin, first, last = int(self.begins[unit]), self.first_runs[unit], self.first_runs[unit + 1]
        return [
            (start - begin, stop - begin)
            for start, stop in zip(self.starts[first:last].tolist(), self.stops[first:last].tolist(), strict=True)
        ]

    def keys(self) -> Words:
        """A number for each unit that units of one form share: a hash of what stands before each run and at the end."""
        previous = np.empty_like(self.starts)
        previous[1:] = self.stops[:-1]
        counts = np.diff(self.first_runs)
        some = counts > 0
        previous[self.first_runs[:-1][some]] = self.begins[some]
        lengths = self.starts - previous
        self.words = self.text.words(self.starts, lengths)
        hashed = self.words.copy()
        longer = np.flatnonzero(lengths > 8)
        hashed[longer] += self.text.words(self.starts[longer] - 8, lengths[longer] - 8) * _MIX_TAIL
        named = np.flatnonzero(_NAMES.take((self.words >> np.uint64(56)).view(np.int64)))
        # The lines of all ranks are one form: `[rank3]` and `[rank4]` hash alike.
        named = named[~np.isin(self.words[named] & _LAST_FIVE, _RANK)]
        hashed[named] += self.text.words(self.stops[named], self.stops[named] - self.starts[named]) * _MIX_TAIL
        sums = np.concatenate([np.zeros(1, dtype=np.uint64), np.cumsum(hashed)])
        total: Words = sums[self.first_runs[1:]] - sums[self.first_runs[:-1]]
        last = self.begins.copy()
        last[some] = self.stops[self.first_runs[1:][some] - 1]
        self.tails = self.text.words(self.ends, self.ends - last)
        total += (self.tails ^ counts.astype(np.uint64)) * _MIX_TAIL
        return total

    def lines(self, units: Places, runs: int) -> Lines:
        """The places of units that have so many runs each."""
        index = self.first_runs[units] + np.arange(runs)[:, None]
        words = np.empty((runs + 1, len(units)), dtype=np.uint64)
        words[:-1] = self.words.take(index)
        words[-1] = self.tails.take(units)
        return Lines(
            self.begins.take(units), self.ends.take(units), self.starts.take(index), self.stops.take(index), words
        )

    def says_nan(self) -> Truths:
        """Which units hold the letters of `nan` or `inf`, in any case."""
        letters = self.text.bytes | np.uint8(32)
        first, second, third = letters[:-2], letters[1:-1], letters[2:]
        places = ((first == ord("n")) & (second == ord("a")) & (third == ord("n"))) | (
            (first == ord("i")) & (second == ord("n")) & (third == ord("f"))
        )
        found: Truths = np.zeros(len(self), dtype=np.bool_)
        found[np.searchsorted(self.ends, np.flatnonzero(places))] = True
        return found
