"""States that training loops hand on, followed into helpers, methods and fields of modules."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.tools.signal_case import Case, case, check

STATES = "check_recurrent_state"
HELPER = """\
import torch
from torch import nn

rnn = nn.GRU(4, 8)
opt = torch.optim.Adam(rnn.parameters())


def cut(h):
    return {cut}


def advance(x, h):
    out, h = rnn(x, h)
    loss = out.mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    return loss, {back}


h = torch.zeros(1, 2, 8)
for x in batches:
    loss, h = advance(x, h)
"""
FIELD = """\
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.cell = nn.GRUCell(4, 8)
        self.h = torch.zeros(2, 8)

    def forward(self, x):
        self.h = self.cell(x, {given})
        return self.h


net = Net()
opt = torch.optim.Adam(net.parameters())
for x in batches:
    {first}
    loss = net(x).mean()
    opt.zero_grad()
    loss.backward({arguments})
    opt.step()
"""
FORWARD = """\
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.cell = nn.GRUCell(4, 8)

    def forward(self, xs):
        h = torch.zeros(2, 8)
        for x in xs:
            h = self.cell(x, h)
        return h


net = Net()
opt = torch.optim.Adam(net.parameters())
for xs in batches:
    loss = net(xs).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
"""


def helper(back: str, cut: str = "h.detach()") -> dict[str, str]:
    return {"train.py": HELPER.format(cut=cut, back=back)}


def field(given: str = "self.h", first: str = "pass", arguments: str = "") -> dict[str, str]:
    return {"train.py": FIELD.format(given=given, first=first, arguments=arguments)}


CASES = [
    case(STATES, "a helper that gives the state back", helper("h"), "state-carried-undetached", "state-detached"),
    case(STATES, "a helper that gives it back cut", helper("cut(h)"), "state-detached", "state-carried-undetached"),
    case(STATES, "a helper that cuts nothing", helper("cut(h)", "h * 1.0"), "state-carried-undetached"),
    case(STATES, "a state in a field", field(), "state-carried-undetached", "retain-graph-used"),
    case(STATES, "a state in a field, cut where it is used", field("self.h.detach()"),
         silent="state-carried-undetached"),
    case(STATES, "a state in a field, cut by the loop", field(first="net.h = net.h.detach()"),
         silent="state-carried-undetached"),
    case(STATES, "graphs that are kept for a state in a field", field(arguments="retain_graph=True"),
         "state-carried-undetached retain-graph-used"),
    case(STATES, "a module that begins anew in each call", {"train.py": FORWARD},
         silent="state-carried-undetached state-detached"),
]  # fmt: skip


@pytest.mark.parametrize("found", CASES, ids=lambda found: found.label)
def test_a_signal_fires_where_it_must_and_only_there(found: Case, tmp_path: Path) -> None:
    check(found, tmp_path)
