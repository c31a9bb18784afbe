"""What a user says beside the artifacts: heard where it is an observation, not where it is a question or a theory."""

from __future__ import annotations

import pytest

from traindx.brains.local.user_reports import VOCABULARY, user_reports

HEARD = [
    ("half precision gives nan directly, float32 works fine with the same lr", "said-fine-in-full-precision"),
    ("Same config in bf16 goes to 1.8.", "said-fine-in-full-precision"),
    ("trains without problems in fp32", "said-fine-in-full-precision"),
    ("After the preemption the job continued but the accuracy is worse than before", "said-resumed"),
    ("loss jumped when I resumed from the checkpoint", "said-resumed"),
    ("the pictures are blurry", "said-poor-results"),
    ("BLEU is too low, the paper reports 31", "said-poor-results"),
    ("only 61 % on the test set", "said-poor-results"),
    ("it was supposed to take 5 hours and is still running", "said-slow"),
    ("ETA 12 hours, already day three", "said-slow"),
    ("a quarter of the layers, but an epoch takes just as long as before", "said-slow"),
    ("with the second card it is no faster", "said-slow"),
    ("the GPU is mostly bored, what can I do?", "said-slow"),
    ("eine Epoche dauert viel zu lange", "said-slow"),
    ("how can I make it faster", "said-slow"),
]
NOT_HEARD = [
    "",
    "fp32, nll negative, ok?",
    "should I use fp32?",
    "loss is nan after 300 steps",
    "is there something wrong with float32",
    "the ETA was 4 hours and it took 4 hours, all good",
    "I estimate the loss every two hours, is the run healthy?",
    "the summary of the run looks odd",
    "is it converged?",
    "should I train for as long as last time?",
    "the loss falls no more, is it done?",
    "three epochs so far, ok to go on?",
]


@pytest.mark.parametrize(("message", "signal"), HEARD)
def test_an_observation_is_heard(message: str, signal: str) -> None:
    assert signal in {found.id for found in user_reports(message)}


@pytest.mark.parametrize("message", NOT_HEARD)
def test_a_question_is_not_an_observation(message: str) -> None:
    assert user_reports(message) == []


def test_nobody_can_open_what_was_said() -> None:
    for message, _ in HEARD:
        for found in user_reports(message):
            assert found.id in VOCABULARY
            assert found.citations == []


def test_a_very_long_message_takes_no_time() -> None:
    assert user_reports("fp32 " * 200_000) == []
