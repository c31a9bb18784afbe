"""Unguarded mathematics, followed through helpers, methods, constants, arguments and configuration."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.tools.signal_case import Case, case, check

MATH = "check_math"
TRAINED = """\
import torch
import torch.nn.functional as F
from torch import nn
{before}

class Net(nn.Module):
    def __init__(self, eps=1e-6):
        super().__init__()
        self.eps = eps
        self.body, self.head = nn.Linear(8, 16), nn.Linear(16, 3)

    def forward(self, x):
        return self.head(torch.tanh(self.body(x)))


net = Net()
opt = torch.optim.Adam(net.parameters())
for x, y, mask in batches:
    out = net(x)
    {loss}
    opt.zero_grad()
    loss.backward()
    opt.step()
"""


def trained(loss: str, before: str = "") -> dict[str, str]:
    return {"train.py": TRAINED.format(loss=loss, before=before)}


def told(name: str, after: str, before: str = "") -> Case:
    """The gradients are there: what is computed now is looked at, not learned from."""
    program = TRAINED.replace("    opt.step()", f"    {after}\n    opt.step()")
    files = {"train.py": program.format(loss="loss = out.mean()", before=before)}
    return case(MATH, f"after the backward pass, {name}", files, silent="math-unguarded")


def bad(name: str, loss: str, before: str = "") -> Case:
    return case(MATH, name, trained(loss, before), "math-unguarded", "math-guarded")


def good(name: str, loss: str, before: str = "") -> Case:
    return case(MATH, name, trained(loss, before), silent="math-unguarded")


KEPT = "def keep(p, least=1e-7):\n    return p.clamp(min=least)\n"
SHARES = "def shares(x):\n    e = torch.exp(x - x.max(-1, keepdim=True)[0])\n    return e / e.sum(-1, keepdim=True)\n"
RAW = "def shares(x):\n    e = torch.exp(x)\n    return e / e.sum(-1, keepdim=True)\n"
CASES = [
    good("a helper that clamps", "loss = -(y * torch.log(keep(out.softmax(-1)))).mean()", KEPT),
    bad("a helper that is told to clamp at zero", "loss = -torch.log(keep(out.softmax(-1), 0.0)).mean()", KEPT),
    bad("a helper that only turns",
        "loss = -torch.log(turn(out.softmax(-1))).mean()", "def turn(p):\n    return p.t()"),
    good("an epsilon of the model", "loss = -torch.log(out.sigmoid() + net.eps).mean()"),
    good("an epsilon that is a constant", "loss = -torch.log(out.sigmoid() + TINY).mean()", "TINY = 1e-9"),
    bad("a constant of zero", "loss = -torch.log(out.sigmoid() + TINY).mean()", "TINY = 0.0"),
    bad("the other side of a probability", "p = out.sigmoid()\n    loss = -torch.log(1 - p).mean()"),
    good("one plus a square", "loss = torch.log(1 + out ** 2).mean()"),
    good("one plus an exponential", "loss = torch.log(1 + torch.exp(-out)).mean()"),
    bad("one minus a square", "loss = torch.log(1 - torch.tanh(out) ** 2).mean()"),
    good("one minus a square, lifted", "loss = torch.log(1 - torch.tanh(out) ** 2 + 1e-6).mean()"),
    bad("a cosine plus a little", "loss = torch.log(F.cosine_similarity(out, y) + 1e-6).mean()"),
    bad("a distance", "loss = ((out - y) ** 2).sum(-1).sqrt().mean()"),
    good("a distance, lifted", "loss = (((out - y) ** 2).sum(-1) + 1e-12).sqrt().mean()"),
    good("a root of what only underflow makes zero", "loss = torch.sqrt(out.softmax(-1)).mean()"),
    good("a clamp in place", "p = out.softmax(-1)\n    p.clamp_(min=1e-8)\n    loss = -p.log().mean()"),
    bad("a masked mean", "loss = (((out - y) ** 2) * mask).sum() / mask.sum()"),
    good("a masked mean of at least one",
         "loss = (((out - y) ** 2) * mask).sum() / torch.clamp(mask.sum(), min=1)"),
    good("a masked mean where the mask is asked",
         "loss = (out * mask).sum() / mask.sum() if mask.sum() > 0 else out.sum()"),
    good("a masked mean under a condition",
         "loss = out.sum()\n    if mask.sum() > 0:\n        loss = (out * mask).sum() / mask.sum()"),
    good("a softmax by hand, below its largest", "loss = -torch.log(shares(out) + 1e-8).mean()", SHARES),
    bad("a softmax by hand", "loss = -torch.log(shares(out) + 1e-8).mean()", RAW),
    bad("a norm", "z = out / out.norm(dim=-1, keepdim=True)\n    loss = (z - y).pow(2).mean()"),
    good("a norm of at least a little",
         "z = out / out.norm(dim=-1, keepdim=True).clamp_min(1e-8)\n    loss = (z - y).pow(2).mean()"),
    good("replaced where it is zero",
         "n = mask.sum(1)\n    n = torch.where(n == 0, torch.ones_like(n), n)\n    loss = (out.sum(1) / n).mean()"),
    bad("an exponential of a layer", "loss = torch.exp(out).mean()"),
    good("an exponential of a bounded layer", "loss = torch.exp(out.clamp(max=10)).mean()"),
    good("an exponential of a negative distance", "loss = torch.exp(-((out - y) ** 2)).mean()"),
    bad("an angle", "loss = torch.acos(F.cosine_similarity(out, y)).mean()"),
    good("an angle that is kept off its ends",
         "loss = torch.acos(F.cosine_similarity(out, y).clamp(-1 + 1e-6, 1 - 1e-6)).mean()"),
    bad("a module that squashes, then a logarithm", "loss = -torch.log(squash(out)).mean()", "squash = nn.Sigmoid()"),
    good("a module that keeps values positive", "loss = -torch.log(up(out)).mean()", "up = nn.Softplus()"),
    good("a logarithm that is only told", 'loss = out.mean()\n    print(f"psnr {-10 * torch.log10(loss):.2f}")'),
    good("a root that is only told", "loss = out.pow(2).mean()\n    rmse = loss.sqrt().item()"),
    good("the norm of gradients",
         "loss = out.mean()\n    g = torch.sqrt(sum((p.grad ** 2).sum() for p in net.parameters()))"),
    told("the norm of gradients", "norm = torch.sqrt(sum(p.grad.pow(2).sum() for p in net.parameters()))"),
    told("the norm of gradients, stacked",
         "norm = torch.stack([p.grad.square().sum() for p in net.parameters()]).sum().sqrt()"),
    told("the norm of gradients that are there",
         "norm = sum(p.grad.data.norm(2) ** 2 for p in net.parameters() if p.grad is not None) ** 0.5"),
    told("the norm of weights", "size = torch.sqrt(sum((p * p).sum() for p in net.parameters()))"),
    told("the length of a state", "size = out.pow(2).sum().sqrt()"),
    told("a norm of one's own", "norm = length(net)",
         "def length(net):\n    return torch.sqrt(sum((p.grad ** 2).sum() for _, p in net.named_parameters()))\n"),
    bad("a distance, before the next backward pass of the same step",
        "loss = out.mean()\n    loss.backward()\n    loss = ((out - y) ** 2).sum().sqrt()"),
    bad("a logarithm of what was learned", "loss = torch.log(out.softmax(-1)).mean()"),
    good("the whole series standardised", "loss = out.mean()",
         "series = torch.randn(900)\nseries = series / series.std()"),
    bad("each column standardised", "loss = out.mean()", "X = torch.randn(900, 8)\nX = (X - X.mean(0)) / X.std(0)"),
    good("a power of a width", "loss = (out * scale(16)).mean()", "def scale(width):\n    return width ** -0.5\n"),
    good("a branch that the settings rule out", "loss = torch.log(out).mean() if USE else out.mean()", "USE = False"),
    bad("a method that nothing calls", "loss = out.mean()",
        "class Gauss(nn.Module):\n    def nll(self, x, mu, var):\n"
        "        return (torch.log(var) + (x - mu) ** 2).mean()\n"),
    good("a method that nothing calls, guarded", "loss = out.mean()",
         "class Gauss(nn.Module):\n    def __init__(self, eps=1e-6):\n        super().__init__()\n"
         "        self.eps = eps\n\n    def nll(self, x, mu, var):\n"
         "        return (torch.log(var + self.eps) + (x - mu) ** 2).mean()\n"),
    bad("a function inside another", "loss = make()(out, y)",
        "def make():\n    def inner(p, y):\n        return -(y * torch.log(p.softmax(-1))).mean()\n    return inner\n"),
]  # fmt: skip


ATTENTION = """\
import math
import torch
from torch import nn


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.key, self.value = nn.Linear(8, 8), nn.Linear(8, 8)

    def forward(self, x, {given}):
        scores = x @ self.key(x).transpose(1, 2)
        {fill}
        weights = scores.softmax(-1)
        {after}
        return weights @ self.value(x)


