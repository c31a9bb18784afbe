"""What the artifacts show decides where the message does not, and outweighs what it only guesses."""

from __future__ import annotations

import pytest

from traindx.contract import Artifacts, ContextPackage, ErrorSummary, SeriesSummary
from traindx.pipeline.request import KINDS, AgentBrief, understand


def curve(
    name: str, first: float, last: float, lowest: float, highest: float, non_finite: int = 0, diverged: bool = False
) -> SeriesSummary:
    return SeriesSummary(
        name=name, original=name, source="train.log", axis="epoch", points=20, start=0, end=19,
        first=first, last=last, lowest=lowest, highest=highest, non_finite=non_finite,
        diverged=diverged, judged=diverged,
    )  # fmt: skip


def error(text: str, kind: str = "error") -> ErrorSummary:
    return ErrorSummary(source="slurm.err", line=41, text=text, kind=kind)


def context(
    *series: SeriesSummary,
    errors: tuple[ErrorSummary, ...] = (),
    traits: tuple[str, ...] = (),
    code: tuple[str, ...] = (),
) -> ContextPackage:
    return ContextPackage(
        artifacts=Artifacts(model_code=list(code)), series=list(series), errors=list(errors), traits=list(traits)
    )


HEALTHY = curve("train/loss", 2.3, 0.4, 0.39, 2.3)
DIVERGED = curve("train/loss", 2.3, 4.1, 0.4, 5.0, diverged=True)
LOOP = ("torch", "training-loop")
RECURRENT = (*LOOP, "recurrent")

# (message, artifacts, kind, lead)
DECIDED = [
    ("", context(HEALTHY), "check-up", "training-monitor"),
    ("", context(DIVERGED), "divergence", "training-monitor"),
    ("", context(curve("loss", 2.0, 1.0, 1.0, 2.0, non_finite=3)), "non-finite", "ml-debugger"),
    ("", context(curve("loss", 2.303, 2.302, 2.301, 2.304)), "not-learning", "training-monitor"),
    ("", context(HEALTHY, curve("val/loss", 2.2, 1.9, 0.9, 2.2)), "overfitting", "training-monitor"),
    ("", context(HEALTHY, curve("gpu_mem_mb", 900, 8000, 900, 8000), traits=LOOP), "memory-growth", "ml-debugger"),
    ("", context(HEALTHY, curve("gpu_mem_mb", 900, 8000, 900, 8000), traits=RECURRENT), "memory-growth",
     "state-debugger"),
    ("", context(errors=(error("KeyError: 'x'"),)), "crash", "ml-debugger"),
    ("", context(errors=(error("torch.OutOfMemoryError: CUDA out of memory."),)), "out-of-memory", "ml-debugger"),
    ("", context(errors=(error("RuntimeError: Trying to backward through the graph a second time"),), traits=RECURRENT),
     "state-handling", "state-debugger"),
    ("", context(traits=RECURRENT, code=("rnn.py",)), "state-handling", "state-debugger"),
    ("", context(traits=LOOP, code=("train.py",)), "review", "ml-debugger"),
    ("", context(), "unclear", "ml-debugger"),
    ("hello", context(DIVERGED), "divergence", "training-monitor"),
    ("help", context(errors=(error("KeyError: 'x'"),)), "crash", "ml-debugger"),
    ("Bitte hilf mir, ich verstehe das nicht", context(DIVERGED), "divergence", "training-monitor"),
    ("\u635f\u5931\u7a81\u7136\u53d8\u5927", context(DIVERGED), "divergence", "training-monitor"),
    ("glyph net", context(HEALTHY), "check-up", "training-monitor"),
    # guesses yield to what was recorded
    ("random hardware error?", context(DIVERGED), "divergence", "training-monitor"),
    ("Corrupt batch?", context(HEALTHY), "check-up", "training-monitor"),
    ("maybe the learning rate is too high?", context(errors=(error("KeyError: 'x'"),)), "crash", "ml-debugger"),
    # reports stand
    ("does the run look alright?", context(HEALTHY, errors=(error("KeyError: 'x'"),)), "check-up", "training-monitor"),
    ("it doesn't learn", context(HEALTHY), "not-learning", "training-monitor"),
    ("my LSTM is no better than a linear regression", context(HEALTHY, traits=RECURRENT), "not-learning",
     "state-debugger"),
]  # fmt: skip


