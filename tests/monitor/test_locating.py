"""A NaN or Inf is told with the place that it came from, at the step at which it came."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.extras import torch
from tests.monitor.trainings import Training, mlp, rooted, rows, training
from traindx.monitor import Monitor


def events(folder: Path) -> list[dict[str, Any]]:
    return [row for row in rows(folder) if row.get("event") == "non-finite"]


def broken_at(folder: Path, one: Training, change: Any, step: int = 5) -> dict[str, Any]:
    """The event of a training in which something happens before one of its steps."""
    with Monitor(one.model, one.optimizer, folder=folder) as monitor:
        for number in range(8):
            if number == step - 1:
                change(one)
            monitor.step(one.step(number))
    (event,) = events(folder)[:1]
    assert event["step"] == step
    return event


def test_a_module_of_the_program(tmp_path: Path) -> None:
    event = broken_at(tmp_path, rooted(), lambda one: setattr(one.model[4], "guard", -100.0))
    assert (event["from"], event["at"], event["found"]) == ("module", "module 4", "is NaN")
    assert event["class"].endswith(".Root")


def test_a_weight_that_somebody_spoilt(tmp_path: Path) -> None:
    def spoil(one: Training) -> None:
        one.model[2].bias.data[3] = float("nan")

    event = broken_at(tmp_path, mlp(), spoil)
    assert (event["from"], event["at"]) == ("weight", "parameter 2.bias")
    assert (event["class"], event["found"]) == ("torch.nn.Linear", "is NaN")


def test_a_batch_with_nan(tmp_path: Path) -> None:
    one = mlp()
    with Monitor(one.model, one.optimizer, folder=tmp_path) as monitor:
        for number in range(4):
            batch = torch.randn(8, 20)
            batch[3, 4] = float("nan") if number == 2 else 0.0
            monitor.step(one.model(batch).square().mean())
    (event,) = events(tmp_path)
    assert (event["step"], event["from"], event["at"], event["class"]) == (3, "input", "argument 0", "Tensor")


def test_a_layer_that_overflows(tmp_path: Path) -> None:
    def grow(one: Training) -> None:
        for layer in (0, 2):
            one.model[layer].weight.data.fill_(1e30)

    event = broken_at(
        tmp_path, training(lambda: [torch.nn.Linear(20, 4), torch.nn.ReLU(), torch.nn.Linear(4, 1)]), grow
    )
    assert (event["from"], event["at"], event["class"]) == ("module", "module 2", "torch.nn.Linear")


def test_code_between_modules_belongs_to_the_module_around_it(tmp_path: Path) -> None:
    class Net(torch.nn.Module):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.first, self.last = torch.nn.Linear(4, 4), torch.nn.Linear(4, 1)

        def forward(self, x: Any) -> Any:
            return self.last(torch.log(self.first(x) * 0))

    torch.manual_seed(0)
    net = torch.nn.ModuleDict({"inner": Net()})

    class Outer(torch.nn.Module):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.parts = net

        def forward(self, *, given: Any) -> Any:
            return {"scores": [self.parts["inner"](given)]}

    with Monitor(Outer(), folder=tmp_path) as monitor:
        monitor._model(given=torch.randn(2, 4))
        monitor.step()
    (event,) = events(tmp_path)
    assert (event["at"], event["found"]) == ("module parts.inner", "is Inf")
    assert event["class"].endswith(".Net")


def test_a_gradient_of_outputs_that_are_finite(tmp_path: Path) -> None:
    """The root of zero is zero, and its slope is infinite."""
    nn = torch.nn
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(4, 3), nn.Linear(3, 2))
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    with Monitor(model, optimizer, folder=tmp_path) as monitor:
        for number in range(3):
            loss = (
                (model(torch.randn(8, 4)) * (number != 1)).sqrt().sum()
                if number == 1
                else model(torch.ones(1, 4)).sum()
            )
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            monitor.step(loss)
    event = events(tmp_path)[0]
    assert (event["step"], event["from"], event["at"]) == (2, "gradient", "parameter 1.bias")


@pytest.mark.parametrize("make", [mlp, rooted])
def test_a_healthy_training_has_no_event(make: Any, tmp_path: Path) -> None:
    one = make()
    with Monitor(one.model, one.optimizer, folder=tmp_path) as monitor:
        for number in range(20):
            monitor.step(one.step(number))
    assert events(tmp_path) == []


def test_infinite_scores_of_masked_positions_inside_are_no_fault(tmp_path: Path) -> None:
    """Attention masks with -Inf on purpose; what leaves the model is finite."""
    layer = torch.nn.TransformerEncoderLayer(8, 2, 16, batch_first=True)
    mask = torch.nn.Transformer.generate_square_subsequent_mask(5)
    with Monitor(layer, folder=tmp_path) as monitor:
        monitor.step(layer(torch.randn(2, 5, 8), src_mask=mask).square().mean())
    assert events(tmp_path) == []


def test_what_stays_broken_is_told_once(tmp_path: Path) -> None:
    one = mlp()
    with Monitor(one.model, one.optimizer, folder=tmp_path) as monitor:
        one.model[0].weight.data.fill_(float("nan"))
        for number in range(30):
            monitor.step(one.step(number))
    assert len(events(tmp_path)) == 1
