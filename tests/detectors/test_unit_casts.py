"""A cast to integers of what was scaled to the range 0 to 1 empties it; scaled up again before, it does not."""

from __future__ import annotations

from pathlib import Path

import pytest

from traindx.detectors.program import unit_casts
from traindx.readers import Run, Scope

EMPTIED = [
    "u = (x - x.min()) / (x.max() - x.min())\nsave(u.astype(np.uint8))",
    "save(((x - x.min()) / (x.max() - x.min())).astype('uint8'))",
    "u = np.clip(x / 400.0, 0, 1)\nsave(np.uint8(u))",
    "save(torch.clamp(x, 0.0, 1.0).to(torch.uint8))",
    "u = (x - x.amin()) / (x.amax() - x.amin())\nsave(u.byte())",
]
KEPT = [
    "u = (x - x.min()) / (x.max() - x.min())\nsave((u * 255).astype(np.uint8))",
    "u = (x - x.min()) / (x.max() - x.min())\nu = u * 255\nsave(u.astype(np.uint8))",
    "save(np.clip(x, 0, 255).astype(np.uint8))",
    "save((x - x.mean()).astype(np.int32))",
    "u = (x - x.min()) / (x.max() - x.min())\nsave(u.astype(np.float32))",
    "save(x.astype(np.uint8))",
]


def lines(folder: Path, program: str) -> list[str]:
    body = "\n".join(f"    {row}" for row in program.splitlines())
    (folder / "export.py").write_text(f"import numpy as np\nimport torch\n\n\ndef work(x):\n{body}\n")
    return [place.locator for place in unit_casts.detect(Run(Scope.of(folder)).code)]


@pytest.mark.parametrize("program", EMPTIED)
def test_a_cast_that_empties_is_cited(tmp_path: Path, program: str) -> None:
    last = 5 + len(program.splitlines())
    assert lines(tmp_path, program) == [f"line {last}"]


@pytest.mark.parametrize("program", KEPT)
def test_a_cast_that_keeps_is_not(tmp_path: Path, program: str) -> None:
    assert lines(tmp_path, program) == []
