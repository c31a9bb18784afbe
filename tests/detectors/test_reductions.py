"""The lines that average a reconstruction and sum a KL term are cited; other reductions are not."""

from __future__ import annotations

from pathlib import Path

import pytest

from traindx.detectors.program import reductions
from traindx.readers import Run, Scope

_KL = "kl = -0.5 * torch.sum(1 + logvar - mu.pow(2) - logvar.exp(), dim=1).mean()"
_HEAD = "import torch\nimport torch.nn.functional as F\nfrom torch import nn\n\n\n"


def lines(folder: Path, *body: str) -> list[str]:
    code = _HEAD + "def elbo(out, x, mu, logvar):\n" + "".join(f"    {row}\n" for row in body) + "    return rec + kl\n"
    (folder / "losses.py").write_text(code, encoding="utf-8")
    return [place.quote.strip() for place in reductions.cited(Run(Scope.of(folder)).program)]


@pytest.mark.parametrize(
    "body",
    [
        ("rec = F.mse_loss(out, x)", _KL),
        ("rec = F.binary_cross_entropy_with_logits(out, x, reduction='mean')", _KL),
        ("rec = nn.MSELoss()(out, x)", "kl = (-0.5 * (1 + logvar - mu**2 - logvar.exp())).sum(-1).mean()"),
        ("rec = F.l1_loss(out, x)", "kl = torch.distributions.kl_divergence(posterior, prior).sum(1).mean()"),
    ],
)
def test_an_average_beside_a_sum(body: tuple[str, str], tmp_path: Path) -> None:
    assert lines(tmp_path, *body) == list(body)


@pytest.mark.parametrize(
    "body",
    [
        ("rec = F.mse_loss(out, x, reduction='sum') / len(x)", _KL),
        ("rec = F.mse_loss(out, x, reduction='none').sum(1).mean()", _KL),
        ("rec = F.mse_loss(out, x) * x.shape[1]", _KL),
        ("rec = F.mse_loss(out, x)", "kl = -0.5 * torch.mean(1 + logvar - mu.pow(2) - logvar.exp())"),
        ("rec = F.mse_loss(out, x)", "kl = mu.pow(2).sum(1).mean()"),
    ],
)
def test_other_reductions(body: tuple[str, str], tmp_path: Path) -> None:
    assert lines(tmp_path, *body) == []
