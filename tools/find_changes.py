"""What changed where the loss broke: announced in the log, visible in a table, or planned in the configuration."""

import csv
import json
import re
from dataclasses import dataclass

import numpy as np

from traindx.contract import Citation, Fact, Signal, Value
from traindx.detectors.citing import cite, where
from traindx.detectors.curves.breaks import relearned_from
from traindx.detectors.curves.objective import Objective, objective, words_of
from traindx.detectors.settings.lookup import cite_setting, is_number
from traindx.readers import Run, Series
from traindx.runtime import NoData, ToolInput, ToolOutput, tool

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
STAYS_UP = 2.0
"""times its former level that a curve must keep after a jump, for the jump to be more than a spike"""
MOST_LINES = 400
LONGEST = 240


class Input(ToolInput):
    """Nothing to choose: the lines around the break of the main loss are looked at."""


class Change(Value):
    """Something that changed between the last good point and the first bad one."""

    what: str
    source: str
    line: int
    text: str


class ChangeReport(ToolOutput):
    """Where the loss broke, and everything that changed there."""

    onset: str
    changes: list[Change]


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
        "the learning rate was set anew",
        r"\b(?:set|chang|rais|increas|restart|reset|switch)\w*\b.{0,30}\b(?:lr|learning rate)\b"
        r"|\b(?:lr|learning rate)\b.{0,30}(?:->|=>|→|raised|increased|restart)",
        r"milestone|restart|cycle",
    ),
    _kind(
        "data-changed-at-onset",
        "the data changed",
        r"\b(?:stage|phase|curriculum|level|task)\b.{0,40}(?:->|=>|→|\d|start|begin|enter|switch|next|now)"
        r"|\b(?:switch|chang|load|next|new|enter|start)\w*\b.{0,30}"
        r"\b(?:data ?set|shard|corpus|domain|stage|curriculum|split)\b"
        r"|\b(?:read|open|load|us|stream)\w*\b.{0,80}\.(?:parquet|[ct]sv|jsonl?|np[yz]|tfrecord|tar|bin|h5|arrow|txt)\b",
        r"stage|phase|curriculum|data ?set|shard|domain|corpus|task|source|difficulty",
    ),
)


@tool(needs=["series"], emits={kind.signal: f"{kind.what} where the loss broke" for kind in KINDS})
def find_changes(given: Input, run: Run) -> ChangeReport:  # noqa: ARG001 - every tool takes its input
    """Look between the last good and the first bad value of the loss for what changed there: announcements in the log,
    a column of the table that switches, a setting whose value is that very epoch.
    """
    goal = objective(run)
    onset = None if goal is None else goal.shape.broke
    if goal is not None and onset is None:
        onset = relearned_from(goal) or _jump(goal)
    spike = None if goal is None or onset is not None else goal.shape.peak_index
    if goal is not None and spike:
        onset = spike
    if goal is None or not onset:
        raise NoData("the loss has no break to look around")
    loss = goal.series
    found = _shifted_inputs(run, loss, onset)
    if not spike:
        found += [*_announced(run, loss, onset), *_switched(run, loss, onset), *_planned(run, loss, onset)]
    by_signal: dict[str, list[tuple[Kind, Citation]]] = {}
    for kind, place in found:
        by_signal.setdefault(kind.signal, []).append((kind, place))
    at = where(loss, onset)
    return ChangeReport(
        onset=at,
        changes=[
            Change(what=kind.what, source=place.source, line=_line(place), text=place.quote) for kind, place in found
        ],
        signals=[_signal(rows, at) for rows in by_signal.values()],
    )


def _jump(goal: Objective) -> int | None:
    """Where a curve jumps that comes down again, but not to where it was: the point before which all was well."""
    top = goal.shape.peak_index
    if top is None or top < FEWEST:
        return None
    before = goal.costs[max(0, top - 20) : top]
    low = float(np.nanmedian(before))
    if not 0 < STAYS_UP * low < goal.shape.end or not goal.costs[top] > 3 * low:
        return None
    risen = np.flatnonzero(before > 2 * low)
    first = len(before) - 1 if not len(risen) else int(risen[0])
    late = top - len(before) + first
    return late if len(risen) else top


def _signal(rows: list[tuple[Kind, Citation]], at: str) -> Signal:
    kind, place = rows[0]
    facts: dict[str, Fact] = {"onset": at, "change": place.quote, "change_place": f"{place.source}:{_line(place)}"}
    claim = f"{kind.what} at {at}: {place.quote}"
    return Signal(id=kind.signal, claim=claim, citations=[place for _, place in rows[:3]], facts=facts)


def _line(place: Citation) -> int:
    return int(place.locator.removeprefix("line ").split(",")[0])


