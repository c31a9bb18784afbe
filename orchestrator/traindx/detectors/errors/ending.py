"""How a log ends that tells of no error: it stops in the middle, or after a silence that no step takes."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from traindx.contract import Fact, Signal
from traindx.detectors.citing import cite, cite_line, where
from traindx.detectors.curves.completion import FINISHED
from traindx.detectors.curves.objective import Objective
from traindx.detectors.errors import watched
from traindx.detectors.errors.watched import BEATS, Beside, seconds_of, span_text
from traindx.readers.model import Excerpt, LogError, Setting, Stretch
from traindx.vocabulary.error_texts import error_patterns
from traindx.vocabulary.settings import EPOCH_NAMES, STEP_NAMES

SIGNALS = {
    "log-stops": "the log ends with ordinary output: no error, and no word that the run is over",
    "stopped-short": "the log ends before the run had reached its planned length, without an error",
    "silence-before-end": "between the last progress and what ended the job lies far more time than a step takes",
    **watched.SIGNALS,
    "interrupted-while-waiting": "the run was interrupted while it waited for a queue, a lock or another process",
}
TAIL = 400
"""lines after the last value that are looked at"""
BEFORE = 4_000
"""lines before it, for the usual time between two values"""
SILENCE = 20.0
"""times the usual distance between two logged values"""
SHORTEST_SILENCE = 600.0
"""seconds below which a pause is no hang: checkpoints, evaluation and compilation take minutes"""
FEWEST_TIMES = 4
_TOTAL = re.compile(r"(?<![\d.:/-])(\d{1,12})\s?(?:/|of)\s?(\d{1,12})(?![\d.:/-])")
ENDINGS = frozenset({"error-time-limit", "error-interrupted", "error-preempted", "error-killed"})
"""families of errors with which a scheduler or a person ends a run"""
_LAST_LINES = 60
"""lines up to the last value in which its epoch is looked for"""
_WAITING = re.compile(
    r"(?:queues?|connection|selectors?|threading|popen_fork|synchronize|dataloader|socket|ssl|subprocess"
    r"|distributed_c10d|filelock|multiprocess\w*)\.py$"
)


@dataclass(frozen=True)
class Ending:
    """The last lines of a run: from the line of its last value on, as far as the file goes or `TAIL` lines."""

    lines: Excerpt
    before: Excerpt

    @property
    def after(self) -> list[tuple[int, str]]:
        """The lines after the last value that say something."""
        return [(number, text) for number, text in list(self.lines.numbered())[1:] if text.strip()]


def wanted_lines(goal: Objective) -> tuple[Stretch, Stretch] | None:
    """The line of the last value and those after it; the lines up to it."""
    last = len(goal) - 1
    if last < 0 or goal.series.place != "line":
        return None
    source, line = goal.series.source_at(last), int(goal.series.lines[last])
    return Stretch(source, line, line + TAIL), Stretch(source, max(1, line - BEFORE), line)


def detect(
    goal: Objective,
    ending: Ending,
    errors: Sequence[LogError],
    settings: Sequence[Setting],
    beside: Sequence[Beside] = (),
    lengths: Sequence[float] = (),
) -> list[Signal]:
    """What can be said of the end of a run that was under way; `lengths` are where the program's own loops end."""
    after = ending.after
    if any(FINISHED.search(text[:400]) for _, text in after):
        return []
    pace = _pace(goal, ending.before)
    silent = pace is not None and not _all_epochs_done(goal, ending.before)
    found = [_silence(goal, after, pace), _alive(goal, after, pace)] if pace is not None and silent else []
    if not any(row.kind == "error" for row in errors) and len(after) < BEATS:
        found += [_stopped(goal, ending, settings)] if not _ran_out(goal, lengths) else []
        if pace is not None and not any(found[:2]):
            found += [watched.detect(goal, pace.last, pace.shortest, span_text(pace.usual), beside)]
    return [one for one in found if one is not None]


def before_training(tail: Excerpt, errors: Sequence[LogError]) -> list[Signal]:
    """A log with no value in it that ends with ordinary output."""
    lines = [(number, text) for number, text in tail.numbered() if text.strip()]
    if not lines or any(row.kind == "error" for row in errors) or FINISHED.search(lines[-1][1][:400]):
        return []
    number, text = lines[-1]
    claim = "the log ends here, before the first step"
    facts: dict[str, Fact] = {"last_line": text.strip()[:160], "last_place": f"{tail.source}:{number}"}
    return [Signal(id="log-stops", claim=claim, citations=[cite_line(tail.source, number, claim)], facts=facts)]


def interrupted(errors: Sequence[LogError]) -> list[Signal]:
    """An interrupt whose innermost frames stand in a queue, a lock or a socket."""
    for row in errors:
        inner = [frame for frame, _ in row.frames[-4:]]
        waits = [frame for frame in inner if _WAITING.search(frame)]
        if "KeyboardInterrupt" in row.text and waits:
            claim = f"the run was interrupted while it waited in `{waits[-1].rsplit('/', 1)[-1]}`"
            place = cite_line(row.source, row.line, claim, row.text)
            facts: dict[str, Fact] = {"waited_in": waits[-1].rsplit("/", 1)[-1]}
            return [Signal(id="interrupted-while-waiting", claim=claim, citations=[place], facts=facts)]
    return []


