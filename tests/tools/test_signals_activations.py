"""Activations: saturated, dead, alive; in logs and in code."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.tools.signal_case import (
    Case,
    case,
    check,
    falling,
    log,
    script,
    table,
    trained,
)

ACTIVE = "check_activations"


def stack(activation: str, depth: int, relief: str = "nn.Identity()") -> dict[str, str]:
    layers = f"nn.Linear(8, 8), nn.{activation}(), " * depth
    return script(f"class Net(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
                  f"        self.body = nn.Sequential({layers}{relief})\n")  # fmt: skip


def logged(**columns: float) -> dict[str, str]:
    return table(loss=falling(), **{name: [value] * 30 for name, value in columns.items()})


def by_layer(**shares: float) -> dict[str, str]:
    rows = [f"{step},{layer},{share},{0.1 * step}" for step in range(30) for layer, share in shares.items()]
    return {"stats.csv": "\n".join(["step,layer,frac_units_never_positive,preact_max", *rows])}


def layers(heading: str, *shares: float) -> dict[str, str]:
    told = " ".join(f"h{n}={share}" for n, share in enumerate(shares, 1))
    return log([f"[{n:04d}] loss={value:.4f} {heading} {told}" for n, value in enumerate(falling(), 1)])


NET = "class Net(nn.Module):\n    def forward(self, x):\n        x = torch.relu(self.a(x))\n        return {}\n"

DEEP = (
    "import torch.nn as nn\n\n\nclass Deep(nn.Module):\n    def __init__(self, d_in, depth={depth}):\n"
    "        super().__init__()\n        self.blocks = nn.ModuleList([nn.Linear(d_in, d_in) for _ in range(depth)])\n"
    "        self.act = nn.Sigmoid()\n\n    def forward(self, x):\n        for block in self.blocks:\n"
    "            x = self.act(block(x))\n        return x\n"
)

STACKED = (
    "import torch\nfrom torch import nn\n\nDEPTH = {depth}\nlayers = []\nfor _ in range(DEPTH):\n"
    "    layers += [nn.Linear(8, 8), nn.Sigmoid()]\nnet = nn.Sequential(*layers, nn.Linear(8, 2))\n"
)


CALLED = (
    "import torch\nimport torch.nn as nn\nimport torch.nn.functional as F\n\n\nclass Block(nn.Module):\n"
    "    def __init__(self, d):\n        super().__init__()\n        self.lin = nn.Linear(d, d)\n\n"
    "    def forward(self, x):\n        return {block}\n\n\nclass Net(nn.Module):\n"
    "    def __init__(self, d=8, depth=10):\n        super().__init__()\n        self.inp = nn.Linear(4, d)\n"
    "        self.blocks = nn.ModuleList([Block(d) for _ in range(depth)])\n        self.out = nn.Linear(d, 1)\n\n"
    "    def forward(self, x):\n        x = self.inp(x)\n        for block in self.blocks:\n            x = {step}\n"
    "        return {out}\n\n\nnet = Net()\nopt = torch.optim.SGD(net.parameters(), lr=0.1)\n"
    "for x, y in [(torch.randn(2, 4), torch.randn(2, 1))] * 9:\n    opt.zero_grad()\n"
    "    F.mse_loss(net(x), y).backward()\n    opt.step()\n"
)


def called(block: str, step: str = "block(x)", out: str = "self.out(x)") -> dict[str, str]:
    return {"net.py": CALLED.format(block=block, step=step, out=out)}


WIDTHS = """\
import torch
from torch import nn

DEPTH = {depth}


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        dims = {widths}
        self.hidden = nn.ModuleList(nn.Linear(a, b) for a, b in zip(dims, dims[1:]))
        self.out = nn.Linear(48, 6)
        self.act = nn.Sigmoid()

    def forward(self, x):
        for layer in self.hidden:
            x = self.act(layer(x))
        return self.out(x)


net = Net()
opt = torch.optim.Adam(net.parameters())
for x, y in data:
    opt.zero_grad()
    nn.functional.cross_entropy(net(x), y).backward()
    opt.step()
