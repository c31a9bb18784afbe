"""What changed where the loss broke: announced in the log, visible in a table, or planned in the configuration."""

from traindx.contract import Value
from traindx.detectors.citing import where
from traindx.detectors.curves import changes, manifest
from traindx.detectors.curves.change_point import change_point
from traindx.detectors.curves.objective import objective
from traindx.readers import Run
from traindx.readers.excerpts import read_excerpt, small_texts
from traindx.readers.quoting import fill_quotes
from traindx.runtime import NoData, ToolInput, ToolOutput, tool


class Input(ToolInput):
    """No options: the lines around the break of the main loss are checked."""


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


@tool(needs=["series"], emits=changes.SIGNALS)
def find_changes(given: Input, run: Run) -> ChangeReport:  # noqa: ARG001 - every tool takes its input
    """Look between the last good and the first bad value of the loss for what changed there: announcements in the log,
    a column of the table that switches, a setting whose value is that very epoch.
    """
    goal = run.once(objective)
    onset, spike = (None, False) if goal is None else change_point(goal)
    if goal is None or onset is None:
        raise NoData("the loss never breaks")
    loss = goal.series
    found = changes.shifted_inputs(loss, onset, run.series)
    if not spike:
        between = changes.lines_before(loss, onset)
        found += changes.announced(loss, onset, run.series, read_excerpt(run, between)) if between else []
        found += changes.switched(loss, [read_excerpt(run, row) for row in changes.rows_around(loss, onset)])
        found += changes.planned(loss, onset, run.settings)
    # What stands there is part of the claims.
    found = [(kind, fill_quotes(place, run)) for kind, place in found]
    data = [place for kind, place in found if kind.signal == "data-changed-at-onset"]
    kind = next((kind for kind, place in found if place in data), None)
    if kind is not None:
        told = manifest.listed(data[0].quote, small_texts(run))
        found += [(kind, fill_quotes(place, run)) for place in told]
    at = where(loss, onset)
    return ChangeReport(
        onset=at,
        changes=[
            Change(what=kind.what, source=place.source, line=changes.line_of(place), text=place.quote)
            for kind, place in found
        ],
        signals=changes.signals(found, at),
    )
