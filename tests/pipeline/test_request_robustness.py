"""Whatever is typed, understanding it takes no time to speak of and never fails."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.hostile_inputs import PIECES_OF_MESSAGES
from tests.property_examples import examples
from traindx.pipeline.request import KINDS, understand

WORDS = (
    "loss", "nan", "is", "not", "no", "the", "gradient", "explodes", "epoch", "7", "step", "?", ",", ".", "state",
    "detach", "'Error:", "x'", "maybe", "but", "\n", "lr", "1e-3", "memory", "val", "goes up", "::::", "`", "fc1",
)  # fmt: skip


@pytest.mark.parametrize("piece", PIECES_OF_MESSAGES)
@pytest.mark.slow
def test_a_megabyte_of_anything_is_read(piece: str) -> None:
    message = piece * (1_000_000 // len(piece))
    assert understand(message).message is message  # some 0.1 s; a quadratic pattern would take minutes


@settings(max_examples=examples(300))
@given(st.text(alphabet=st.characters(), max_size=400))
def test_any_text_is_understood(message: str) -> None:
    _is_sound(message)


@settings(max_examples=examples(300))
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