"""
CASES = [
    case(ACTIVE, "pinned", logged(saturated_l1=0.8), "activations-saturated", "activations-alive units-dead"),
    case(ACTIVE, "a third pinned", logged(saturated_l1=0.3), silent="activations-saturated activations-alive"),
    case(ACTIVE, "dead", logged(dead_relu_frac=0.7), "units-dead", "activations-alive activations-saturated"),
    case(ACTIVE, "hardly active", logged(active_h1=0.05), "units-dead", "activations-alive"),
    case(ACTIVE, "busy", logged(active_h1=0.9, saturated_l1=0.02), "activations-alive",
         "units-dead activations-saturated"),
    case(ACTIVE, "twelve sigmoids", stack("Sigmoid", 12), "deep-saturating-stack squashing-in-code"),
    case(ACTIVE, "twelve sigmoids with a norm", stack("Sigmoid", 12, "nn.LayerNorm(8)"), "squashing-in-code",
         "deep-saturating-stack"),
    case(ACTIVE, "two sigmoids", stack("Sigmoid", 2), "squashing-in-code", "deep-saturating-stack"),
    case(ACTIVE, "twelve rectifiers", stack("ReLU", 12), silent="deep-saturating-stack squashing-in-code"),
    case(ACTIVE, "beyond .99, by the heading", layers("|h|>.99:", 0.91, 0.93), "activations-saturated"),
    case(ACTIVE, "saturated, by the heading", layers("saturated", 0.91, 0.93), "activations-saturated"),
    case(ACTIVE, "layers of something else", layers("mean", 0.91, 0.93), silent="activations-saturated units-dead"),
    case(ACTIVE, "beyond 0.99, by the name", table(loss=falling(), **{"act/l1_frac_abs_gt_0.99": [0.8] * 30}),
         "activations-saturated"),
    case(ACTIVE, "eight units in use", table(loss=falling(), active_units=[8] * 30), silent="units-dead"),
    case(ACTIVE, "a net that ends in a ReLU", trained(NET.format("torch.relu(self.b(x))")), "relu-at-output"),
    case(ACTIVE, "a net with a ReLU inside", trained(NET.format("self.b(x)")), silent="relu-at-output"),
    case(ACTIVE, "never fires", table(loss=falling(), fc1_never_fires=[1.0] * 30), "units-dead"),
    case(ACTIVE, "of which layer", {"fit.log": "\n".join(
        f"step {n} mse {v:.4f} grad fc1 0 inactive(fc2) 1.00" for n, v in enumerate(falling()))}, "units-dead"),
    case(ACTIVE, "layers listed by a heading", {"fit.log": "\n".join(
        f"epoch {n} | mse {v:.4f} | inactive units l1 100% l2 100% | grad l3 6e-01" for n, v in enumerate(falling()))},
         "units-dead", "activations-alive"),
    case(ACTIVE, "layers that fire", {"fit.log": "\n".join(
        f"epoch {n} | mse {v:.4f} | inactive units l1 4% l2 2% | grad l3 6e-01" for n, v in enumerate(falling()))},
         "activations-alive", "units-dead"),
    case(ACTIVE, "a row for each layer, one of them dead", by_layer(fc1=0.03, fc2=1.0, fc3=0.0), "units-dead",
         "activations-alive"),
    case(ACTIVE, "a row for each layer, all of them busy", by_layer(fc1=0.03, fc2=0.1, fc3=0.0), "activations-alive",
         "units-dead"),
    case(ACTIVE, "one activation for ten layers", {"net.py": DEEP.format(depth=10)}, "deep-saturating-stack"),
    case(ACTIVE, "a list of widths, repeated", {"net.py": WIDTHS.format(widths="[10] + [48] * DEPTH", depth=14)},
         "deep-saturating-stack"),
    case(ACTIVE, "a list of widths, repeated twice", {"net.py": WIDTHS.format(widths="[10] + DEPTH * [48]", depth=2)},
         silent="deep-saturating-stack"),
    case(ACTIVE, "widths one by one", {"net.py": WIDTHS.format(widths="[10, 48, 48]", depth=14)},
         silent="deep-saturating-stack"),
    case(ACTIVE, "a stack in a script", {"net.py": STACKED.format(depth=12)}, "deep-saturating-stack"),
    case(ACTIVE, "a small stack in a script", {"net.py": STACKED.format(depth=3)}, silent="deep-saturating-stack"),
    case(ACTIVE, "a function in each of ten blocks", called("torch.tanh(self.lin(x))"),
         "deep-saturating-stack squashing-in-code", "relu-at-output"),
    case(ACTIVE, "ten blocks with a way around each", called("torch.tanh(self.lin(x))", "x + block(x)"),
         "squashing-in-code", "deep-saturating-stack"),
    case(ACTIVE, "ten blocks that go around themselves", called("x + torch.tanh(self.lin(x))"), "squashing-in-code",
         "deep-saturating-stack"),
    case(ACTIVE, "blocks that end in a ReLU", called("F.relu(self.lin(x))"),
         silent="relu-at-output squashing-in-code deep-saturating-stack"),
    case(ACTIVE, "a rectified output without its last dimension",
         called("F.gelu(self.lin(x))", out="F.relu(self.out(x)).squeeze(-1)"), "relu-at-output"),
    case(ACTIVE, "rectified features that a head reads", script(
        "import torch.nn.functional as F\nenc = nn.Sequential(nn.Linear(4, 8), nn.ReLU())\nhead = nn.Linear(8, 1)\n"
        "opt = torch.optim.SGD([*enc.parameters(), *head.parameters()], lr=0.1)\n"
        "for x, y in [(torch.randn(2, 4), torch.randn(2, 1))] * 9:\n    opt.zero_grad()\n"
        "    F.mse_loss(head(enc(x)), y).backward()\n    opt.step()"), silent="relu-at-output"),
    case(ACTIVE, "a head of one unit that is rectified", script(
        "net = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 1), nn.ReLU())"), "relu-at-output"),
    case(ACTIVE, "a block that ends in a ReLU and is found by its name", script(
        "import torch.nn.functional as F\nclass Block(nn.Module):\n    def __init__(self):\n"
        "        super().__init__()\n        self.a = nn.Linear(4, 4)\n    def forward(self, x):\n"
        "        return F.relu(x + self.a(x))\nclass Net(nn.Module):\n    def __init__(self):\n"
        "        super().__init__()\n        self.head = nn.Linear(4, 1)\n        self.names = []\n"
        "        for k in range(2):\n            self.add_module(f'block{k}', Block())\n"
        "            self.names.append(f'block{k}')\n    def forward(self, x):\n        for name in self.names:\n"
        "            x = getattr(self, name)(x)\n        return self.head(x)\nnet = Net()\n"
        "opt = torch.optim.SGD(net.parameters(), lr=0.1)\n"
        "for x, y in [(torch.randn(2, 4), torch.randn(2, 1))] * 9:\n    opt.zero_grad()\n"
        "    F.mse_loss(net(x), y).backward()\n    opt.step()"), silent="relu-at-output"),
    case(ACTIVE, "one activation for two layers", {"net.py": DEEP.format(depth=2)}, silent="deep-saturating-stack"),
]  # fmt: skip


@pytest.mark.parametrize("found", CASES, ids=lambda found: found.label)
def test_a_signal_fires_where_it_must_and_only_there(found: Case, tmp_path: Path) -> None:
    check(found, tmp_path)
