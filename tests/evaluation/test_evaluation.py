"""Labelled cases in, figures out."""

import json
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from traindx.errors import TraindxError
from traindx.evaluation import find_cases, open_cases, score
from traindx.evaluation.case import LabelledCase, Truth
from traindx.evaluation.score import outcome

Command = Callable[..., subprocess.CompletedProcess[str]]


def case(expect: str, **truth: object) -> LabelledCase:
    return LabelledCase(name="c", run=Path(), truth=Truth.model_validate({"expect": expect, **truth}))


@pytest.fixture
def corpus(tmp_path: Path, broken_run: Path, healthy_run: Path) -> Path:
    for name, source, truth in (
        (
            "one",
            broken_run,
            "message: loss went up\nexpect: diagnosis\nprimary: [lr-schedule-spike]\nwhere: config.yaml:17\n",
        ),
        ("two", healthy_run, "expect: healthy\nnever: [overfitting]\n"),
    ):
        shutil.copytree(source, tmp_path / "cases" / name / "run")
        (tmp_path / "cases" / name / "truth.yaml").write_text(truth)
    return tmp_path / "cases"


@pytest.mark.slow
def test_the_command_runs_every_case(traindx: Command, corpus: Path) -> None:
    card = json.loads(traindx("eval", corpus, "--json").stdout)["scorecard"]
    assert (card["cases"], card["first_right"], card["false_alarms"]) == (2, 1.0, 0.0)
    assert (card["judged_healthy"], card["places"]) == (1.0, 1.0)
    assert "first cause right" in traindx("eval", corpus).stdout


def test_figures_follow_their_definitions() -> None:
    cases = [
        case("diagnosis", primary=["a"], also=["b"], never=["z"]),
        case("diagnosis", primary=["a"], never=["z"]),
        case("healthy"),
        case("healthy", also=["b"]),
    ]
    answers: list[list[tuple[str, float]]] = [
        [("b", 0.8), ("a", 0.6)],
        [("z", 0.9)],
        [("c", 0.6)],
        [("b", 0.7)],
    ]
    outcomes = [
        outcome(one, "diagnosis_complete", named, set(), (), 1.0) for one, named in zip(cases, answers, strict=True)
    ]
    card = score(outcomes, cases)
    assert (card.first_right, card.any_right) == (0.0, 0.5)
    assert card.false_alarms == 0.5
    assert card.forbidden == 0.25
    assert card.brier == pytest.approx((0.2**2 + 0.9**2 + 0.6**2 + 0.3**2) / 4, abs=1e-4)
    assert card.calibration_error == pytest.approx((0.2 + 0.9 + 0.6 + 0.3) / 4, abs=1e-4)
    assert card.confusion == {"a": {"b": 1, "z": 1}}


@pytest.mark.parametrize("text", ["expect: maybe", "expect: [", "expect: healthy\nprimry: [x]", ""])
def test_a_malformed_truth_is_one_sentence(tmp_path: Path, text: str) -> None:
    (tmp_path / "case" / "run").mkdir(parents=True)
    (tmp_path / "case" / "truth.yaml").write_text(text)
    with pytest.raises(TraindxError, match=r"truth\.yaml:1:"):
        find_cases(tmp_path)


def test_a_folder_without_cases_is_refused(traindx: Command, tmp_path: Path) -> None:
    done = traindx("eval", tmp_path)
    assert done.returncode == 2
    assert "truth.yaml" in done.stderr


def test_an_archive_gives_the_cases_and_names_of_its_folder(corpus: Path, tmp_path: Path) -> None:
    with open_cases(tmp_path) as cases:
        unpacked = [(one.name, one.truth) for one in cases]
    assert [name for name, _ in unpacked] == ["cases/one", "cases/two"]
    archive = Path(shutil.make_archive(str(tmp_path / "batch"), "gztar", tmp_path, "cases"))
    with open_cases(archive) as cases:
        assert [(one.name, one.truth) for one in cases] == unpacked
        runs = [one.run for one in cases]
        assert all((run / "metrics.csv").is_file() for run in runs)
    assert not any(run.exists() for run in runs)


def test_a_folder_gives_its_cases_and_those_of_archives_below(corpus: Path, tmp_path: Path) -> None:
    shutil.make_archive(str(tmp_path / "blind" / "deep" / "batch-1"), "zip", tmp_path, "cases")
    corpus.rename(tmp_path / "blind" / "batch-2")
    (tmp_path / "blind" / "batch-2" / "one" / "run" / "data.tar.gz").write_bytes(b"part of the run, and no archive")
    with open_cases(tmp_path / "blind") as cases:
        names = [one.name for one in cases]
    assert names == ["batch-2/one", "batch-2/two", "deep/cases/one", "deep/cases/two"]


@pytest.mark.slow
def test_the_command_reads_an_archive(traindx: Command, corpus: Path, tmp_path: Path) -> None:
    archive = shutil.make_archive(str(tmp_path / "batch"), "gztar", tmp_path, "cases")
    outcomes = json.loads(traindx("eval", archive, "--json").stdout)["outcomes"]
    assert [(row["case"], row["right_first"]) for row in outcomes] == [("cases/one", True), ("cases/two", False)]


@pytest.mark.parametrize("damage", ["noise", "cut", "empty"])
@pytest.mark.slow
def test_a_broken_archive_is_one_sentence(traindx: Command, corpus: Path, tmp_path: Path, damage: str) -> None:
    archive = Path(shutil.make_archive(str(tmp_path / "batches" / "batch"), "gztar", tmp_path, "cases"))
    whole = archive.read_bytes()
    archive.write_bytes({"noise": b"no archive at all", "cut": whole[: len(whole) // 2], "empty": b""}[damage])
    for path in (archive, archive.parent):
        done = traindx("eval", path)
        assert done.returncode == 2
        assert "batch.tar.gz" in done.stderr
        assert len(done.stderr.splitlines()) == 1
        assert "Traceback" not in done.stderr


def test_a_malformed_truth_in_an_archive_is_named_by_the_archive(tmp_path: Path) -> None:
    (tmp_path / "case" / "run").mkdir(parents=True)
    (tmp_path / "case" / "run" / "train.log").write_text("epoch 1 loss 1.0\n")
    (tmp_path / "case" / "truth.yaml").write_text("expect: maybe")
    archive = Path(shutil.make_archive(str(tmp_path / "batch"), "zip", tmp_path, "case"))
    with pytest.raises(TraindxError, match=r"batch\.zip/case/truth\.yaml:1:"), open_cases(archive):
        pass