def _stopped(goal: Objective, ending: Ending, settings: Sequence[Setting]) -> Signal | None:
    series, last = goal.series, len(goal) - 1
    if not np.isfinite(goal.costs[last]):
        return None
    plan = _planned(goal, "".join(ending.lines.lines[:1]), settings)
    at = float(series.at[last])
    if plan is not None and at >= 0.97 * plan:
        return None
    facts: dict[str, Fact] = {"last_at": where(series, last)}
    if plan is None:
        claim = f"the log ends at {where(series, last)} with no error and no word that the run is over"
        return Signal(id="log-stops", claim=claim, citations=[cite(series, last, "the last logged value")], facts=facts)
    facts["planned"] = f"{plan:.10g}"
    claim = f"the log ends at {where(series, last)} of {plan:.10g}, with no error"
    return Signal(id="stopped-short", claim=claim, citations=[cite(series, last, "the last logged value")], facts=facts)


def _all_epochs_done(goal: Objective, before: Excerpt) -> bool:
    """Whether the last lines count the last value's epoch as the last of all: `Epoch 10/10`."""
    at = float(goal.series.at[len(goal) - 1])
    counted = (pair for line in before.lines[-_LAST_LINES:] for pair in _TOTAL.findall(line[:400]))
    return goal.series.axis == "epoch" and any(done == total and abs(int(total) - at) <= 1 for done, total in counted)


def _ran_out(goal: Objective, lengths: Sequence[float]) -> bool:
    """Whether the last value is the last one that a loop of the program logs before its counter ends."""
    at = goal.series.at[: len(goal)].astype(float)
    every = float(np.median(np.diff(at))) if len(at) > 1 else 1.0
    return any(end - max(every, 1.0) <= at[-1] <= end for end in lengths)


def _planned(goal: Objective, line: str, settings: Sequence[Setting]) -> float | None:
    """The planned last step or epoch, as the last line counts towards it or a setting gives it."""
    at = float(goal.series.at[len(goal) - 1])
    for done, total in _TOTAL.findall(line):
        if abs(int(done) - at) <= 1 and int(total) >= int(done):
            return float(total)
    epochs = goal.series.axis == "epoch"
    for row in settings:
        key = row.key.rsplit(".", 1)[-1].lower()
        number = isinstance(row.value, int | float) and not isinstance(row.value, bool)
        if key in {*EPOCH_NAMES, *STEP_NAMES} and number and ("epoch" in key) == epochs and float(row.value) >= 1:
            return float(row.value)
    return None


@dataclass(frozen=True)
class _Pace:
    """When the last value was logged, and the usual and the longest time between two."""

    last: float
    usual: float
    longest: float

    @property
    def shortest(self) -> float:
        """The shortest pause that no step takes."""
        return max(SHORTEST_SILENCE, SILENCE * self.usual, 2 * self.longest)

    def is_broken_by(self, pause: float) -> bool:
        """Whether a pause is far longer than any step took."""
        return pause >= self.shortest


def _pace(goal: Objective, before: Excerpt) -> _Pace | None:
    """By the times in the lines of the last values; None for a log without times."""
    own = set(goal.series.lines[-BEFORE:].tolist())
    times = [at for number, text in before.numbered() if number in own and (at := seconds_of(text)) is not None]
    pauses = np.diff(np.array(times))
    positive = pauses[pauses > 0]
    if len(times) < FEWEST_TIMES or not len(positive):
        return None
    return _Pace(times[-1], float(np.median(positive)), float(pauses.max()))


def _silence(goal: Objective, after: Sequence[tuple[int, str]], pace: _Pace) -> Signal | None:
    """The time from the last value to the line that ended the job, against the time between two values."""
    for number, text in after:
        at = seconds_of(text)
        if at is None:
            continue
        pause = at - pace.last
        if not _is_ending(text) and pause <= 2 * pace.longest:
            return None
        return _silent(goal, number, text, pause, pace)
    return None


def _silent(goal: Objective, number: int, text: str, pause: float, pace: _Pace) -> Signal | None:
    if not pace.is_broken_by(pause):
        return None
    series, last = goal.series, len(goal) - 1
    source = series.source_at(last)
    lasted, usual = span_text(pause), span_text(pace.usual)
    claim = f"{lasted} pass between {where(series, last)} and the next line; a logged step takes {usual}"
    places = [
        cite(series, last, "the last progress"),
        cite_line(source, number, f"{span_text(pause)} later", text.strip()),
    ]
    facts: dict[str, Fact] = {
        "last_at": where(series, last),
        "silence": span_text(pause),
        "usual_pause": span_text(pace.usual),
    }
    return Signal(id="silence-before-end", claim=claim, citations=places, facts=facts)


def _alive(goal: Objective, after: Sequence[tuple[int, str]], pace: _Pace) -> Signal | None:
    """Lines with times that go on for long after the last value, none of them an ending."""
    series, last = goal.series, len(goal) - 1
    stamped = [(number, text, at) for number, text in after if (at := seconds_of(text)) is not None]
    if len(stamped) < BEATS:
        return None
    number, text, at = stamped[-1]
    span = at - pace.last
    if not pace.is_broken_by(span):
        return None
    claim = f"for {span_text(span)} after {where(series, last)} lines are written, and no step is logged"
    places = [
        cite(series, last, "the last progress"),
        cite_line(series.source_at(last), number, f"still alive {span_text(span)} later", text.strip()),
    ]
    facts: dict[str, Fact] = {
        "last_at": where(series, last),
        "silence": span_text(span),
        "usual_pause": span_text(pace.usual),
    }
    return Signal(id="alive-without-progress", claim=claim, citations=places, facts=facts)


def _is_ending(text: str) -> bool:
    return any(one.name in ENDINGS and one.found_in(text) is not None for one in error_patterns())
