"""What the code alone shows: initialisation and unguarded mathematics."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.tools.signal_case import (
    Case,
    case,
    check,
    script,
    trained,
)

INIT, MATH, RULES = "check_initialisation", "check_math", "check_code_rules"


def initialised(line: str) -> dict[str, str]:
    return script(
        f"def start(net):\n    for m in net.modules():\n        if isinstance(m, nn.Linear):\n            {line}\n"
    )


SKIPPING = """\
import torch
from torch import nn

net = nn.Linear(4, 4)
opt = torch.optim.Adam(net.parameters())
for x in batches:
    d = net(x) - x
    loss = {root}.mean()
    opt.zero_grad()
    loss.backward()
    if all(torch.isfinite(p.grad).all() for p in net.parameters()):
        opt.step()
"""


BY_KIND = """\
class Net(nn.Module):
    def __init__(self, spread={spread}):
        super().__init__()
        self.emb = nn.Embedding(100, 32)
        self.a, self.norm, self.b = nn.Linear(32, 64), nn.LayerNorm(64), nn.Linear(64, 10)
        self.spread = spread
        self.apply(self._init_weights)

    def _init_weights(self, module):
        if isinstance(module, {kinds}):
            {line}


net = Net()
"""


WAYS = """\
import argparse

args = argparse.ArgumentParser().parse_args()


def start(way, gain=0.1):
    def apply(m):
        if isinstance(m, nn.Linear):
            if way == "constant":
                nn.init.constant_(m.weight, gain)
            elif way == "xavier":
                nn.init.xavier_uniform_(m.weight)
    return apply


