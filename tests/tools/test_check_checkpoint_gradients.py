"""Gradients from a checkpoint alone: real optimizers, real files, nothing unpickled."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.extras import safetensors, torch
from traindx.definitions.content import TOOLS
from traindx.diagnosis.evidence.reopen import reopen
from traindx.diagnosis.evidence.verify import Citations
from traindx.readers import Run, Scope
from traindx.readers.checkpoints import read_checkpoint, read_values
from traindx.runtime import NoData, Toolbelt
from traindx.runtime.discovery import load_tool

pytestmark = pytest.mark.slow


def deep(depth: int = 12, *, sigmoid: bool, norm: bool = False) -> Any:
    """A deep MLP; with sigmoids and small weights nothing reaches its first layers."""
    torch.manual_seed(0)
    layers: list[Any] = [torch.nn.Linear(10, 16)]
    for _ in range(depth):
        layers += [torch.nn.Sigmoid() if sigmoid else torch.nn.ReLU(), torch.nn.Linear(16, 16)]
        layers += [torch.nn.BatchNorm1d(16)] if norm else []
    return torch.nn.Sequential(*layers, torch.nn.Linear(16, 2))


def residual(depth: int = 12) -> Any:
    """A deep MLP whose blocks add to what they get."""

    class Residual(torch.nn.Module):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            torch.manual_seed(0)
            self.inp = torch.nn.Linear(10, 16)
            self.blocks = torch.nn.ModuleList(torch.nn.Linear(16, 16) for _ in range(depth))
            self.out = torch.nn.Linear(16, 2)

        def forward(self, x: Any) -> Any:
            x = self.inp(x)
            for block in self.blocks:
                x = x + torch.relu(block(x)) / 4
            return self.out(x)

    return Residual()


def train(model: Any, lr: float = 1e-3, steps: int = 40, groups: Any = None, schedule: bool = False) -> Any:
    optimizer = torch.optim.AdamW(groups or model.parameters(), lr=lr, weight_decay=0.0)
    scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=steps) if schedule else None
    x = torch.randn(64, 10, generator=torch.Generator().manual_seed(1))
    y = (x.sum(1) > 0).long()
    for _ in range(steps):
        optimizer.zero_grad()
        torch.nn.functional.cross_entropy(model(x), y).backward()
        optimizer.step()
        if scheduler is not None:
            scheduler.step()
    return optimizer


def save(folder: Path, model: Any, optimizer: Any) -> None:
    torch.save({"model": model.state_dict(), "optimizer": optimizer.state_dict(), "epoch": 1}, folder / "last.pt")


def looked(folder: Path) -> Any:
    tool = load_tool("check_checkpoint_gradients", TOOLS / "check_checkpoint_gradients.py")
    return tool(tool.input(), Run(Scope.of(folder)))


def heard(folder: Path) -> set[str]:
    output = looked(folder)
    run = Run(Scope.of(folder))
    places = [place for signal in output.signals for place in signal.citations]
    said = [part for signal in output.signals for part in (signal.claim, *(p.claim for p in signal.citations))]
    verdicts = reopen(Citations(citations=places, said=said), run).verdicts  # type: ignore[attr-defined]
    assert all(verdict.verified for verdict in verdicts), verdicts
    return {signal.id for signal in output.signals}


def test_gradients_vanish_in_a_deep_sigmoid_net_and_not_in_a_residual_one(tmp_path: Path) -> None:
    model = deep(sigmoid=True)
    save(tmp_path, model, train(model))
    assert "gradients-vanish-towards-input" in heard(tmp_path)
    skipping = residual()
    save(tmp_path, skipping, train(skipping))
    assert heard(tmp_path) == {"gradients-even-over-layers"}


def test_scale_and_ratio_are_those_of_torch(tmp_path: Path) -> None:
    model = residual(3)
    optimizer = train(model, lr=3e-4)
    save(tmp_path, model, optimizer)
    output = looked(tmp_path)
    assert (output.step, output.optimizer) == (40, "AdamW")
    for layer, parameter in zip(output.layers, [one for one in model.parameters() if one.dim() > 1], strict=True):
        state = optimizer.state[parameter]
        second = state["exp_avg_sq"].double() / (1 - 0.999**40)
        update = 3e-4 * state["exp_avg"].double() / (1 - 0.9**40) / (second.sqrt() + 1e-8)
        rms = float(update.pow(2).mean().sqrt() / parameter.detach().double().pow(2).mean().sqrt())
        assert layer.gradient_scale == pytest.approx(float(second.mean().sqrt()), rel=1e-5)
        assert layer.update_ratio == pytest.approx(rms, rel=1e-4)


@pytest.mark.parametrize(("lr", "signal"), [(1e-7, "updates-tiny"), (0.3, "updates-large"), (1e-3, "")])
def test_updates_against_weights(tmp_path: Path, lr: float, signal: str) -> None:
    model = residual(4)
    save(tmp_path, model, train(model, lr=lr, steps=10))
    assert heard(tmp_path) & {"updates-tiny", "updates-large"} == ({signal} if signal else set())


def test_the_end_of_a_schedule_is_no_rate_too_low(tmp_path: Path) -> None:
    model = residual(4)
    save(tmp_path, model, train(model, lr=1e-3, schedule=True))
    assert "updates-tiny" not in heard(tmp_path)


def test_buffers_are_no_parameters_and_groups_have_their_own_rate(tmp_path: Path) -> None:
    model = deep(3, sigmoid=False, norm=True)
    first, *rest = list(model.parameters())
    optimizer = train(model, groups=[{"params": [first], "lr": 1e-5}, {"params": rest}], steps=5)
    save(tmp_path, model, optimizer)
    layers = looked(tmp_path).layers
    assert [row.name for row in layers][:2] == ["0.weight", "2.weight"]
    assert layers[0].update_ratio < 0.05 * layers[1].update_ratio


def test_parameters_that_cannot_be_matched_keep_their_number_and_say_nothing_of_depth(tmp_path: Path) -> None:
    model = deep(sigmoid=True)
    parameters = list(model.parameters())
    optimizer = train(model, groups=[{"params": parameters[::-1]}])
    save(tmp_path, model, optimizer)
    output = looked(tmp_path)
    assert output.layers[0].name.startswith("parameter ")
    assert not {signal.id for signal in output.signals} & {
        "gradients-vanish-towards-input",
        "gradients-even-over-layers",
    }


def test_an_optimizer_beside_its_model_as_transformers_writes_them(tmp_path: Path) -> None:
    model = deep(sigmoid=True)
    optimizer = train(model)
    for folder in ("checkpoint-100", "checkpoint-20"):
        (tmp_path / folder).mkdir()
        safetensors.save_file(model.state_dict(), tmp_path / folder / "model.safetensors")
        torch.save(optimizer.state_dict(), tmp_path / folder / "optimizer.pt")
    output = looked(tmp_path)
    assert output.checkpoint == "checkpoint-100/optimizer.pt"
    assert output.layers[0].update_ratio is not None
    assert "gradients-vanish-towards-input" in {signal.id for signal in output.signals}


def test_without_moments_there_is_nothing_to_say(tmp_path: Path) -> None:
    model = residual(2)
    torch.save(model.state_dict(), tmp_path / "model.pt")
    with pytest.raises(NoData, match="exp_avg_sq"):
        looked(tmp_path)
    sgd = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    torch.save({"model": model.state_dict(), "optimizer": sgd.state_dict()}, tmp_path / "model.pt")
    with pytest.raises(NoData, match="exp_avg_sq"):
        looked(tmp_path)


def test_it_runs_in_the_sandbox_without_torch(tmp_path: Path) -> None:
    model = deep(sigmoid=True)
    save(tmp_path, model, train(model))
    with Toolbelt(Scope.of(tmp_path)) as toolbelt:
        result = toolbelt.call("check_checkpoint_gradients")
    assert result.status == "ok", result.reason
    assert [signal.id for signal in result.signals] == ["gradients-vanish-towards-input"]


@pytest.mark.parametrize("dtype", ["float64", "float32", "float16", "bfloat16"])
def test_values_are_read_as_they_were_written(tmp_path: Path, dtype: str) -> None:
    state = {"a": torch.randn(5, 7).to(getattr(torch, dtype)), "b": torch.randn(3).to(getattr(torch, dtype))}
    state["part"] = torch.randn(100).to(getattr(torch, dtype))[10:20]
    torch.save(state, tmp_path / "x.pt")
    with (tmp_path / "x.pt").open("rb") as handle:
        checkpoint, _ = read_checkpoint(handle, "x.pt")
        values = {tensor.name: numbers for tensor, numbers in read_values(handle, checkpoint, checkpoint.tensors)}
        short = {tensor.name: numbers for tensor, numbers in read_values(handle, checkpoint, checkpoint.tensors, 40)}
    assert set(values) == {"a", "b", "part"}
    np.testing.assert_allclose(values["part"], state["part"].float().numpy(), rtol=1e-6)
    np.testing.assert_allclose(values["a"], state["a"].float().numpy().ravel(), rtol=1e-6)
    assert 0 < len(short["a"]) < 35


@pytest.mark.parametrize("kept", [0.3, 0.6, 0.95])
def test_a_cut_off_checkpoint_is_an_honest_answer(tmp_path: Path, kept: float) -> None:
    model = residual(2)
    save(tmp_path, model, train(model, steps=3))
    raw = (tmp_path / "last.pt").read_bytes()
    (tmp_path / "last.pt").write_bytes(raw[: int(kept * len(raw))])
    with pytest.raises(NoData):
        looked(tmp_path)
