"""Whatever is typed, understanding it takes no time to speak of and never fails."""

from __future__ import annotations

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from traindx.pipeline.request import KINDS, understand

WORDS = (
    "loss", "nan", "is", "not", "no", "the", "gradient", "explodes", "epoch", "7", "step", "?", ",", ".", "state",
    "detach", "'Error:", "x'", "maybe", "but", "\n", "lr", "1e-3", "memory", "val", "goes up", "::::", "`", "fc1",
)  # fmt: skip
NASTY = (
    "a", "(", "not ", "gradient ", "loss explodes 0.5 ", '"', "x.y.", "\n", "1,000", "Error: ", "no ", "\x00\x1e",
    "is it ", "'a ", ", ", ".", "loss ", "1 epoch ", "fooError", "a\n", "is my loss nan?\n", "\U0001f525", "\u200b",
    "\u0130", "::::", "the ", "RuntimeError: x", "hidden state ", "a.1.", "between 0.3 and ", "\\", "`", "-", "please ",
    "train val ", "\ud800",
)  # fmt: skip


@pytest.mark.parametrize("piece", NASTY)
def test_a_megabyte_of_anything_is_read_in_a_moment(piece: str) -> None:
    message = piece * (1_000_000 // len(piece))
    started = time.process_time()
    request = understand(message)
    assert time.process_time() - started < 2.0  # some 0.1 s; a quadratic pattern would take minutes
    assert request.message is message


@settings(max_examples=300, deadline=None)
@given(st.text(alphabet=st.characters(), max_size=400))
def test_any_text_is_understood(message: str) -> None:
    _is_sound(message)


@settings(max_examples=300, deadline=None)
@given(st.lists(st.sampled_from(WORDS), max_size=40).map(" ".join))
def test_any_mix_of_the_words_of_the_trade_is_understood(message: str) -> None:
    _is_sound(message)


def _is_sound(message: str) -> None:
    request = understand(message)
    assert repr(request) == repr(understand(message))  # by text: a NaN is not equal to itself
    assert request.kind in KINDS
    assert request.about_training is (request.kind != "not-about-training")
    assert request.ranking
    assert request.reason
    scores = [ranked.score for ranked in request.ranking]
    assert scores == sorted(scores, reverse=True)
    assert sum(scores) <= 1.0 + 1e-9
    assert all(error in message for error in request.mentions.errors)
    assert all(layer in message for layer in request.mentions.layers)
    assert all(quantity.text in message for quantity in request.mentions.quantities)


@pytest.mark.parametrize("ending", ["Loss is nan.", "RuntimeError: CUDA error: device-side assert triggered"])
def test_the_end_of_a_pasted_log_is_read(ending: str) -> None:
    log = "\n".join(f"step {step} ok" for step in range(60_000))
    assert understand(f"{log}\n{ending}").kind in {"non-finite", "cuda-error"}