net = nn.Sequential(nn.Linear(8, 16), nn.Tanh(), nn.Linear(16, 3))
net.apply(start({way}))
"""


def by_kind(kinds: str, line: str, spread: float = 0.02) -> dict[str, str]:
    return script(BY_KIND.format(kinds=kinds, line=line, spread=spread))


def keras(initializer: str, spread: float) -> dict[str, str]:
    return {"train.py": f"from tensorflow import keras\n\nSPREAD = {spread}\n"
            "net = keras.Sequential([keras.layers.Dense(64, activation='relu', "
            f"kernel_initializer=keras.initializers.{initializer}), keras.layers.Dense(1)])\n"}  # fmt: skip


def loss(line: str) -> dict[str, str]:
    return script(f"def loss(p, y, mask):\n    {line}\n")


WIDE = "module.weight.data.normal_(0.0, self.spread)"

CASES = [
    case(RULES, "a detach whose result is lost", script("def step(h):\n    h.detach()  # cut\n    return h"),
         "detach-discarded"),
    case(RULES, "a detach of one part of a tuple", script("def step(state):\n    state[0].detach()\n    return state"),
         "detach-discarded"),
    case(RULES, "a detach that is assigned", script("def step(h):\n    h = h.detach()\n    return h"),
         silent="detach-discarded"),
    case(RULES, "a detach in place", script("def step(h):\n    h.detach_()\n    return h"), silent="detach-discarded"),
    case(RULES, "a detach that is passed on", script("def step(h, log):\n    log(h.detach())\n    return h.detach()"),
         silent="detach-discarded"),
    case(INIT, "a spread of two", initialised("nn.init.normal_(m.weight, std=2.0)"), "init-too-wide",
         "init-ordinary init-constant"),
    case(INIT, "a spread of two for the bias", initialised("nn.init.normal_(m.bias, std=2.0)"), silent="init-too-wide"),
    case(INIT, "a constant that the program chooses", script(WAYS.format(way='"constant"')),
         "init-constant"),
    case(INIT, "a way that the command line chooses", script(WAYS.format(way="args.way")), silent="init-constant"),
    case(INIT, "one constant", initialised("nn.init.constant_(m.weight, 0.1)"), "init-constant", "init-ordinary"),
    case(INIT, "zeros for the bias", initialised("nn.init.zeros_(m.bias)"), silent="init-constant"),
    case(INIT, "one head of zeros", script("net = Net()\nnn.init.zeros_(net.head.weight)"), silent="init-constant"),
    case(INIT, "zeros for some weights by name",
         script("net = Net()\nfor name, p in net.named_parameters():\n    if 'proj' in name:\n        p.zero_()"),
         silent="init-constant"),
    case(INIT, "zeros for all weights by name",
         script("net = Net()\nfor name, p in net.named_parameters():\n    if 'weight' in name:\n        p.zero_()"),
         "init-constant"),
    case(INIT, "a spread of 0.02", initialised("nn.init.normal_(m.weight, std=0.02)"), "init-ordinary",
         "init-too-wide init-constant"),
    case(INIT, "a spread that the constructor is given", by_kind("nn.Linear", WIDE, 2.0), "init-too-wide"),
    case(INIT, "a small spread that it is given", by_kind("nn.Linear", WIDE), "init-ordinary", "init-too-wide"),
    case(INIT, "a wide embedding", by_kind("nn.Embedding", WIDE, 1.0), silent="init-too-wide"),
    case(INIT, "ones for a norm", by_kind("nn.LayerNorm", "nn.init.ones_(module.weight)"), silent="init-constant"),
    case(INIT, "one constant for linear layers", by_kind("nn.Linear", "module.weight.data.fill_(0.1)"),
         "init-constant"),
    case(INIT, "ones for a norm of a net that is not there",
         initialised("pass\n        elif isinstance(m, nn.BatchNorm2d):\n            nn.init.constant_(m.weight, 1)"),
         silent="init-constant"),
    case(INIT, "ones for norms of two kinds that are asked for one by one",
         initialised("pass\n        elif isinstance(m, nn.BatchNorm2d) or isinstance(m, nn.BatchNorm3d):\n"
                     "            nn.init.constant_(m.weight, 1)"), silent="init-constant"),
    case(INIT, "zeros for vectors", script("net = Net()\nfor p in net.parameters():\n    if p.dim() > 1:\n"
         "        nn.init.xavier_uniform_(p)\n    else:\n        nn.init.zeros_(p)"), "init-ordinary", "init-constant"),
    case(INIT, "zeros for projections among known layers", script("net = nn.ModuleDict({'q': nn.Linear(4, 4), "
         "'proj': nn.Linear(4, 4), 'proj2': nn.Linear(4, 4)})\nfor name, m in net.named_modules():\n"
         "    if 'proj' in name:\n        nn.init.zeros_(m.weight)"), silent="init-constant"),
    case(INIT, "biases far below zero by a name", script("LOW = -6.0\nnet = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), "
         "nn.Linear(8, 2))\nfor m in net:\n    if isinstance(m, nn.Linear):\n        nn.init.constant_(m.bias, LOW)"),
         "init-bias-silences"),
    case(INIT, "one bias far below zero", script("net = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 1))\n"
         "nn.init.constant_(net[-1].bias, -4.6)"), silent="init-bias-silences"),
    case(INIT, "a wide initializer of Keras", keras("RandomNormal(stddev=SPREAD)", 1.0), "init-too-wide"),
    case(INIT, "an ordinary initializer of Keras", keras("RandomUniform(-SPREAD, SPREAD)", 0.05), "init-ordinary",
         "init-too-wide"),
    case(INIT, "an initializer of Keras that chooses its own spread", keras("HeNormal()", 1.0),
         silent="init-too-wide init-ordinary init-constant"),
    case(INIT, "the library's own", script("net = nn.Linear(4, 4)"),
         silent="init-ordinary init-too-wide init-constant"),
    case(MATH, "a division by a count that is at least one",
         loss("return ((p - y) ** 2).sum() / max((y > 0).sum(), 1)"), silent="math-unguarded"),
    case(MATH, "steps only where gradients are finite", {"train.py": SKIPPING.format(root="d.clamp(min=0).sqrt()")},
         "math-unguarded non-finite-steps-left-out"),
    case(MATH, "the same with a guarded root", {"train.py": SKIPPING.format(root="d.clamp(min=1e-6).sqrt()")},
         silent="math-unguarded non-finite-steps-left-out"),
    case(MATH, "a bare logarithm", loss("return -(y * torch.log(p)).mean()"), "math-unguarded", "math-guarded"),
    case(MATH, "a logarithm with an epsilon", loss("return -(y * torch.log(p + 1e-8)).mean()"), "math-guarded",
         "math-unguarded"),
    case(MATH, "a clamped logarithm", loss("return -(y * torch.log(p.clamp(min=1e-6))).mean()"), "math-guarded",
         "math-unguarded"),
    case(MATH, "a logarithm of a softmax", loss("return -(y * torch.log(torch.softmax(p, -1))).mean()"),
         "math-unguarded"),
    case(MATH, "divided by a sum that may be zero", loss("return ((p - y) ** 2 * mask).sum() / mask.sum()"),
         "math-unguarded"),
    case(MATH, "divided by a clamped sum", loss("return ((p - y) ** 2 * mask).sum() / mask.sum().clamp(min=1)"),
         silent="math-unguarded"),
    case(MATH, "a bare root", loss("return torch.sqrt(((p - y) ** 2).sum(-1)).mean()"), "math-unguarded"),
    case(MATH, "no such operation", loss("return ((p - y) ** 2).mean()"), silent="math-unguarded math-guarded"),
    case(INIT, "zeros in a last layer",
         trained("net = build()\nfor p in net[-1].parameters():\n    nn.init.zeros_(p)\n"), silent="init-constant"),
    case(INIT, "zeros everywhere",
         trained("net = build()\nfor p in net.parameters():\n    nn.init.zeros_(p)\n"), "init-constant"),
    case(MATH, "a logarithm of one plus anything",
         {"train.py": "import torch\ndef f(p, y):\n    return ((torch.log1p(p) - torch.log1p(y)) ** 2).mean()\n"},
         "math-unguarded"),
    case(MATH, "a logarithm of one plus what is not negative",
         {"train.py": "import torch\ndef f(p):\n    return torch.log1p(torch.relu(p)).mean()\n"},
         silent="math-unguarded"),
]  # fmt: skip


@pytest.mark.parametrize("found", CASES, ids=lambda found: found.label)
def test_a_signal_fires_where_it_must_and_only_there(found: Case, tmp_path: Path) -> None:
    check(found, tmp_path)
