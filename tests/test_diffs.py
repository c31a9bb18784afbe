"""Diffs on real runs: of a sample of the corpus every diff applies, and what it changes is still what it was."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.applying import apply, changed_files, parses
from traindx.api import diagnose
from traindx.evaluation.case import find_cases

CORPUS = Path(__file__).resolve().parents[1] / "benchmarks" / "corpus"
CASES = {case.name: case for case in find_cases(CORPUS)}
WITH_A_DIFF = {
    "ae-bearings": "autoencoder.py",
    "beam-halfgrad": "conf.yaml",
    "cooking-lm": "lm.py",
    "deep-mlp-tb": "net.py",
    "ecg-clip": "settings.json",
    "event-counter-rnn": "train.py",
    "faces-triplet": "train_triplet.py",
    "grid-sgd-wd": "experiment.yaml",
    "hf-intents": "training_args.json",
    "rings-cosine": "cfg.yaml",
    "shapes-cnn-sgd": "config.yaml",
    "vae-shapes": "vae.py",
    "vecfield-resume": "train.py",
}
WITHOUT = {
    "names-gru": "`lr` was 0.3 in the run (nohup.out:1), and no file of this folder sets that",
    "wandb-tagger": "no file of this folder sets that",
    "flow-slurm": "the training code is not in this folder",
}


@pytest.mark.slow
@pytest.mark.parametrize("name", WITH_A_DIFF)
def test_a_known_place_gives_a_diff_that_applies(tmp_path: Path, name: str) -> None:
    case = CASES[name]
    cause = diagnose(case.run, case.truth.message, brain="local").root_causes[0]
    assert cause.id in case.truth.primary
    assert cause.fix.diff, cause.fix.summary
    assert changed_files(cause.fix.diff) == [WITH_A_DIFF[name]]
    copy = tmp_path / "run"
    shutil.copytree(case.run, copy)
    apply(cause.fix.diff, copy)
    assert parses(copy / WITH_A_DIFF[name])
    changed = [path for path in case.run.rglob("*") if path.is_file() and _differs(path, case.run, copy)]
    assert [path.name for path in changed] == [Path(WITH_A_DIFF[name]).name]


@pytest.mark.slow
@pytest.mark.parametrize("name", WITHOUT)
def test_an_unknown_place_is_said_to_be_unknown(name: str) -> None:
    case = CASES[name]
    fix = diagnose(case.run, case.truth.message, brain="local").root_causes[0].fix
    assert fix.diff is None
    assert f"No diff: {WITHOUT[name]}" in fix.summary or WITHOUT[name] in fix.summary


def _differs(path: Path, run: Path, copy: Path) -> bool:
    return path.read_bytes() != (copy / path.relative_to(run)).read_bytes()


def test_where_only_a_person_knows_the_change_the_fix_says_so(tmp_path: Path) -> None:
    failed = "FileNotFoundError: [Errno 2] No such file or directory: 'data/train.bin'\n"
    frame = 'Traceback (most recent call last):\n  File "train.py", line 3, in <module>\n    main()\n'
    (tmp_path / "train.log").write_text(frame + failed)
    fix = diagnose(tmp_path, brain="local").root_causes[0].fix
    assert fix.diff is None
    assert "No diff: the right path is not known here." in fix.summary
