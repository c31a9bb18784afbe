"""Whether a place that is held against evidence contradicts it, bears on it, or has nothing to do with it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from traindx.contract import Evidence
from traindx.diagnosis.evidence.bearing import Bearing, bearings
from traindx.readers import Scope
from traindx.runtime import Toolbelt

CONFIG = """\
lr: 0.4
batch_size: 64
clip: 1.0
optimizer: adam
"""
PROGRAM = """\
import torch

LR = 0.4
optimizer = torch.optim.SGD(model.parameters(), lr=LR)
# optimizer = torch.optim.SGD(model.parameters(), lr=4.0)
for step, (x, y) in enumerate(loader):
    loss = loss_of(model(x), y)
    loss.backward()
    optimizer.step()
















def unrelated():
    return 7
"""
LOG = "\n".join(
    [
        "INFO lr: 0.001 batch_size: 64",
        *(f"step {step} loss {2.0 / step:.4f} grad_norm 1.0" for step in range(1, 10)),
        "step 10 loss 9.5000 grad_norm 80.0",
        "ERROR: worker 3 lost its connection",
        *(f"step {step} loss {2.0 / step:.4f} grad_norm 1.0" for step in range(11, 40)),
        "",
    ]
)


@pytest.fixture(scope="module")
def tools(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Toolbelt]:
    run = tmp_path_factory.mktemp("run")
    (run / "config.yaml").write_text(CONFIG)
    (run / "train.py").write_text(PROGRAM)
    (run / "train.log").write_text(LOG)
    with Toolbelt(Scope.of(run)) as toolbelt:
        yield toolbelt


def place(source: str, locator: str, quote: str) -> Evidence:
    return Evidence(claim="as it stands there", kind="direct", source=source, locator=locator, quote=quote)


RATE = place("config.yaml", "line 1", "lr: 0.4")
STEP = place("train.py", "line 9", "optimizer.step()")
JUMP = place("train.log", "step 10 of loss", "9.5")
ERROR = place("train.log", "line 12", "ERROR: worker 3 lost its connection")
CONTRADICTS = [
    ("what was printed overrules what was configured", RATE, place("train.log", "line 1", "lr: 0.001")),
    ("the run went on after the error", ERROR, place("train.log", "line 20", "step 18 loss 0.1111")),
    ("the curve came back", JUMP, place("train.log", "step 30 of loss", "0.0667")),
    ("the line is a comment, read whole",
     place("train.py", "line 5", "torch.optim.SGD(model.parameters(), lr=4.0)"),
     place("train.py", "line 5", "# optimizer = torch.optim.SGD(")),
]  # fmt: skip
BEARS = [
    ("the line beside it", STEP, place("train.py", "line 8", "loss.backward()")),
    ("another value of the same quantity, which is not in force", place("train.log", "line 1", "lr: 0.001"), RATE),
]
NOTHING = [
    ("the first line of the program", RATE, place("train.py", "line 1", "import torch")),
    ("another setting of the same file", RATE, place("config.yaml", "line 2", "batch_size: 64")),
    ("the same place again", RATE, RATE),
    ("a quote that is not there", RATE, place("train.log", "line 1", "lr: 0.0001")),
    ("a file that is not there", RATE, place("other.log", "line 1", "lr: 0.001")),
    ("code far away", STEP, place("train.py", "line 27", "return 7")),
    ("an earlier point of the same curve", JUMP, place("train.log", "step 3 of loss", "0.6667")),
    ("another curve at the same step", JUMP, place("train.log", "step 10 of grad_norm", "80.0")),
    ("a step that was logged before the error", ERROR, place("train.log", "line 3", "step 2 loss 1.0")),
]


def verdict(tools: Toolbelt, support: Evidence, contrary: Evidence) -> Bearing:
    return bearings([(support, contrary)], tools)[0]


@pytest.mark.parametrize(("what", "support", "contrary"), CONTRADICTS, ids=[row[0] for row in CONTRADICTS])
def test_it_contradicts(tools: Toolbelt, what: str, support: Evidence, contrary: Evidence) -> None:
    found = verdict(tools, support, contrary)
    assert found.how == "contradicts", (what, found)
    assert found.why


@pytest.mark.parametrize(("what", "support", "contrary"), BEARS, ids=[row[0] for row in BEARS])
def test_it_speaks_of_the_same_and_does_not_contradict(
    tools: Toolbelt, what: str, support: Evidence, contrary: Evidence
) -> None:
    assert verdict(tools, support, contrary).how == "bears", what


@pytest.mark.parametrize(("what", "support", "contrary"), NOTHING, ids=[row[0] for row in NOTHING])
def test_it_has_nothing_to_do_with_it(tools: Toolbelt, what: str, support: Evidence, contrary: Evidence) -> None:
    found = verdict(tools, support, contrary)
    assert found.how == "nothing", (what, found)
