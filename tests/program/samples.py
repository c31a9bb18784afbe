"""The programs beside the rules, and following a program that is given as text."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from traindx.program.analysis import Analysis, analyse
from traindx.program.finding import Finding
from traindx.program.rules import review, rules
from traindx.readers import Run, Scope

PRELUDE = """\
import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

X, Y = torch.randn(512, 8), torch.randint(0, 3, (512,))
loader = DataLoader(TensorDataset(X[:400], Y[:400]), batch_size=32, shuffle=True)
val_loader = DataLoader(TensorDataset(X[400:], Y[400:]), batch_size=32)
model = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 3))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
"""


class Sample(NamedTuple):
    """A program beside a rule."""

    rule: str
    kind: str
    """`Buggy`, `Suspicious` or `Correct`"""
    number: int
    code: str

    @property
    def label(self) -> str:
        return f"{self.rule}-{self.kind.lower()}-{self.number}"


def samples() -> Iterator[Sample]:
    """Every program beside every rule."""
    for rule in rules():
        page = rule.path.with_suffix(".md").read_text(encoding="utf-8")
        for heading, part in re.findall(
            r"^## (Buggy|Suspicious|Correct)\n(.*?)(?=^## |\Z)", page, re.MULTILINE | re.DOTALL
        ):
            for number, code in enumerate(re.findall(r"```python\n(.*?)```", part, re.DOTALL), 1):
                yield Sample(rule.id, heading, number, code)


def followed(code: str, folder: Path, prelude: str = PRELUDE) -> Analysis:
    """The analysis of a program; `# file: name.py` starts another file of it."""
    files = re.split(r"^# file: (\S+)\n", code, flags=re.MULTILINE)
    (folder / "train.py").write_text(prelude + files[0], encoding="utf-8")
    for name, text in zip(files[1::2], files[2::2], strict=True):
        (folder / name).write_text(text, encoding="utf-8")
    return analyse(Run(Scope.of(folder)).program)


def found(code: str, folder: Path, prelude: str = PRELUDE) -> list[Finding]:
    """What the rules find in a program."""
    return review(followed(code, folder, prelude))
