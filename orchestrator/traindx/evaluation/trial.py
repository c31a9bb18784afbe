"""Running the cases."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor

from traindx.api import diagnose
from traindx.evaluation.case import LabelledCase
from traindx.evaluation.score import Outcome, outcome


def null_listener(outcome: Outcome) -> None:
    """For those who wait for the end."""


def evaluate(
    cases: Sequence[LabelledCase], *, at_once: int = 2, on_outcome: Callable[[Outcome], None] = null_listener
) -> list[Outcome]:
    """Diagnose every case, a few at once; outcomes come in the order of the cases."""
    with ThreadPoolExecutor(at_once) as pool:
        outcomes = []
        for row in pool.map(_try, cases):
            on_outcome(row)
            outcomes.append(row)
        return outcomes


def _try(case: LabelledCase) -> Outcome:
    began = time.perf_counter()
    diagnosis = diagnose(case.run, case.truth.message, brain="local")
    seconds = time.perf_counter() - began
    named = [(cause.id, cause.confidence) for cause in diagnosis.root_causes]
    places = {
        place
        for cause in diagnosis.root_causes[:1]
        for piece in cause.evidence
        for place in (piece.source, f"{piece.source}:{_line(piece.locator)}")
    }
    return outcome(case, diagnosis.status, named, places, diagnosis.request.specialists, seconds)


def _line(locator: str) -> str:
    return locator.removeprefix("line ").split(",")[0]
