"""What changed where the loss broke: announced in the log, visible in a table, or planned in the configuration."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from traindx.contract import Citation, Fact, Signal
from traindx.detectors.citing import cite, cite_line, cite_setting, where
from traindx.detectors.curves.objective import words_of
from traindx.detectors.settings.lookup import is_number
from traindx.readers.model import Excerpt, Series, Setting, Stretch
from traindx.readers.quoting import LONGEST_QUOTE, quote_of

_NAME = re.compile(r"[^=:]{0,60}")
"""what the head of a column looks like; the first line of a log does not"""
_DATA_FILE = re.compile(
    r"[\w-]+\.(?:parquet|pq|[ct]sv|jsonl|np[yz]|tfrecord|tar|bin|h5|arrow)\b|\bshard[-_ ]?\d+", re.I
)
_NAMED_VALUE = re.compile(r"([A-Za-z]\w{1,30})\s{0,2}[=:]\s{0,2}([^\s,;|=]{1,80})")
_INPUTS = {"feat", "feature", "features", "input", "inputs", "data", "pixel", "pixels", "img", "image", "src", "seqlen"}
APART = 6.0
"""scatters between two levels that are not the same"""
FEWEST = 5
MOST_LINES = 400


@dataclass(frozen=True)
class Kind:
    """A kind of change: the words that announce it in a log, and the names of columns and settings that carry it."""

    signal: str
    what: str
    words: re.Pattern[str]
    names: re.Pattern[str]


def _kind(signal: str, what: str, words: str, names: str) -> Kind:
    return Kind(signal, what, re.compile(words, re.IGNORECASE), re.compile(names, re.IGNORECASE))


KINDS = (
    _kind(
        "resumed-at-onset",
        "the run was resumed",
        r"\bresum(?:e|ed|ing)\b|\brequeued\b|\bcontinuing (?:at|from)\b"
        r"|\bload(?:ed|ing) (?:the )?(?:checkpoint|state|weights)\b|\brestor(?:ed|ing) (?:from|checkpoint)",
        r"resume",
    ),
    _kind(
        "optimizer-changed-at-onset",
        "the optimizer or its settings changed",
        r"\b(?:switch|chang|replac|new|set)\w*\b.{0,30}\boptimi[sz]er|\boptimi[sz]er\b.{0,30}(?:->|=>|→|switch|chang|now)"
        r"|\b(?:unfreez|unfroz)\w*",
        r"optim|unfreeze|switch",
    ),
    _kind(
        "lr-announced-at-onset",
        "the learning rate was changed",
        r"\b(?:set|chang|rais|increas|restart|reset|switch)\w*\b.{0,30}\b(?:lr|learning rate)\b"
        r"|\b(?:lr|learning rate)\b.{0,30}(?:->|=>|→|raised|increased|restart)",
        r"milestone|restart|cycle",
    ),
    _kind(
        "data-changed-at-onset",
        "the data changed",
        r"\b(?:stage|phase|curriculum|level|task)\b.{0,40}(?:->|=>|→|\d|start|begin|enter|switch|next|now)"
        r"|\b(?:switch|chang|load|next|new|enter|start|mov|advanc|proceed)\w*\b.{0,30}"
        r"\b(?:data ?sets?|shards?|corpus|domain|stage|curriculum|split|blend|mixture|source|bucket|subset"
        r"|partition|part)\b"
        r"|\b(?:read|open|load|us|stream)\w*\b.{0,80}\.(?:parquet|[ct]sv|jsonl?|np[yz]|tfrecord|tar|bin|h5|arrow|txt)\b",
        r"stage|phase|curriculum|data ?set|shard|domain|corpus|task|source|difficulty",
    ),
)
SIGNALS = {kind.signal: f"{kind.what} where the loss broke" for kind in KINDS}
Found = tuple[Kind, Citation]
"""a change, and where it shows"""


def signals(found: Sequence[Found], at: str) -> list[Signal]:
    """One signal for each kind of change; their citations must hold their quotes, which are part of the claims."""
    by_signal: dict[str, list[Found]] = {}
    for kind, place in found:
        by_signal.setdefault(kind.signal, []).append((kind, place))
    return [_signal(rows, at) for rows in by_signal.values()]


def _signal(rows: Sequence[Found], at: str) -> Signal:
    kind, place = rows[0]
    facts: dict[str, Fact] = {"onset": at, "change": place.quote, "change_place": f"{place.source}:{line_of(place)}"}
    claim = f"{kind.what} at {at}: {place.quote}"
    return Signal(id=kind.signal, claim=claim, citations=[place for _, place in rows[:3]], facts=facts)


def line_of(place: Citation) -> int:
    """The line that a citation names."""
    return int(place.locator.removeprefix("line ").split(",")[0])


def lines_before(loss: Series, onset: int) -> Stretch | None:
    """The lines of the log between the last good value and the first bad one; None where there are none."""
    first, last = int(loss.lines[onset - 1]), int(loss.lines[onset])
    if loss.place != "line" or last <= first + 1:
        return None
    return Stretch(loss.source, max(first + 1, last - MOST_LINES), last - 1)


def announced(loss: Series, onset: int, series: Sequence[Series], between: Excerpt) -> list[Found]:
    """Lines of `lines_before` that are not measurements themselves and speak of a change."""
    measured = {int(line) for row in series if row.source == loss.source for line in row.lines[max(0, onset - 50) :]}
    found = []
    for number, text in between.numbered():
        kind = (
            None
            if number in measured
            else next((kind for kind in KINDS if kind.words.search(text[:LONGEST_QUOTE])), None)
        )
        if kind is not None:
            found.append((kind, cite_line(loss.source, number, f"{kind.what} here", quote_of(text))))
    return found


def rows_around(loss: Series, onset: int) -> list[Stretch]:
    """The first line of the file, and those of the two values before the break and of the break itself."""
    if loss.place != "line":
        return []
    lines = [1, *(int(loss.lines[max(0, onset - back)]) for back in (2, 1, 0))]
    return [Stretch(loss.source, line, line) for line in lines]


def switched(loss: Series, around: Sequence[Excerpt]) -> list[Found]:
    """Cells of a row whose value held until the break and is another one from there on; `around` by `rows_around`."""
    if not around or not all(row.lines for row in around):
        return []
    first, older, old, new = (row.lines[0] for row in around)
    after = around[-1].first
    held, was, now = (_cells(first, row) for row in (older, old, new))
    if not was or was.keys() != now.keys():
        return _another_file(loss, after, old, new)
    found = []
    for name in now:
        kind = next((kind for kind in KINDS if kind.names.search(name)), None)
        # What changes from row to row is a measurement: a switch leaves a value that held.
        if kind is not None and was[name] != now[name] and held.get(name) == was[name]:
            claim = f"`{name}` changes from {was[name]} to {now[name]}"
            found.append((kind, cite_line(loss.source, after, claim, quote_of(new))))
    return found or _another_file(loss, after, old, new)


def _cells(first: str, line: str) -> dict[str, str]:
    """The named cells of a row: of a JSON object, of a table whose head is the first line, or `name=value` in a log."""
    if line.lstrip().startswith("{"):
        try:
            read = json.loads(line)
        except (ValueError, RecursionError):
            return {}
        return {str(name): str(value) for name, value in read.items()} if isinstance(read, dict) else {}
    # A progress bar writes over itself: what counts is how it stood at last.
    first, line = (text.rstrip("\r").rpartition("\r")[2] for text in (first, line))
    separator = max("\t;,|", key=first.count)
    header, cells = (next(csv.reader([text], delimiter=separator), []) for text in (first, line))
    if len(header) == len(cells) > 1 and all(_NAME.fullmatch(name) for name in header):
        return {name.strip(): cell.strip() for name, cell in zip(header, cells, strict=True)}
    return {name.lower(): value for name, value in _NAMED_VALUE.findall(line[:LONGEST_QUOTE])}


def _another_file(loss: Series, line: int, old: str, new: str) -> list[Found]:
    """A line of a log that names another data file than the one before."""
    was, now = _DATA_FILE.findall(old[:LONGEST_QUOTE]), _DATA_FILE.findall(new[:LONGEST_QUOTE])
    if not was or not now or was == now:
        return []
    kind = next(kind for kind in KINDS if kind.signal == "data-changed-at-onset")
    claim = f"the data comes from `{now[0]}`, and came from `{was[0]}` before"
    return [(kind, cite_line(loss.source, line, claim, quote_of(new)))]


def shifted_inputs(loss: Series, onset: int, series: Sequence[Series]) -> list[Found]:
    """Statistics of the inputs that go to another level where the loss breaks, and stay there."""
    kind = next(kind for kind in KINDS if kind.signal == "data-changed-at-onset")
    found = []
    for row in series:
        if row.source != loss.source or len(row) != len(loss) or not words_of(row) & _INPUTS:
            continue
        before, after = row.values[max(0, onset - 10) : onset], row.values[onset : onset + 10]
        if min(len(before), len(after)) < FEWEST or not np.isfinite([*before, *after]).all():
            continue
        scatter = max(float(np.std(before)), float(np.std(after)), 1e-12)
        change = abs(float(np.median(after) - np.median(before)))
        if change > APART * scatter and abs(float(after[0] - np.median(before))) > 0.5 * change:
            levels = f"from {np.median(before):.4g} to {np.median(after):.4g}"
            found.append((kind, cite(row, onset, f"`{row.original}` goes {levels} and stays there")))
    return found


def planned(loss: Series, onset: int, settings: Sequence[Setting]) -> list[Found]:
    """Settings whose name speaks of a change and whose value is the very epoch or step of the break."""
    position = float(loss.at[onset])
    found = []
    for setting in settings:
        if not is_number(setting) or float(setting.value) != position or position < 2:
            continue
        kind = next((kind for kind in KINDS if kind.names.search(setting.key)), None)
        if kind is not None:
            found.append((kind, cite_setting(setting, f"`{setting.key}` sets a change at {where(loss, onset)}")))
    return found
