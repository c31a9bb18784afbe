"""What the code alone shows: initialisation, unguarded mathematics, activations."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.tools.signal_case import Case, case, check, falling, table

INIT, MATH, ACTIVE = "check_initialisation", "check_math", "check_activations"
HEAD = "import torch\nfrom torch import nn\n\n\n"


def script(body: str) -> dict[str, str]:
    return {"train.py": HEAD + body + "\n"}


def initialised(line: str) -> dict[str, str]:
    return script(
        f"def start(net):\n    for m in net.modules():\n        if isinstance(m, nn.Linear):\n            {line}\n"
    )


def loss(line: str) -> dict[str, str]:
    return script(f"def loss(p, y, mask):\n    {line}\n")


def stack(activation: str, depth: int, relief: str = "nn.Identity()") -> dict[str, str]:
    layers = f"nn.Linear(8, 8), nn.{activation}(), " * depth
    return script(f"class Net(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
                  f"        self.body = nn.Sequential({layers}{relief})\n")  # fmt: skip


def logged(**columns: float) -> dict[str, str]:
    return table(loss=falling(), **{name: [value] * 30 for name, value in columns.items()})


CASES = [
    case(INIT, "a spread of two", initialised("nn.init.normal_(m.weight, std=2.0)"), "init-too-wide",
         "init-ordinary init-constant"),
    case(INIT, "a spread of two for the bias", initialised("nn.init.normal_(m.bias, std=2.0)"), silent="init-too-wide"),
    case(INIT, "one constant", initialised("nn.init.constant_(m.weight, 0.1)"), "init-constant", "init-ordinary"),
    case(INIT, "zeros for the bias", initialised("nn.init.zeros_(m.bias)"), silent="init-constant"),
    case(INIT, "one head of zeros", script("net = Net()\nnn.init.zeros_(net.head.weight)"), silent="init-constant"),
    case(INIT, "a spread of 0.02", initialised("nn.init.normal_(m.weight, std=0.02)"), "init-ordinary",
         "init-too-wide init-constant"),
    case(INIT, "the library's own", script("net = nn.Linear(4, 4)"),
         silent="init-ordinary init-too-wide init-constant"),
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
]  # fmt: skip


@pytest.mark.parametrize("found", CASES, ids=lambda found: found.label)
def test_a_signal_fires_where_it_must_and_only_there(found: Case, tmp_path: Path) -> None:
    check(found, tmp_path)
