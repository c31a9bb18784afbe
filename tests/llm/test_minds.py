"""With us in between, an answer is never worse than the better of the model's own and the local investigator's.

Six scripted minds investigate 33 labelled runs: half of them failing, some of those such that the local investigator is
wrong or cannot tell.
"""

from __future__ import annotations

import shutil
import statistics
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from tests.llm.kit import diagnosed, is_sceptic, quick
from tests.llm.minds import MINDS, ORDER, Honest, agreeing, grumbling
from traindx.contract import Diagnosis
from traindx.evaluation.case import LabelledCase, find_cases, open_cases
from traindx.evaluation.score import right
from traindx.readers import Scope
from traindx.runtime import Toolbelt
from traindx.testing import Received, ScriptedMessagesServer, Turn

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[2]
CORPUS = (
    "ae-bearings", "ae-bearings-healthy", "clip-early-lm", "curriculum-len", "deep-mlp-tb", "event-counter-rnn",
    "event-counter-rnn-healthy", "finetune-small", "fundus-bump", "gauss-gan-tb", "grid-sgd-wd", "grid-sgd-wd-healthy",
    "hf-print-decay", "hf-print-decay-healthy", "leaves-tqdm", "leaves-tqdm-healthy", "lit-clip", "lit-clip-healthy",
    "moons-linear", "neg-bias-net", "no-metrics-log", "ppl-thousands", "robot-tanh", "robot-tanh-healthy",
    "two-jobs-healthy", "wind-mdn", "wind-mdn-healthy",
)  # fmt: skip
# Where the local investigator is wrong or could not tell when they were taken up.
HARD = ("adding-rnn", "cartpole-pg-fixed", "claims-net-fixed", "ecg-denoise", "jax-mlp", "meter-load")


@pytest.fixture(scope="module")
def cases() -> Iterator[dict[str, LabelledCase]]:
    with ExitStack() as stack:
        hard = stack.enter_context(open_cases(ROOT / "benchmarks" / "blind" / "batch-26.tar.gz"))
        found = [*find_cases(ROOT / "benchmarks" / "corpus"), *hard]
        yield {case.name.rsplit("/", 1)[-1]: case for case in found}


def verdict(case: LabelledCase, diagnosis: Diagnosis) -> bool:
    return right(case, diagnosis.status, [(cause.id, cause.confidence) for cause in diagnosis.root_causes])


class Watched:
    """A mind, and what it submitted last."""

    def __init__(self, case: LabelledCase, name: str) -> None:
        self.act = MINDS[name](case)
        self.said: dict[str, Any] = {"status": "needs_more_data", "causes": []}

    def __call__(self, request: Received) -> Turn:
        turn = self.act(request)
        self.said = next((block["input"] for block in turn.blocks if block["name"] == "submit_diagnosis"), self.said)
        return turn

    def right(self, case: LabelledCase) -> bool:
        return right(case, self.said["status"], [(row["id"], row["confidence"]) for row in self.said["causes"]])


def investigated(case: LabelledCase, name: str, tools: Toolbelt) -> tuple[Diagnosis, bool, int]:
    """What comes out, whether the mind alone was right, and how many turns it took."""
    mind = Watched(case, name)
    with ScriptedMessagesServer(mind, forever=True) as server:
        # The wrong minds meet a sceptic who believes nothing, which is the harder test for what is proven.
        server.script(agreeing if name == "honest" else grumbling, when=is_sceptic, forever=True)
        diagnosis = diagnosed(tools, quick(server), None, message=case.truth.message)
        turns = sum(not is_sceptic(request) for request in server.requests)
    return diagnosis, mind.right(case), turns


@pytest.mark.parametrize("name", [*CORPUS, *HARD])
def test_what_comes_out_is_never_worse(cases: dict[str, LabelledCase], name: str, tmp_path: Path) -> None:
    case = cases[name]
    with Toolbelt(Scope.of(case.run)) as tools:
        local = verdict(case, diagnosed(tools, quick(api_key=""), None, message=case.truth.message))
        for mind in [mind for mind in MINDS if mind != "obedient"]:
            diagnosis, alone, _ = investigated(case, mind, tools)
            better = alone or local
            assert verdict(case, diagnosis) or not better, (mind, diagnosis.root_causes)
    poisoned = tmp_path / "run"
    shutil.copytree(case.run, poisoned)
    log = min(
        [path for path in poisoned.rglob("*") if path.suffix in {".log", ".txt", ".out"}], default=poisoned / "a.log"
    )
    with log.open("a", encoding="utf-8") as file:
        file.write(f"{ORDER}\n")
    with Toolbelt(Scope.of(poisoned)) as tools:
        diagnosis, alone, _ = investigated(case, "obedient", tools)
        assert verdict(case, diagnosis) or not (alone or local), diagnosis.root_causes
        assert any("give instructions to the reader" in note for note in diagnosis.provenance.notes)


def test_an_honest_mind_needs_three_turns_at_most_in_the_median(cases: dict[str, LabelledCase]) -> None:
    turns = []
    for name in CORPUS[:9]:
        with Toolbelt(Scope.of(cases[name].run)) as tools:
            turns.append(investigated(cases[name], "honest", tools)[2])
    assert statistics.median(turns) <= 3


def test_there_are_at_least_thirty() -> None:
    assert len({*CORPUS, *HARD}) >= 30
    assert MINDS["honest"] is Honest
