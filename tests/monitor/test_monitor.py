"""What a monitor measures is what was there."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.extras import torch
from tests.monitor.trainings import convolutional, measured, mlp, recurrent, rows, training
from traindx.errors import UsageError
from traindx.monitor import Monitor
from traindx.monitor.cadence import Cadence


def test_a_row_holds_the_numbers_of_its_step(tmp_path: Path) -> None:
    one = mlp()
    names = [name for name, weight in one.model.named_parameters() if weight.dim() > 1]
    with Monitor(one.model, one.optimizer, folder=tmp_path, every=1) as monitor:
        for number in range(3):
            before = [weight.detach().clone() for weight in one.model.parameters()]
            loss = one.step(number)
            norms = {name: float(weight.grad.norm()) for name, weight in one.model.named_parameters()}
            changes = [new.detach() - old for new, old in zip(one.model.parameters(), before, strict=True)]
            monitor.step(loss, epoch=2)
            row = rows(tmp_path)[-1]
            assert row["loss"] == pytest.approx(float(loss), rel=1e-4)
            assert row["grad_norm"] == pytest.approx(sum(norm**2 for norm in norms.values()) ** 0.5, rel=1e-4)
            assert row["update_ratio"] == pytest.approx(total(changes) / total(before), rel=1e-4)
            assert (row["lr"], row["epoch"], row["step"]) == (0.05, 2, number + 1)
            if number == 0:
                assert [row[f"grad_norm/{name}"] for name in names] == pytest.approx(
                    [norms[name] for name in names], rel=1e-4
                )
    assert monitor.latest["step"] == 3


def total(tensors: list[Any]) -> float:
    return float(sum(one.square().sum() for one in tensors) ** 0.5)


def test_dead_and_saturated_units_are_counted(tmp_path: Path) -> None:
    nn = torch.nn
    one = training(lambda: [nn.Linear(20, 10), nn.ReLU(), nn.Linear(10, 8), nn.Tanh(), nn.Linear(8, 1)])
    with torch.no_grad():
        one.model[0].bias[:3] = -100.0
        one.model[2].bias[:2] = 50.0
    with Monitor(one.model, one.optimizer, folder=tmp_path, every=1) as monitor:
        monitor.step(one.step(0))
    assert measured(tmp_path, "dead/1") == pytest.approx([0.3])
    assert measured(tmp_path, "saturated/3") == pytest.approx([0.25], abs=0.05)


def test_dead_channels_of_pictures_are_counted(tmp_path: Path) -> None:
    one = convolutional()
    with torch.no_grad():
        one.model[1].bias[:4] = -100.0
    with Monitor(one.model, one.optimizer, folder=tmp_path, every=1) as monitor:
        monitor.step(one.step(0))
    assert measured(tmp_path, "dead/2") == [0.5]


@pytest.mark.parametrize("kind", ["LSTM", "GRU", "RNN"])
def test_the_state_of_a_recurrent_network_is_told_of(kind: str, tmp_path: Path) -> None:
    one = recurrent(kind)
    with Monitor(one.model, one.optimizer, folder=tmp_path, every=1) as monitor:
        monitor.step(one.step(0))
    (row,) = [row for row in rows(tmp_path) if "lstm_h_norm" in row]
    assert 0 < row["lstm_h_norm"] < 30
    assert row["lstm_has_nan"] is False
    assert ("lstm_c_norm" in row) == (kind == "LSTM")


def test_inputs_of_training_and_evaluation_are_told_apart(tmp_path: Path) -> None:
    one = mlp()
    with Monitor(one.model, one.optimizer, folder=tmp_path, every=1) as monitor:
        for number in range(4):
            monitor.step(one.step(number))
            one.model.eval()
            with torch.no_grad():
                one.model(torch.full((8, 20), 100.0))
            one.model.train()
    assert all(abs(mean) < 1 for mean in measured(tmp_path, "input_mean"))
    assert measured(tmp_path, "val/input_mean") == [100.0] * 3
    assert "step_time" not in rows(tmp_path)[4]  # an evaluation came before it


def test_several_groups_and_optimizers_are_told_apart(tmp_path: Path) -> None:
    one = mlp()
    first, second = list(one.model[0].parameters()), [*one.model[2].parameters(), *one.model[4].parameters()]
    one.optimizer = torch.optim.SGD([{"params": first}, {"params": second, "lr": 0.5}], lr=0.1)
    with Monitor(one.model, one.optimizer, folder=tmp_path, every=1) as monitor:
        monitor.step(one.step(0))
    (row,) = [row for row in rows(tmp_path) if "grad_norm" in row]
    assert (row["lr"], row["lr/group1"]) == (0.1, 0.5)
    assert row["grad_norm_group/0"] == pytest.approx(total([one.grad for one in first]), rel=1e-4)
    assert row["grad_norm_group/1"] == pytest.approx(total([one.grad for one in second]), rel=1e-4)


def test_gradients_may_be_measured_before_they_are_clipped(tmp_path: Path) -> None:
    one = mlp()
    with Monitor(one.model, one.optimizer, folder=tmp_path, every=1) as monitor:
        loss = one.loss_of(0)
        loss.backward()
        monitor.after_backward()
        norm = float(torch.nn.utils.clip_grad_norm_(one.model.parameters(), 1e-3))
        one.optimizer.step()
        monitor.step(loss)
    assert measured(tmp_path, "grad_norm") == pytest.approx([norm], rel=1e-4)


def test_the_scale_of_mixed_precision_is_told(tmp_path: Path) -> None:
    one = mlp()
    scaler = torch.amp.GradScaler("cpu", init_scale=1024.0)
    with Monitor(one.model, one.optimizer, folder=tmp_path, scaler=scaler, every=1) as monitor:
        for number in range(2):
            one.optimizer.zero_grad()
            loss = one.loss_of(number)
            scaler.scale(loss).backward()
            scaler.step(one.optimizer)
            scaler.update()
            monitor.step(loss)
    assert measured(tmp_path, "loss_scale") == [1024.0, 1024.0]
    assert max(measured(tmp_path, "grad_norm")) < 10  # of gradients without their scale


def test_with_an_optimizer_nothing_need_be_called(tmp_path: Path) -> None:
    one = mlp()
    with Monitor(one.model, one.optimizer, folder=tmp_path, every=1):
        for number in range(5):
            one.step(number)
    assert [row["step"] for row in rows(tmp_path) if "grad_norm" in row] == [1, 2, 3, 4, 5]


def test_without_an_optimizer_there_is_what_the_model_shows(tmp_path: Path) -> None:
    one = mlp()
    with Monitor(one.model, folder=tmp_path, every=1) as monitor:
        for number in range(2):
            monitor.step(one.step(number))
    told = [row for row in rows(tmp_path) if "loss" in row]
    assert all({"dead/1", "input_mean", "rss_mb"} <= set(row) for row in told)
    assert not any({"lr", "update_ratio"} & set(row) for row in told)


def test_waiting_for_a_loader_is_told_from_the_rest(tmp_path: Path) -> None:
    one = mlp()
    with Monitor(one.model, one.optimizer, folder=tmp_path, every=1) as monitor:
        for number in monitor.batches(range(5)):
            monitor.step(one.step(number))
    for row in rows(tmp_path)[2:6]:
        assert 0 <= row["data_time"] <= row["step_time"]


def test_sparse_gradients_frozen_and_shared_weights_are_measured(tmp_path: Path) -> None:
    nn = torch.nn
    torch.manual_seed(0)
    model = nn.Sequential(nn.Embedding(10, 4, sparse=True), nn.Linear(4, 4), nn.Linear(4, 4))
    model[2].weight = model[1].weight
    model[1].bias.requires_grad_(False)
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    with Monitor(model, optimizer, folder=tmp_path, every=1) as monitor:
        loss = model(torch.tensor([1, 2])).square().sum()
        loss.backward()
        optimizer.step()
        monitor.step(loss)
    (row,) = [row for row in rows(tmp_path) if "grad_norm" in row]
    assert row["grad_norm/0.weight"] == pytest.approx(float(model[0].weight.grad.coalesce().values().norm()), rel=1e-4)
    assert "grad_norm/1.bias" not in row


def test_of_many_layers_some_are_told(tmp_path: Path) -> None:
    one = training(lambda: [torch.nn.Linear(20, 20) for _ in range(120)] + [torch.nn.Linear(20, 1)])
    with Monitor(one.model, one.optimizer, folder=tmp_path, every=1) as monitor:
        monitor.step(one.step(0))
    told = [key for key in rows(tmp_path)[1] if key.startswith("grad_norm/")]
    assert len(told) == 48
    assert (told[0], told[-1]) == ("grad_norm/0.weight", "grad_norm/120.weight")


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (lambda: Monitor("model"), "torch.nn.Module"),  # type: ignore[arg-type]
        (lambda: Monitor(torch.nn.Linear(1, 1), "adam"), "torch.optim"),  # type: ignore[arg-type]
        (lambda: Monitor(torch.nn.Linear(1, 1), every=0), "`every`"),
        (lambda: Monitor(torch.nn.Linear(1, 1), overhead=0.0), "`overhead`"),
        (lambda: Monitor(torch.nn.Linear(1, 1), every=1.5), "`every`"),  # type: ignore[arg-type]
        (lambda: Monitor(torch.nn.Linear(1, 1), name="../up"), "`name`"),
    ],
)
def test_a_mistake_is_an_error_before_training_begins(given: Any, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        given()


def test_it_is_done_as_often_as_its_cost_allows() -> None:
    cheap, dear = Cadence(0.01), Cadence(0.01)
    done = {"cheap": 0, "dear": 0}
    for step in range(1, 2_001):
        for name, cadence, cost in (("cheap", cheap, 1e-5), ("dear", dear, 1e-2)):
            cadence.stepped(0.01)
            if cadence.is_due(step):
                cadence.done(step, cost)
                done[name] += 1
    assert done["cheap"] == 2_000
    assert 15 <= done["dear"] <= 25  # a hundredth of 20 seconds, in hundredths of a second


def test_a_fixed_interval_is_kept_and_the_first_seconds_are_free() -> None:
    fixed, free = Cadence(0.01, every=7), Cadence(0.01, free=0.1)
    seen: list[int] = []
    early: list[int] = []
    for step in range(1, 400):
        for cadence, steps in ((fixed, seen), (free, early)):
            cadence.stepped(1e-4)
            if cadence.is_due(step):
                cadence.done(step, 1e-3)
                steps.append(step)
    assert seen[:4] == [1, 8, 15, 22]
    assert early[:10] == list(range(1, 11))
    assert len([step for step in early if step > 300]) <= 15


@pytest.mark.slow
def test_a_compiled_model_is_told_of_but_for_its_layers(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:

    def train(folder: Path | None) -> list[float]:
        one = mlp()
        compiled = torch.compile(one.model, backend="eager", fullgraph=True)
        monitor = None if folder is None else Monitor(compiled, one.optimizer, folder=folder, every=1)
        losses = []
        for _ in range(4):
            loss = compiled(torch.ones(8, 20)).square().mean()
            one.optimizer.zero_grad()
            loss.backward()
            one.optimizer.step()
            losses.append(float(loss.detach()))
            if monitor is not None:
                monitor.step(loss)
        if monitor is not None:
            monitor.close()
        return losses

    assert train(tmp_path) == train(None)
    assert len(measured(tmp_path, "input_mean")) == len(measured(tmp_path, "grad_norm")) == 4
    assert "grad_norm/0.weight" in rows(tmp_path)[1]
    assert "compiled" in caplog.text


@pytest.mark.slow
def test_a_model_that_is_compiled_later_stays_one_graph(tmp_path: Path) -> None:
    one = mlp()
    with Monitor(one.model, one.optimizer, folder=tmp_path, every=1) as monitor:
        compiled = torch.compile(one.model, backend="eager", fullgraph=True)
        for _ in range(4):
            loss = compiled(torch.randn(4, 20)).square().mean()
            one.optimizer.zero_grad()
            loss.backward()
            one.optimizer.step()
            monitor.step(loss)
    assert [row["step"] for row in rows(tmp_path) if "grad_norm" in row] == [1, 2, 3, 4]