@pytest.mark.parametrize(("message", "artifacts", "kind", "lead"), DECIDED)
def test_message_and_artifacts_together(message: str, artifacts: ContextPackage, kind: str, lead: str) -> None:
    request = understand(message, artifacts)
    assert (request.kind, request.ranking[0].specialist) == (kind, lead), request
    assert request.about_training


def test_a_poem_is_a_poem_whatever_folder_it_is_asked_in() -> None:
    assert not understand("write me a poem", context(HEALTHY)).about_training


def test_a_noisy_tiny_loss_is_not_a_divergence() -> None:
    assert understand("", context(curve("train/loss", 2.0, 0.003, 0.001, 2.0))).kind == "check-up"


def test_a_warning_is_not_a_crash() -> None:
    assert understand("", context(HEALTHY, errors=(error("UserWarning: deprecated", "warning"),))).kind == "check-up"


def test_symptoms_are_made_of_the_message() -> None:
    assert understand("loss diverged at epoch 7").symptoms == ("Loss diverged at epoch 7",)
    assert understand("grad norm explodes at step 24590").symptoms == ("Gradients exploded at step 24590",)
    assert "CUDA error: out of memory" in understand("I get CUDA error: out of memory").symptoms
    assert understand("my loss keeps jumping between 0.3 and 0.8").symptoms == ("Loss oscillates (loss 0.3, loss 0.8)",)


def test_a_guess_is_no_symptom() -> None:
    request = understand("accuracy fell at epoch 9. random hardware error?")
    assert request.symptoms == ("A metric fell at epoch 9",)


def test_without_words_symptoms_come_from_the_artifacts() -> None:
    assert understand("", context(DIVERGED)).symptoms == (
        "`train/loss` ended at 4.1, far above its low of 0.4 (train.log)",
    )
    assert understand("", context(errors=(error("KeyError: 'x'"),))).symptoms == ("KeyError: 'x' (slurm.err:41)",)
    assert understand("", context(HEALTHY)).symptoms == ()


def test_a_specialist_of_the_users_own_is_matched_by_its_description() -> None:
    brief = AgentBrief("audio-expert", "Use for audio runs: spectrogram shapes, vocoder artefacts, wav loading")
    request = understand("the vocoder spectrogram sounds metallic", None, [brief])
    assert request.ranking[0].specialist == "audio-expert"
    assert "vocoder" in request.ranking[0].reason
    unrelated = understand("loss diverged at epoch 7", None, [brief])
    assert all(ranked.specialist != "audio-expert" for ranked in unrelated.ranking)


def test_who_may_follow_is_ranked_behind() -> None:
    ranking = understand("loss is nan").ranking
    assert [ranked.specialist for ranked in ranking] == ["ml-debugger", "training-monitor"]
    assert ranking[0].score > ranking[1].score
    assert all(ranked.reason for ranked in ranking)


def test_state_is_left_alone_where_the_code_has_no_recurrence() -> None:
    failed = context(errors=(error("RuntimeError: Trying to backward through the graph a second time"),), traits=LOOP)
    assert understand("", failed).ranking[0].specialist == "ml-debugger"


def test_the_table_of_kinds_is_sound() -> None:
    needs = {"series", "errors", "code", "settings", "memory", "outputs", "checkpoints", "data"}
    for name, kind in KINDS.items():
        assert kind.name == name
        assert kind.leads in {"state-debugger", "training-monitor", "ml-debugger"}
        assert kind.leads not in kind.follows
        assert set(kind.needs) <= needs
        assert kind.meaning
