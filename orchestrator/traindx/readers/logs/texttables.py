"""Tables drawn into a log: boxes with a metric on each line, and rows of numbers under a row of names.

What they say stands on several lines, so they are taken out of the text before its lines are read one by one.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field

from traindx.readers.series.columns import Columns
from traindx.readers.tables.record import Records, number
from traindx.vocabulary.metrics import normalise

_SIGNS = (b"\n|", "│".encode(), "┃".encode(), b"poch  ", b"poch\t", b"step  ", b"Class  ")
_HEAD = 16 << 10
_FIRST_BLOCKS = 3
"""blocks that are searched for tables: a run that draws them does so from the start"""
_RULE = re.compile(r"\s{0,40}[-+=]{8,}\s*$")
# Stable-Baselines3: `|    ep_rew_mean     | 21.3     |` under `| rollout/           |          |`.
_BOX_ROW = re.compile(r"\s{0,40}\|\s(\s{0,8}[^|\s][^|]{0,80}?)\s*\|\s*([^|]{0,80}?)\s*\|\s*$")
_NAME = re.compile(r"[A-Za-z][\w.%/-]{0,40}$")
_BAR_NAME = re.compile(r"[A-Za-z|][\w .%/()@|-]{0,40}$")
_INNER_BARS = re.compile(r"\s+\|\s+")
_COUNT = re.compile(r"(\d{1,9})(?:/\d{1,9})?$")
_COUNTERS = {"epoch", "step", "iter", "iteration"}
_MOST_ROWS = 200
_FORGOTTEN = 50
"""lines after which a row of names says nothing any more"""
_INSIDE_BRACKETS = re.compile(r"\w{1,20}\(")


@dataclass
class _Box:
    """A box that is being read."""

    cells: list[tuple[str, str, int]] = field(default_factory=list)
    group: str = ""
    places: list[int] = field(default_factory=list)


@dataclass
class _Heading:
    """A row of names, and how long ago it was."""

    names: list[str]
    validation: bool = False
    age: int = 0


class TextTables:
    """Takes the tables out of a log, block by block."""

    def __init__(self, columns: Columns) -> None:
        self._records = Records(columns)
        self._blocks = 0
        self._seen = False
        self._box: _Box | None = None
        self._heading: _Heading | None = None
        self._epoch = ""
        self._piped: list[str] = []
        self.rows = 0
        """records that were taken out so far"""

    def take(self, first: int, data: bytes) -> bytes:
        """The block without its tables; their lines stay, empty."""
        self._blocks += 1
        if not self._seen and (self._blocks > _FIRST_BLOCKS or not _shows_table(data)):
            return data
        lines = data.split(b"\n")
        taken: list[int] = []
        for place, raw in enumerate(lines):
            if raw and self._line(first + place, raw.decode(errors="replace")):
                taken.append(place)
                self._seen = True
        for place in taken:
            lines[place] = b""
        return b"\n".join(lines) if taken else data

    def _record(self, cells: Iterable[tuple[str, str, int]]) -> None:
        self.rows += 1
        self._records.row(cells)

    def _line(self, line_number: int, line: str) -> bool:
        """Whether a line is part of a table; then it is read."""
        if len(line) > 2_000:
            return False
        if _RULE.match(line):
            return self._rule()
        if self._box is not None and self._box_row(line_number, line):
            return True
        self._box = None
        shown = line.rsplit("\r", 1)[-1]
        if (cells := _between_bars(shown)) is not None:
            return self._piped_row(line_number, cells)
        heading = _heading(shown)
        if heading is not None:
            self._heading = heading
            return False
        return self._heading is not None and self._row(self._heading, line_number, line)

    def _piped_row(self, line_number: int, cells: list[str]) -> bool:
        """A row of a table with bars, as Markdown and rich draw it: names first, then numbers under them."""
        if len(cells) == len(self._piped) and number(cells[0]) is not None:
            self._record((name, cell, line_number) for name, cell in zip(self._piped, cells, strict=True))
            return True
        named = all(_BAR_NAME.match(cell) for cell in cells)
        kinds = {normalise(cell).kind for cell in cells} if named else set()
        if kinds & {"loss", "accuracy", "score", "phase"} or any("loss" in cell.lower() for cell in cells if named):
            self._piped = cells
            return True
        return False

    def _rule(self) -> bool:
        box, self._box = self._box, _Box()
        if box is None or not box.cells:
            return False
        self._record(box.cells)
        self._box = None
        return True

    def _box_row(self, line_number: int, line: str) -> bool:
        box = self._box
        found = _BOX_ROW.match(line)
        if found is None or box is None or len(box.cells) >= _MOST_ROWS:
            return False
        name, value = found[1].strip(), found[2]
        if not value:
            box.group = name if name.endswith("/") else ""
        elif normalise(name).kind in {"epoch", "step"}:
            box.cells.append((name, value, line_number))
        else:
            box.cells.append((f"{box.group}{name}", value, line_number))
        return True

    def _row(self, heading: _Heading, line_number: int, line: str) -> bool:
        for part in reversed(line.split("\r")):
            words = part.split()
            cells = _validation(heading, words, self._epoch) if heading.validation else _cells(heading, words)
            if cells:
                self._epoch = cells[0][1] if normalise(cells[0][0]).kind == "epoch" else self._epoch
                self._record((name, text, line_number) for name, text in cells)
                heading.age = 0
                return True
        heading.age += 1
        if heading.age > _FORGOTTEN:
            self._heading = None
        return False


def _shows_table(data: bytes) -> bool:
    if any(sign in data for sign in _SIGNS):
        return True
    lines = [line.strip().decode(errors="replace") for line in data[:_HEAD].split(b"\n")]
    return any(_heading(line) is not None or (" | " in line and _all_names(_INNER_BARS.split(line))) for line in lines)


def _between_bars(line: str) -> list[str] | None:
    """The cells of `| a | b |`, also with the bars that box drawings have; None for a line that is none."""
    plain = line.strip()
    bar = plain[:1]
    inner = _INNER_BARS.split(plain) if " | " in plain else []
    if len(inner) > 2 and bar not in "|│┃" and (_all_names(inner) or all(number(cell) is not None for cell in inner)):
        return inner
    if len(plain) < 5 or bar not in "|│┃" or plain[-1] != bar or plain.count(bar) < 3:
        return None
    return [cell.strip() for cell in plain[1:-1].split(bar)]


def _all_names(cells: list[str]) -> bool:
    """Whether cells are names alone: `loss`, not `loss 0.3`."""
    return all(_BAR_NAME.match(cell) and not any(word[0].isdigit() for word in cell.split()) for cell in cells)


def _heading(line: str) -> _Heading | None:
    words = line.split()
    if len(words) < 3 or len(words) > 60:
        return None
    if words[0] == "Class" and words[1] == "Images":  # Ultralytics: `Box(P  R  mAP50  mAP50-95):`
        names = _INSIDE_BRACKETS.sub("", line.partition("):")[0]).split()
        return _Heading(names, validation=True)
    if words[0].lower() not in _COUNTERS or not all(_NAME.match(word) for word in words):
        return None
    kinds = {normalise(word).kind for word in words[1:]}
    return _Heading(words) if kinds & {"loss", "accuracy", "score", "rate"} else None


def _cells(heading: _Heading, words: list[str]) -> list[tuple[str, str]]:
    """The cells of a row under a heading; nothing if it is none."""
    if len(words) < len(heading.names):
        return []
    counted = _COUNT.match(words[0])
    cells = [(name, word.rstrip(":")) for name, word in zip(heading.names[1:], words[1:], strict=False)]
    told = [cell for cell in cells if number(cell[1]) is not None]
    if counted is None or len(told) * 2 < len(cells):
        return []
    return [(heading.names[0], counted[1]), *told]


def _validation(heading: _Heading, words: list[str], epoch: str) -> list[tuple[str, str]]:
    if len(words) != len(heading.names) or words[0] != "all":
        return []
    cells = [(f"val/{name}", word) for name, word in zip(heading.names[3:], words[3:], strict=True)]
    return [("epoch", epoch), *cells] if epoch else cells
