"""What the user guesses at gets its answer first: yes, in part, or no and what it is instead."""

from __future__ import annotations

from pathlib import Path

import pytest

from traindx import diagnose


@pytest.mark.parametrize(
    ("message", "begins"),
    [
        ("loss went up after epoch 7, is it the batch size?", "No: the evidence points to `lr-schedule-spike`, not to"),
        ("the loss explodes at epoch 7. Could it be the learning rate?", "Yes: the learning rate"),
        ("it breaks at epoch 7, I think it is the weight decay", "No: the evidence points to `lr-schedule-spike`"),
    ],
)
def test_a_guess_is_answered(broken_run: Path, message: str, begins: str) -> None:
    assert diagnose(broken_run, message, brain="local").answer.startswith(begins)


def test_the_value_of_what_was_guessed_stands_beside_it(broken_run: Path) -> None:
    said = diagnose(broken_run, "loss went up after epoch 7, is it the batch size?", brain="local").answer
    assert "`batch_size` = 50, config.yaml:3" in said


@pytest.mark.parametrize("message", ["loss went up after epoch 7", "what happened here?", ""])
def test_where_nothing_is_guessed_nothing_is_said(broken_run: Path, message: str) -> None:
    assert diagnose(broken_run, message, brain="local").answer == ""


def test_a_guess_about_a_run_that_is_well(healthy_run: Path) -> None:
    said = diagnose(healthy_run, "is the batch size too small?", brain="local").answer
    assert said.startswith("Nothing that was found speaks against the batch size")
