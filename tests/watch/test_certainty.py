"""A finding is told when it holds, once, and once more when it is gone or graver."""

import pytest

from traindx.contract import Diagnosis, RootCause, Severity
from traindx.contract.diagnosis import Fix, RequestSummary
from traindx.diagnosis.catalog import load_catalog
from traindx.watch.certainty import Certainty, Moment
from traindx.watch.finding import Finding

MODES = load_catalog()


def cause(name: str, confidence: float = 0.95, severity: Severity = "high") -> RootCause:
    fix = Fix(summary="change it", expected="better", verify="look", fallback="ask")
    told = {"issue": f"{name} happened", "severity": severity, "confidence": confidence}
    return RootCause(id=name, fix=fix, specialist="training-monitor", **told)


class Run:
    """A run under watch: each call is one judgement."""

    def __init__(self) -> None:
        self.certainty = Certainty("run", lambda name: MODES[name].told)

    def __call__(
        self,
        *causes: RootCause,
        size: int,
        clock: float = 0.0,
        points: int = 10_000,
        ended: bool = False,
        noticed: float | None = None,
    ) -> list[str]:
        diagnosis = Diagnosis(
            status="diagnosis_complete", request=RequestSummary(kind="metrics"), root_causes=list(causes)
        )
        found = self.certainty.weigh(diagnosis, Moment(size, points, clock, "12:00:00", ended, noticed))
        assert all(isinstance(row, Finding) for row in found)
        return [f"{row.kind} {row.id}" for row in found]


def test_the_catalog_says_when_a_cause_may_be_told() -> None:
    assert MODES["non-finite-loss"].told == "at-once"
    assert MODES["cuda-out-of-memory"].told == "at-once"
    assert MODES["overfitting"].told == "later"
    assert MODES["undertrained"].told == "at-the-end"


def test_an_event_is_told_at_the_second_look_and_only_once() -> None:
    run, nan = Run(), cause("non-finite-loss")
    assert run(nan, size=100, clock=0) == []
    assert run.certainty.waiting
    assert run(nan, size=100, clock=2) == ["found non-finite-loss"]
    assert not run.certainty.waiting
    assert run(nan, size=900, clock=30) == []
    assert run(nan, size=9000, clock=300, ended=True) == []


def test_an_event_that_is_gone_at_the_second_look_was_none() -> None:
    run = Run()
    assert run(cause("non-finite-loss"), size=100, clock=0) == []
    assert run(size=120, clock=2) == []
    assert run(cause("non-finite-loss"), size=200, clock=3) == [], "it has to hold again"
    assert run(cause("non-finite-loss"), size=220, clock=5) == ["found non-finite-loss"]


def test_what_is_proved_a_second_after_it_was_noticed_is_told_at_once() -> None:
    run = Run()
    assert run(cause("non-finite-loss"), size=100, clock=5.0, noticed=4.0) == ["found non-finite-loss"]
    early = Run()
    assert early(cause("non-finite-loss"), size=100, clock=4.5, noticed=4.0) == []
    assert early(cause("non-finite-loss"), size=100, clock=5.5) == ["found non-finite-loss"]


@pytest.mark.parametrize("fits", [cause("learning-rate-too-high", 0.8), cause("overfitting", 0.95)])
def test_what_is_not_proved_or_no_event_has_to_hold_however_it_was_noticed(fits: RootCause) -> None:
    assert Run()(fits, size=100, clock=5.0, noticed=3.0) == []


def test_what_a_curve_shows_has_to_hold_until_the_data_have_doubled() -> None:
    run, fits = Run(), cause("overfitting")
    assert run(fits, size=100, clock=0) == []
    assert run(fits, size=199, clock=500) == []
    assert not run.certainty.waiting
    assert run(fits, size=200, clock=501) == ["found overfitting"]


def test_at_the_start_of_a_run_only_what_is_proved_is_an_event() -> None:
    run, high = Run(), cause("learning-rate-too-high", 0.6)
    assert run(high, size=100, clock=0, points=20) == []
    assert run(high, size=150, clock=5, points=30) == []
    assert run(size=300, clock=9, points=60) == []
    late = Run()
    assert late(high, size=10_000, clock=0, points=2_000) == []
    assert late(high, size=10_100, clock=5, points=2_020) == ["found learning-rate-too-high"]


def test_what_an_unfinished_run_shows_anyway_is_told_at_the_end_only() -> None:
    run, short = Run(), cause("undertrained", 0.8, "low")
    assert run(short, size=100, clock=0) == []
    assert run(short, size=800, clock=900) == []
    assert run(short, size=900, clock=1000, ended=True) == ["found undertrained"]


def test_a_possibility_is_never_told() -> None:
    assert Run()(cause("overfitting", 0.49), size=100, ended=True) == []


def test_what_becomes_graver_is_told_again() -> None:
    run = Run()
    run(cause("non-finite-loss", severity="medium"), size=100, clock=0)
    assert run(cause("non-finite-loss", severity="medium"), size=110, clock=2) == ["found non-finite-loss"]
    assert run(cause("non-finite-loss", severity="critical"), size=120, clock=4) == ["graver non-finite-loss"]
    assert run(cause("non-finite-loss", severity="medium"), size=130, clock=6) == []


def test_recovery_is_said_once_and_only_after_new_data_twice() -> None:
    run = Run()
    run(cause("exploding-gradients"), size=100, clock=0)
    run(cause("exploding-gradients"), size=110, clock=2)
    assert run(size=110, clock=4) == [], "nothing new was written"
    assert run(size=120, clock=6) == []
    assert run(size=130, clock=8) == ["recovered exploding-gradients"]
    assert run(size=140, clock=10) == []
    assert run(size=150, clock=12, ended=True) == []
