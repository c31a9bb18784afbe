"""The labelled corpus is complete: every truth loads, every failure has its healthy twin, nothing is too large."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from traindx.evaluation.case import LabelledCase, find_cases

CORPUS = Path(__file__).resolve().parents[1] / "benchmarks" / "corpus"
TWIN = "-healthy"
KNOWN_IDS = frozenset((CORPUS / "ids.txt").read_text(encoding="utf-8").split())
SPECIALISTS = {"training-monitor", "ml-debugger", "state-debugger"}
CASES = find_cases(CORPUS)
BY_NAME = {case.name: case for case in CASES}
FAILING = [case for case in CASES if case.truth.expect == "diagnosis"]
# A healthy run without a failing sibling is there because it looks frightening.
FRIGHTENING = [case for case in CASES if case.truth.expect == "healthy" and not case.name.endswith(TWIN)]
TRAINING_DYNAMICS = {
    "learning-rate-too-high",
    "learning-rate-too-low",
    "missing-warmup",
    "lr-schedule-spike",
    "lr-decayed-to-zero",
    "exploding-gradients",
    "vanishing-gradients",
    "over-clipped-gradients",
    "noisy-gradients",
    "plateau-at-chance",
    "underfitting",
    "overfitting",
    "undertrained",
    "over-regularised",
    "mixed-precision-overflow",
    "loss-scale-collapse",
    "non-finite-loss",
    "unguarded-math",
    "data-distribution-shift",
    "resume-discontinuity",
    "catastrophic-forgetting",
}


def _named(case: LabelledCase) -> str:
    return case.name


@pytest.mark.parametrize("case", CASES, ids=_named)
def test_a_label_uses_known_words_and_does_not_contradict_itself(case: LabelledCase) -> None:
    truth = case.truth
    allowed, forbidden = {*truth.primary, *truth.also}, set(truth.never)
    assert allowed | forbidden <= KNOWN_IDS
    assert not allowed & forbidden
    assert bool(truth.primary) == (truth.expect == "diagnosis")
    assert set(truth.specialist) <= SPECIALISTS
    assert truth.specialist
    assert truth.origin


@pytest.mark.parametrize("case", [case for case in CASES if case.truth.where], ids=_named)
def test_the_place_of_a_fault_exists(case: LabelledCase) -> None:
    for where in case.truth.where:
        name, _, line = where.partition(":")
        assert len((case.run / name).read_text(encoding="utf-8").splitlines()) >= int(line or 0)


@pytest.mark.parametrize("case", FAILING, ids=_named)
def test_a_failing_run_has_its_healthy_twin(case: LabelledCase) -> None:
    assert BY_NAME[case.name + TWIN].truth.expect == "healthy"


def test_every_twin_belongs_to_a_failing_run() -> None:
    twins = [name.removesuffix(TWIN) for name in BY_NAME if name.endswith(TWIN)]
    assert {BY_NAME[name].truth.expect for name in twins} == {"diagnosis"}


def test_there_are_enough_runs_of_each_kind() -> None:
    assert len(FAILING) >= 30
    assert len(FRIGHTENING) >= 15
    assert sum(case.truth.expect == "needs_more_data" for case in CASES) >= 3


def test_every_cause_of_training_dynamics_is_the_right_answer_somewhere() -> None:
    assert TRAINING_DYNAMICS - {cause for case in FAILING for cause in case.truth.primary} == set()


@pytest.mark.parametrize("case", CASES, ids=_named)
def test_a_case_says_how_its_files_were_made(case: LabelledCase) -> None:
    recipe = yaml.safe_load((case.run.parent / "make.yaml").read_text(encoding="utf-8"))
    assert all((case.run / source).is_file() for source in recipe.get("sources", []))
    if any("../make.py" in step["run"] for step in recipe["steps"]):
        assert (case.run.parent / "make.py").is_file()


@pytest.mark.parametrize("case", CASES, ids=_named)
def test_a_run_folder_betrays_nothing_and_is_small(case: LabelledCase) -> None:
    files = [path for path in case.run.rglob("*") if path.is_file()]
    assert files
    for path in files:
        limit = 50_000 if path.suffix in {".pt", ".pth"} else 400_000
        assert path.stat().st_size <= limit, path
        said = path.read_bytes()
        for giveaway in (b"# BUG", b"traindx", b"benchmarks/corpus", *(cause.encode() for cause in case.truth.primary)):
            assert giveaway not in said, (path, giveaway)


def test_the_corpus_stays_small() -> None:
    assert sum(path.stat().st_size for path in CORPUS.rglob("*") if path.is_file()) <= 4_000_000