def _announced(run: Run, loss: Series, onset: int) -> list[tuple[Kind, Citation]]:
    """Lines of the same log between the two values that are not measurements themselves."""
    first, last = int(loss.lines[onset - 1]), int(loss.lines[onset])
    if loss.place != "line" or last <= first + 1:
        return []
    measured = {
        int(line) for row in run.series if row.source == loss.source for line in row.lines[max(0, onset - 50) :]
    }
    found = []
    start = max(first + 1, last - MOST_LINES)
    for number, text in enumerate(run.lines(loss.source, start, last - 1), start):
        kind = None if number in measured else next((kind for kind in KINDS if kind.words.search(text[:LONGEST])), None)
        if kind is not None:
            place = Citation(
                claim=f"{kind.what} here", source=loss.source, locator=f"line {number}", quote=text.strip()[:LONGEST]
            )
            found.append((kind, place))
    return found


def _switched(run: Run, loss: Series, onset: int) -> list[tuple[Kind, Citation]]:
    """Cells of a row whose value held until the break and is another one from there on."""
    earlier, before, after = (int(loss.lines[max(0, onset - back)]) for back in (2, 1, 0))
    if loss.place != "line":
        return []
    rows = [run.lines(loss.source, line, line) for line in (1, earlier, before, after)]
    if not all(rows):
        return []
    first, older, old, new = (row[0] for row in rows)
    held, was, now = (_cells(first, row) for row in (older, old, new))
    if not was or was.keys() != now.keys():
        return _another_file(loss, after, old, new)
    found = []
    for name in now:
        kind = next((kind for kind in KINDS if kind.names.search(name)), None)
        # What changes from row to row is a measurement: a switch leaves a value that held.
        if kind is not None and was[name] != now[name] and held.get(name) == was[name]:
            claim = f"`{name}` changes from {was[name]} to {now[name]}"
            place = Citation(claim=claim, source=loss.source, locator=f"line {after}", quote=new.strip()[:LONGEST])
            found.append((kind, place))
    return found or _another_file(loss, after, old, new)


def _cells(first: str, line: str) -> dict[str, str]:
    """The named cells of a row: of a JSON object, of a table whose head is the first line, or `name=value` in a log."""
    if line.lstrip().startswith("{"):
        try:
            read = json.loads(line)
        except (ValueError, RecursionError):
            return {}
        return {str(name): str(value) for name, value in read.items()} if isinstance(read, dict) else {}
    separator = max("\t;,|", key=first.count)
    header, cells = (next(csv.reader([text], delimiter=separator), []) for text in (first, line))
    if len(header) == len(cells) > 1 and all(_NAME.fullmatch(name) for name in header):
        return {name.strip(): cell.strip() for name, cell in zip(header, cells, strict=True)}
    return {name.lower(): value for name, value in _NAMED_VALUE.findall(line[:LONGEST])}


def _another_file(loss: Series, line: int, old: str, new: str) -> list[tuple[Kind, Citation]]:
    """A line of a log that names another data file than the one before."""
    was, now = _DATA_FILE.findall(old[:LONGEST]), _DATA_FILE.findall(new[:LONGEST])
    if not was or not now or was == now:
        return []
    kind = next(kind for kind in KINDS if kind.signal == "data-changed-at-onset")
    claim = f"the data come from `{now[0]}`, and came from `{was[0]}` before"
    return [(kind, Citation(claim=claim, source=loss.source, locator=f"line {line}", quote=new.strip()[:LONGEST]))]


def _shifted_inputs(run: Run, loss: Series, onset: int) -> list[tuple[Kind, Citation]]:
    """Statistics of the inputs that go to another level where the loss breaks, and stay there."""
    kind = next(kind for kind in KINDS if kind.signal == "data-changed-at-onset")
    found = []
    for row in run.series:
        if row.source != loss.source or len(row) != len(loss) or not words_of(row) & _INPUTS:
            continue
        before, after = row.values[max(0, onset - 10) : onset], row.values[onset : onset + 10]
        if min(len(before), len(after)) < FEWEST or not np.isfinite([*before, *after]).all():
            continue
        scatter = max(float(np.std(before)), float(np.std(after)), 1e-12)
        change = abs(float(np.median(after) - np.median(before)))
        if change > APART * scatter and abs(float(after[0] - np.median(before))) > 0.5 * change:
            levels = f"from {np.median(before):.4g} to {np.median(after):.4g}"
            found.append((kind, cite(run, row, onset, f"`{row.original}` goes {levels} and stays there")))
    return found


def _planned(run: Run, loss: Series, onset: int) -> list[tuple[Kind, Citation]]:
    """Settings whose name speaks of a change and whose value is the very epoch or step of the break."""
    position = float(loss.at[onset])
    found = []
    for setting in run.settings:
        if not is_number(setting) or float(setting.value) != position or position < 2:
            continue
        kind = next((kind for kind in KINDS if kind.names.search(setting.key)), None)
        if kind is not None:
            found.append((kind, cite_setting(run, setting, f"`{setting.key}` puts a change at {where(loss, onset)}")))
    return found
