"""Decorators of the program itself: what they return is what is called."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.program.samples import found

PROGRAM = """\
from timing import measured


class Pair(nn.Module):
    def __init__(self):
        super().__init__()
        self.enc, self.out = nn.Linear(8, 16), nn.Linear(16, 3)

    @measured
    def embed(self, x):
        return torch.tanh(self.enc(x))

    def forward(self, x):
        return self.out(self.embed(x))


net = Pair()
opt = torch.optim.Adam(net.parameters())
for x, y in loader:
    loss = F.cross_entropy(net(x), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
# file: timing.py
import functools
import torch


def measured(function):
    @functools.wraps(function)
    def inner(self, *args):
        with torch.{mode}():
            return function(self, *args)

    return inner
"""


@pytest.mark.parametrize(("mode", "rules"), [("no_grad", ["broken-gradient-path"]), ("enable_grad", [])])
def test_gradients_that_a_decorator_switches_off_are_missed(mode: str, rules: list[str], tmp_path: Path) -> None:
    findings = found(PROGRAM.replace("{mode}", mode), tmp_path)
    assert [one.rule for one in findings if one.proven] == rules
