"""Which of several runs a message speaks of, and which of them matters most once each has been looked at."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import PurePosixPath

from traindx.contract import SEVERITIES, Diagnosis, RunSummary
from traindx.runtime.scope import Scope

MOST_EXAMINED = 8
"""runs that are each investigated; of more only those that look worst"""
_ORDINALS = {"first": 0, "1st": 0, "second": 1, "2nd": 1, "third": 2, "3rd": 2, "last": -1, "latest": -1, "newest": -1}
_ORDINAL = re.compile(rf"\b({'|'.join(_ORDINALS)}) (?:run|job|log|trial|experiment|attempt|seed|fold)\b")
_NUMBERED = r"(?:run|job|log|trial|exp|experiment|seed|fold|version|slurm|#)[ #_:-]{0,2}"
_LONG_NUMBER = 4
"""digits that need no word before them to be the number of a job"""


def picked(runs: Sequence[RunSummary], message: str) -> RunSummary | None:
    """The one run that the message names: by its file or folder, by its number, or by its place in the list."""
    text = message.casefold()
    named = [row for row in runs if any(_says(text, name) for name in _names(row))]
    if not named:
        named = [row for row in runs if any(_says_number(text, number) for number in _numbers(row, runs))]
    if len(named) == 1:
        return named[0]
    place = _ORDINAL.search(text) if not named else None
    wanted = _ORDINALS[place[1]] if place else 0
    return sorted(runs, key=_natural)[wanted] if place and -len(runs) <= wanted < len(runs) else None


def scope_of(row: RunSummary, rows: Sequence[RunSummary], whole: Scope) -> Scope:
    """What may be looked at for one run of several: everything but the files and folders of the others."""
    others = [path for other in rows if other is not row for path in other.files or (other.path,)]
    return Scope(whole.root, whole.only, tuple(others), stand_ins=whole.stand_ins)


def to_examine(runs: Sequence[RunSummary]) -> list[RunSummary]:
    """The runs to look into, those that look failed first."""
    return sorted(runs, key=lambda row: (not row.failed, _natural(row)))[:MOST_EXAMINED]


def worst(diagnoses: Sequence[Diagnosis]) -> int:
    """The place of the diagnosis that matters most: what is surely and badly broken, then what is unclear."""
    order = {"diagnosis_complete": 0, "partial": 1, "needs_more_data": 2, "healthy": 3}

    def key(place: int) -> tuple[int, int, float]:
        one = diagnoses[place]
        likely = [cause for cause in one.root_causes if cause.likely]
        gravity = max((SEVERITIES.index(cause.severity) for cause in likely), default=-1)
        return order[one.status], -gravity, -max((cause.confidence for cause in likely), default=0.0)

    return min(range(len(diagnoses)), key=key)


def examined(row: RunSummary, diagnosis: Diagnosis) -> RunSummary:
    """The row of a run with what an investigation found."""
    likely = next((cause for cause in diagnosis.root_causes if cause.likely), None)
    if likely is not None:
        return row.model_copy(update={"failed": True, "why": f"{likely.id} ({likely.confidence:.2f}): {likely.issue}"})
    well = diagnosis.status == "healthy"
    said = "healthy" if well else "not enough data to judge"
    return row.model_copy(update={"failed": row.failed and not well, "healthy": well, "why": f"{said}; {row.why}"})


def _names(row: RunSummary) -> set[str]:
    path = PurePosixPath(row.path.casefold())
    names = {str(path), path.name, path.name.partition(".")[0]}
    return {name for name in names if len(name) > 2 and not name.isdecimal()}


def _numbers(row: RunSummary, runs: Sequence[RunSummary]) -> set[str]:
    own = set(re.findall(r"\d+", PurePosixPath(row.path).name))
    return own.difference(*(re.findall(r"\d+", PurePosixPath(one.path).name) for one in runs if one is not row))


def _says(text: str, name: str) -> bool:
    return re.search(rf"(?<![\w./-]){re.escape(name)}(?![\w-])", text) is not None


def _says_number(text: str, number: str) -> bool:
    before = "" if len(number) >= _LONG_NUMBER else _NUMBERED
    return re.search(rf"(?<![\w.]){before}0*{re.escape(number.lstrip('0') or '0')}(?![\w.]\d|\d)", text) is not None


def _natural(row: RunSummary) -> list[tuple[int, str]]:
    return [(int(part), "") if part.isdecimal() else (-1, part) for part in re.split(r"(\d{1,18})", row.path)]
