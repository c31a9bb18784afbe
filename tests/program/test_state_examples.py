"""The example at sequence length 1: each broken variant shows its own mistake, the correct one none."""

from __future__ import annotations

from pathlib import Path

import pytest

from traindx.definitions.content import EXAMPLES
from traindx.program.analysis import analyse
from traindx.program.rules import review
from traindx.readers import Run, Scope

FOLDERS = sorted(path.parent for path in (EXAMPLES / "frequency-lstm").glob("*/train.py"))


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_a_variant_shows_its_own_mistake(folder: Path) -> None:
    told = [row.rule for row in review(analyse(Run(Scope.of(folder)).program)) if row.proven]
    assert told == ([] if folder.name == "correct" else [folder.name])
    assert (folder / "train.log").stat().st_size > 0


def test_there_are_eight_mistakes() -> None:
    assert len(FOLDERS) == 9
