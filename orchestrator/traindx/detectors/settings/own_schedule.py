"""The plan of a run whose program computes the learning rate itself."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from functools import partial

import numpy as np

from traindx.detectors.curves.shape import Numbers
from traindx.detectors.settings.lookup import is_number
from traindx.detectors.settings.scheduler_settings import Plan, Unit
from traindx.program.analysis import Analysis
from traindx.program.rates import OwnRate, own_rates
from traindx.readers.model import Setting

POINTS = 2_000
"""counts at which the function is worked out; between them the rate is interpolated"""


def own_plan(analyses: Sequence[Analysis], settings: Sequence[Setting]) -> Plan | None:
    """The one rate that the program computes; None where there is none, or more than one."""
    known = _by_name(settings)
    found = [rate for analysis in analyses for rate in own_rates(analysis, known)]
    if len({rate.place.text for rate in found}) != 1:
        return None
    rate = found[0]
    told = [row for row in settings if is_number(row) and _last(row) in {name.lower() for name in rate.reads}]
    unit: Unit = "epoch" if rate.counted_in == "epoch" else "step" if rate.counted_in == "step" else ""
    line = rate.place.unit.file_line(rate.place.line)
    place = Setting("schedule", rate.place.quote.strip(), rate.place.unit.path, line, coded=True)
    in_force = sorted(told, key=lambda row: row.coded)
    used = {_last(row): row for row in reversed(in_force)}
    first = rate.at(0) or 0.0
    return Plan("schedule of the program", first, partial(_at, rate), unit, (*used.values(), place), certain=True)


def _at(rate: OwnRate, counts: Numbers) -> Numbers:
    """The rate over counts, worked out where it is asked for."""
    asked = np.unique(np.floor(counts))
    if len(asked) > POINTS:
        asked = np.unique(np.floor(np.linspace(asked[0], asked[-1], POINTS)))
    told = [rate.at(float(count)) for count in asked]
    values = np.array([np.nan if value is None else value for value in told], float)
    rates: Numbers = np.interp(np.floor(counts), asked, values)
    return rates


def _by_name(settings: Sequence[Setting]) -> dict[str, float]:
    """Numbers by the last word of their key; what is configured goes before what the code has as a default."""
    found: dict[bool, dict[str, set[float]]] = {True: defaultdict(set), False: defaultdict(set)}
    for row in settings:
        if is_number(row):
            found[row.coded][_last(row)].add(float(row.value))
    values = {name: next(iter(told)) for name, told in found[True].items() if len(told) == 1}
    return values | {name: next(iter(told)) for name, told in found[False].items() if len(told) == 1}


def _last(row: Setting) -> str:
    return row.key.rsplit(".", 1)[-1].lower()
