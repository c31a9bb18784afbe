"""A number comes with its norm: chance, what is usual, the run's own earlier part, a run that went better."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from traindx.brains.llm.norms import NORMS, Norms
from traindx.readers import Scope
from traindx.runtime import Toolbelt


def log(values: list[float], **more: float) -> str:
    extra = "".join(f" {name} {value}" for name, value in more.items())
    return "".join(f"step {step} loss {value:.4f}{extra}\n" for step, value in enumerate(values))


FALLING = [2.3 * 0.9**step for step in range(24)]
RISING = [2.3 * 1.1**step for step in range(24)]
CASES: list[tuple[str, dict[str, str], list[str]]] = [
    (
        "the usual range",
        {"config.yaml": "lr: 0.4\noptimizer: sgd\n", "train.log": log(FALLING)},
        ["lr = 0.4 (config.yaml:1): usual for sgd: 0.0005 to 0.5"],
    ),
    (
        "chance",
        {"config.yaml": "num_classes: 10\n", "train.log": log(FALLING)},
        ["`loss`: chance is ln 10 = 2.303 (num_classes, config.yaml:1)"],
    ),
    (
        "the threshold beside the norms",
        {"config.yaml": "max_grad_norm: 1.0\n", "train.log": log(FALLING, grad_norm=4.0)},
        ["max_grad_norm = 1.0 (config.yaml:1): 100% of the logged norms are above it"],
    ),
    ("its own past", {"train.log": log(FALLING)}, ["`loss` (train.log): median of the first quarter"]),
    (
        "a run that went better",
        {"good/train.log": log(FALLING), "bad/train.log": log(RISING)},
        ["`loss`: in `good`, which went best, 2.3 to 0.2038 (step 0 to 23); in `bad` 2.3 to 20.59"],
    ),
    ("nothing to compare", {"train.log": log(FALLING[:4])}, []),
]


def norms(folder: Path, files: Mapping[str, str]) -> list[str]:
    for name, text in files.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text)
    with Toolbelt(Scope.of(folder)) as tools:
        return Norms.model_validate(tools.run(NORMS).output).rows


@pytest.mark.parametrize(("what", "files", "expected"), CASES, ids=[row[0] for row in CASES])
def test_a_number_comes_with_its_norm(tmp_path: Path, what: str, files: dict[str, str], expected: list[str]) -> None:
    rows = norms(tmp_path, files)
    assert bool(rows) == bool(expected), what
    for row in expected:
        assert any(said.startswith(row) or row in said for said in rows), (what, rows)
