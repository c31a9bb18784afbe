"""Numbers in words: reading them out of a claim, and finding those that nothing bears out."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass

# Not inside a word, a path, a version or a name such as `ResNet-50`. Commas belong to a number where all of it is in
# groups of three, as in `1,234,567`; else they separate, as in a row of a table.
_THOUSANDS = r"(?<!\d,)\d{1,3}(?:,\d{3})+(?![\d_]|,\d)(?:\.\d+(?!,\d))?"
_WRITTEN = re.compile(
    rf"(?<![\w./\\-])(?P<number>[-+]?(?:{_THOUSANDS}|\d[\d_]*(?:\.\d+)?|\.\d+)(?:[eE][-+]?\d+)?)"
    r"(?P<unit>\s?%|\s?[x\u00d7](?!\w))?(?![\w/]|\.\d|-\w)"
)
_PLACE = re.compile(
    r"\b(?P<axis>epoch|step|iteration|iter|row|line|rank|layer|stage|version|seed)s?\s*[#=:]?\s*$", re.I
)
_COUNTED = re.compile(r"\s+(?:[a-z]+\s)?[a-z]{2,}s\b")
AXES = {"epoch": "epoch", "step": "step", "iteration": "step", "iter": "step", "row": "row", "line": "line"}
NOT_CHECKED = frozenset({"rank", "layer", "stage", "version", "seed"})
SMALL = 20
MOST_KNOWN = 60


@dataclass(frozen=True)
class Written:
    """A number as someone wrote it: `axis` where it names a place, `unit` where it is a percentage or a factor."""

    text: str
    value: float
    digits: int
    unit: str = ""
    axis: str = ""
    counts: bool = False
    start: int = 0
    end: int = 0

    @property
    def significant(self) -> int:
        """How many digits it was written with, leading zeros aside."""
        return len(re.sub(r"[^\d]", "", self.text.lower().partition("e")[0]).lstrip("0"))


def written_numbers(text: str) -> list[Written]:
    """Every number in a text, with what its neighbours say about it."""
    found = []
    for match in _WRITTEN.finditer(text):
        raw = match.group("number")
        try:
            value = float(raw.replace(",", "").replace("_", ""))
        except ValueError:
            continue
        before = _PLACE.search(text[max(0, match.start() - 20) : match.start()])
        axis = before.group("axis").lower() if before else ""
        whole = value == int(value) if math.isfinite(value) and abs(value) < 1e15 else False
        counts = whole and 0 <= value <= SMALL and bool(_COUNTED.match(text[match.end() : match.end() + 40]))
        digits = len(raw.split("e")[0].split("E")[0].partition(".")[2]) if "e" not in raw.lower() else -1
        unit = (match.group("unit") or "").strip()
        found.append(Written(raw, value, digits, unit, axis, counts, *match.span("number")))
    return found


def values_in(text: str) -> list[float]:
    """The numbers of a text, as numbers."""
    return [number.value for number in written_numbers(text)]


def readings_of(text: str) -> list[float]:
    """The numbers of a text that may be a row of a table: `1,234` is one number, or two."""
    return [*values_in(text), *values_in(spaced(text))]


def spaced(text: str) -> str:
    """A row of a table, or a shape, with its numbers apart."""
    return re.sub(r"[,;|\t()\[\]{}:=]", " ", text)


@dataclass(frozen=True)
class Known:
    """Numbers that bear a claim out: those at the cited place, those nearby or measured, and curves to compare on."""

    here: Sequence[float] = ()
    near: Sequence[float] = ()
    curves: Sequence[Sequence[float]] = ()


def strays(claim: str, known: Known) -> list[str]:
    """The numbers of a claim that nothing bears out.

    One of them at least must stand at the cited place; the others may stand nearby, have been measured by a tool, or
    follow as a percentage or a factor from two values of one curve. Epochs, steps and lines are left out here.
    """
    checked = [
        number
        for number in written_numbers(claim)
        if number.axis not in AXES and number.axis not in NOT_CHECKED and not number.counts
    ]
    lost = [number for number in checked if not _borne_out(number, known)]
    if not lost and checked and not any(_at_hand(number, known) for number in checked):
        lost = checked
    return [f"{number.text}{number.unit}" for number in lost]


def _at_hand(number: Written, known: Known) -> bool:
    return any(same(number, value) for value in known.here) or (bool(number.unit) and _follows(number, known))


def _borne_out(number: Written, known: Known) -> bool:
    return _at_hand(number, known) or any(same(number, value) for value in known.near)


def named_places(claim: str) -> list[tuple[str, float]]:
    """The epochs, steps, rows and lines that a claim names."""
    return [(AXES[number.axis], number.value) for number in written_numbers(claim) if number.axis in AXES]


def same(number: Written, value: float) -> bool:
    """Equal up to the digits that were written, where there are enough of them to tell."""
    if math.isclose(abs(number.value), abs(value), rel_tol=5e-3):
        return True
    if number.unit == "%":
        return math.isclose(number.value, 100 * value, rel_tol=1e-2)
    significant = len(number.text.lstrip("+-0.").replace(".", "").replace(",", ""))
    return number.digits > 0 and significant > 1 and abs(number.value - value) <= 0.5000001 * 10.0**-number.digits


def _follows(number: Written, known: Known) -> bool:
    """Whether a percentage or a factor is one value of a curve over another."""
    for curve in (*known.curves, known.here):
        base = [value for value in dict.fromkeys(curve) if math.isfinite(value)][:MOST_KNOWN]
        for over in base:
            for under in base:
                if under in {0, over}:
                    continue
                ratio = over / under
                shown = (100 * ratio, 100 * abs(ratio - 1)) if number.unit == "%" else (ratio,)
                if any(_rounded(number, abs(one)) for one in shown):
                    return True
    return False


def _rounded(number: Written, value: float) -> bool:
    return math.isclose(abs(number.value), value, rel_tol=1.5e-2) or abs(
        abs(number.value) - value
    ) <= 0.5 * 10.0 ** -max(0, number.digits) * (number.unit != "%" and value < 20)
