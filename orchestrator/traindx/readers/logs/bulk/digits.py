"""Decimal numbers out of raw bytes, thousands at a time; every value is the one that `float` would give.

Eight bytes that end where a run of digits ends are loaded as one 64-bit word and turned into a number with three
multiplications, for all runs at once.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Bytes = npt.NDArray[np.uint8]
Places = npt.NDArray[np.int64]
Words = npt.NDArray[np.uint64]
Floats = npt.NDArray[np.float64]
Truths = npt.NDArray[np.bool_]

PAD = 32
"""bytes in front of a block, so that a word may end at its first byte"""
_AFTER = 8
"""bytes behind it, so that the last line may be rounded up to whole words"""
WIDEST = 22
"""digits of a run that are looked at; ten to this power is the last that a double holds exactly"""
_MOST = 18
"""digits that surely fit 63 bits"""

_ALL = (1 << 64) - 1
_MASKS = np.array([(_ALL << (64 - 8 * width)) & _ALL for width in range(9)], dtype=np.uint64)
_DIGIT_MASKS = _MASKS & np.uint64(0x0F0F0F0F0F0F0F0F)
_TENS = np.array([10**power for power in range(_MOST + 1)], dtype=np.uint64)
_POWERS = np.array([10.0**power for power in range(WIDEST + 1)])
_EXACT = np.uint64(1 << 53)
_TOO_MUCH = np.uint64(1 << 62)
_SPLITTER = 134217729.0  # 2**27 + 1: Dekker's way to split a double in two halves


class Text:
    """A block of bytes that words can be loaded from; places count from the first byte of the block."""

    def __init__(self, data: bytes) -> None:
        self.padded: Bytes = np.zeros(PAD + len(data) + _AFTER, dtype=np.uint8)
        self.padded[PAD:-_AFTER] = np.frombuffer(data, dtype=np.uint8)
        self.bytes = self.padded[PAD:-_AFTER]
        self.until_end = self.padded[PAD:]
        """the block and the zeros behind it"""
        self._loads = self.loads(8)

    def loads(self, width: int) -> npt.NDArray[np.void]:
        """So many bytes from each place of the padded block on, one item for each place."""
        places = max(0, len(self.padded) - width + 1)
        return np.ndarray((places,), dtype=f"V{width}", buffer=self.padded.data, strides=(1,))

    def words(self, ends: Places, widths: Places | int) -> Words:
        """The last `widths` bytes (at most eight) before each end, as one word; what is before them is zero."""
        return self._load(ends, widths, _MASKS)

    def digits(self, ends: Places, widths: Places) -> Words:
        """The number that each run of digits spells, at most `WIDEST` of them; 2**62 for what does not fit."""
        widest = int(widths.max(initial=0))
        total = self._eight(ends, widths)
        if widest > 8:
            total += self._eight(ends - 8, np.maximum(widths - 8, 0)) * _TENS[8]
        if widest > 16:
            top = self._eight(ends - 16, np.maximum(widths - 16, 0))
            total = np.where(top < _TENS[_MOST - 16], total + top * _TENS[16], _TOO_MUCH)
        return total

    def _eight(self, ends: Places, widths: Places) -> Words:
        return _eight(self._load(ends, widths, _DIGIT_MASKS))

    def _load(self, ends: Places, widths: Places | int, masks: Words) -> Words:
        word = self._loads[ends + (PAD - 8)].view(np.uint64)
        word &= masks[min(widths, 8)] if isinstance(widths, int) else masks.take(widths, mode="clip")
        return word

    def spelled(self, starts: Places, ends: Places) -> bytes:
        """The text between each start and end, each with a line feed."""
        if not len(starts):
            return b""
        lengths = ends - starts
        width = int(lengths.max()) + 1
        if width > PAD:
            places = zip(starts.tolist(), ends.tolist(), strict=True)
            return b"".join(self.bytes[start:end].tobytes() + b"\n" for start, end in places)
        cells = self.loads(width)[ends + (PAD + 1 - width)].view(np.uint8).reshape(-1, width)
        cells[:, -1] = 10
        if int(lengths.min()) < width - 1:
            cells *= np.arange(width, dtype=np.int8) >= (width - 1 - lengths).astype(np.int8)[:, None]
            return cells.tobytes().translate(None, b"\0")
        return cells.tobytes()


def eight(words: Words, width: int) -> Words:
    """The numbers that the last `width` bytes of each word spell, where the digits are 0 to 9 already."""
    return _eight(words & _MASKS[width])


def closed_up(words: Words, whole: int, part: int) -> Words:
    """The number that the digits before and after a point spell together; all of it is within the word."""
    before = words & (_MASKS[whole + 1 + part] ^ _MASKS[1 + part])
    before <<= np.uint64(8)
    before |= words & _MASKS[part]
    return _eight(before)


def _eight(word: Words) -> Words:
    """Eight digits to one number: neighbours are joined to pairs, pairs to fours, fours to eight."""
    word *= np.uint64(2561)
    word >>= np.uint64(8)
    word &= np.uint64(0x00FF00FF00FF00FF)
    word *= np.uint64(6553601)
    word >>= np.uint64(16)
    word &= np.uint64(0x0000FFFF0000FFFF)
    word *= np.uint64(42949672960001)
    word >>= np.uint64(32)
    return word


def tens_power(values: Floats, powers: Places) -> Floats:
    """Integers times ten to a power of at most `WIDEST` either way: one operation, hence exactly rounded."""
    scale = _POWERS.take(np.abs(powers), mode="clip")
    result: Floats = np.where(powers < 0, values / scale, values * scale)
    return result


def decimals(whole: Words, part: Words | None, places: Places, powers: Places | None = None) -> tuple[Floats, Truths]:
    """`whole.part` times ten to the power, where `part` has so many `places`; and which of them are exact.

    What is not exact has more digits than can be told apart here, and belongs to `float`.
    """
    if powers is None and int(whole.max(initial=0)) < 10**7 and int(places.max(initial=0)) <= 8:
        # At most fifteen digits: both sides of the division are exact, so its result is the nearest double.
        short = whole if part is None else whole * _TENS.take(places) + part
        quotient: Floats = short.view(np.int64) / _POWERS.take(places)
        return quotient, np.ones(len(whole), dtype=np.bool_)
    shift = -places if powers is None else powers - places
    fits = whole < _TENS.take(np.clip(_MOST - places, 0, _MOST))
    mantissa = whole
    if part is not None:
        # Many places are no harm where they begin with noughts: 0.0003174296321763842.
        fits |= (whole == 0) & (places <= WIDEST)
        fits &= part < _TOO_MUCH
        mantissa = whole * _TENS.take(places, mode="clip") + part
    fits &= np.abs(shift) <= WIDEST
    scale = _POWERS.take(np.abs(shift), mode="clip")
    down = shift <= 0
    long = mantissa >= _EXACT
    many = int(np.count_nonzero(long))
    if many * 2 > len(long):
        result, sure = _long_division(mantissa, scale)
        return result, fits & down & sure
    # An integer below 2**63 becomes a double fastest by way of the signed type.
    value: Floats = mantissa.view(np.int64).astype(np.float64)
    result = value / scale if bool(down.all()) else np.where(down, value / scale, value * scale)
    if many:
        picked = np.flatnonzero(long)
        result[picked], sure = _long_division(mantissa[picked], scale[picked])
        fits[picked] &= sure & down[picked]
    return result, fits


def _long_division(mantissa: Words, scale: Floats) -> tuple[Floats, Truths]:
    """The quotient of integers that a double cannot hold, and where it is certainly the nearest double.

    The first quotient is corrected by its exact remainder. The sum of both is known to some 100 bits; only where
    they lie within a hair of the middle between two doubles is its rounding open.
    """
    high: Floats = mantissa.view(np.int64).astype(np.float64)
    low: Floats = (mantissa.view(np.int64) - high.astype(np.int64)).astype(np.float64)
    first = high / scale
    product, error = _product(first, scale)
    rest: Floats = (((high - product) - error) + low) / scale
    total: Floats = first + rest
    left = np.abs(rest - (total - first))
    half = np.spacing(total) / 2
    # Below a power of two the doubles stand twice as close: a quarter of the spacing is a middle as well.
    sure = (np.abs(left - half) > half * 1e-9) & (np.abs(left - half / 2) > half * 1e-9)
    return total, sure


def _product(a: Floats, b: Floats) -> tuple[Floats, Floats]:
    """A product, and what its rounding lost, exactly."""
    product: Floats = a * b
    a_high, a_low = _halves(a)
    b_high, b_low = _halves(b)
    error: Floats = ((a_high * b_high - product) + a_high * b_low + a_low * b_high) + a_low * b_low
    return product, error


def _halves(a: Floats) -> tuple[Floats, Floats]:
    big: Floats = a * _SPLITTER
    high: Floats = big - (big - a)
    return high, a - high


def line_feeds(data: bytes) -> int:
    """How many line feeds there are."""
    return int(np.count_nonzero(np.frombuffer(data, dtype=np.uint8) == 10))