net = Attention()
opt = torch.optim.Adam(net.parameters())
for x, mask in batches:
    loss = net(x, mask).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
"""


def attends(name: str, fires: bool, fill: str, given: str = "mask", after: str = "pass") -> Case:
    files = {"train.py": ATTENTION.format(given=given, fill=fill, after=after)}
    return case(MATH, f"attention, {name}", files, "math-unguarded" if fires else "", "" if fires else "math-unguarded")


FILL = "scores = scores.masked_fill(mask.unsqueeze(1) == 0, float('-inf'))"
MASKED = [
    attends("a mask of the batch", True, FILL),
    attends("minus infinity of the math module", True, "scores = torch.where(mask.bool(), scores, -math.inf)"),
    attends("a large number instead", False, "scores = scores.masked_fill(mask.unsqueeze(1) == 0, -1e9)"),
    attends("rows that are mended behind it", False, FILL, after="weights = torch.nan_to_num(weights)"),
    attends("a causal mask", False, "scores = scores.masked_fill(torch.ones(9, 9).triu(1).bool(), -math.inf)"),
]


@pytest.mark.parametrize("one", MASKED, ids=lambda one: one.label)
def test_rows_that_may_be_masked_whole(one: Case, tmp_path: Path) -> None:
    check(one, tmp_path)


@pytest.mark.parametrize(("axis", "told"), [("1", True), ("2", False)])
def test_shares_are_large_along_their_own_axis_alone(axis: str, told: bool, tmp_path: Path) -> None:
    scores = "nn.Linear(8, 3)(torch.randn(4, 6, 8))"
    loss = f"loss = -torch.log(out.mean() + torch.softmax({scores}, 2).sum({axis})).mean()"
    loss = loss.replace("out.mean() + ", "")
    check((bad if told else good)(f"shares summed over axis {axis}", loss), tmp_path)


@pytest.mark.parametrize("found", CASES, ids=lambda found: found.label)
def test_a_signal_fires_where_it_must_and_only_there(found: Case, tmp_path: Path) -> None:
    check(found, tmp_path)


def test_an_epsilon_from_the_configuration_guards(tmp_path: Path) -> None:
    program = trained(
        "loss = -torch.log(out.sigmoid() + cfg['floor_at']).mean()",
        "import yaml\ncfg = yaml.safe_load(open('config.yaml'))",
    )
    check(case(MATH, "small", {**program, "config.yaml": "floor_at: 1.0e-6\n"}, silent="math-unguarded"), tmp_path)
    check(case(MATH, "zero", {**program, "config.yaml": "floor_at: 0.0\n"}, "math-unguarded"), tmp_path)
