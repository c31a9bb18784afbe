"""Whatever a model, an optimizer or a loop is like, training goes on."""

from __future__ import annotations

import multiprocessing
from pathlib import Path
from typing import Any

import pytest

from tests.extras import torch
from tests.monitor.trainings import measured, mlp, rows
from traindx.monitor import Monitor


class Odd:
    """An object that refuses whatever is asked of it."""

    def __getattr__(self, name: str) -> Any:
        raise RuntimeError(name)


OUTPUTS: dict[str, Any] = {
    "nothing": lambda _: None,
    "a text": lambda _: "done",
    "an empty tensor": lambda x: x[:0],
    "whole numbers": lambda x: x.long(),
    "a generator": lambda x: (one for one in [x]),
    "a deep nest": lambda x: [[[[[[[[[[x]]]]]]]]]],
    "a mapping": lambda x: {"logits": x, 3: None},
    "an object": lambda _: Odd(),
    "complex numbers": lambda x: torch.complex(x, x),
    "a sparse tensor": lambda x: x.to_sparse(),
}


@pytest.mark.parametrize("name", OUTPUTS)
def test_a_model_may_return_anything(name: str, tmp_path: Path) -> None:
    class Net(torch.nn.Module):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.act = torch.nn.ReLU()
            self.weight = torch.nn.Parameter(torch.ones(3))

        def forward(self, x: Any) -> Any:
            return OUTPUTS[name](self.act(x * self.weight))

    net = Net()
    with Monitor(net, torch.optim.SGD(net.parameters(), 0.1), folder=tmp_path, every=1) as monitor:
        for _ in range(3):
            net(torch.ones(2, 3))
            monitor.step(1.5)
    assert measured(tmp_path, "loss") == [1.5] * 3


@pytest.mark.parametrize("loss", [None, 1, "high", torch, [1.0], Odd()], ids=lambda loss: type(loss).__name__)
def test_a_loss_may_be_anything(loss: Any, tmp_path: Path) -> None:
    one = mlp()
    with Monitor(one.model, one.optimizer, folder=tmp_path, every=1) as monitor:
        monitor.step(loss)
        monitor.step(one.step(0), odd=loss)
        monitor.log({"odd": loss})
        monitor.step(one.step(1))
    assert len(measured(tmp_path, "loss")) >= 1


def test_an_error_of_the_training_is_not_swallowed(tmp_path: Path) -> None:
    one = mlp()
    with pytest.raises(ZeroDivisionError), Monitor(one.model, one.optimizer, folder=tmp_path):
        raise ZeroDivisionError
    assert rows(tmp_path)[-1]["reason"] == "ZeroDivisionError"


def test_a_model_without_parameters_and_one_that_is_not_built_yet(tmp_path: Path) -> None:
    for number, model in enumerate((torch.nn.ReLU(), torch.nn.Sequential(torch.nn.LazyLinear(3), torch.nn.ReLU()))):
        with Monitor(model, folder=tmp_path / str(number), every=1) as monitor:
            for _ in range(5):
                loss = model(torch.ones(2, 3)).sum()
                monitor.step(loss)
        assert len(measured(tmp_path / str(number), "loss")) == 5


def test_an_optimizer_that_calls_the_loss_itself(tmp_path: Path) -> None:
    one = mlp()
    optimizer = torch.optim.LBFGS(one.model.parameters(), max_iter=3)

    def closure() -> Any:
        optimizer.zero_grad()
        loss = one.loss_of(0)
        loss.backward()
        return loss

    with Monitor(one.model, optimizer, folder=tmp_path, every=1) as monitor:
        for _ in range(3):
            monitor.step(optimizer.step(closure))
    assert len(measured(tmp_path, "loss")) == 3


def test_checkpointed_activations_are_computed_again_and_told_once(tmp_path: Path) -> None:
    from torch.utils.checkpoint import checkpoint

    one = mlp()

    class Net(torch.nn.Module):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.body = one.model

        def forward(self, x: Any) -> Any:
            return checkpoint(self.body, x, use_reentrant=False)

    net = Net()
    with Monitor(net, torch.optim.SGD(net.parameters(), 0.1), folder=tmp_path, every=1) as monitor:
        loss = net(torch.randn(4, 20)).square().mean()
        loss.backward()
        monitor.step(loss)
    assert len(measured(tmp_path, "dead/body.1")) == 1


def _rank(rank: int, folder: str, port: int) -> None:
    torch.set_num_threads(1)
    torch.distributed.init_process_group("gloo", init_method=f"tcp://127.0.0.1:{port}", rank=rank, world_size=2)
    one = mlp()
    model = torch.nn.parallel.DistributedDataParallel(one.model)
    optimizer = torch.optim.SGD(model.parameters(), 0.05)
    with Monitor(model, optimizer, folder=folder, every=1) as monitor:
        for number in range(6):
            batch = torch.full((4, 20), float(rank + number))
            if number == 4 and rank == 1:
                batch[0] = float("nan")
            loss = model(batch).square().mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            monitor.step(loss)
    torch.distributed.destroy_process_group()


@pytest.mark.slow
def test_each_of_two_processes_has_a_file_of_its_own(tmp_path: Path, unused_port: int) -> None:
    context = multiprocessing.get_context("spawn")
    processes = [context.Process(target=_rank, args=(rank, str(tmp_path), unused_port)) for rank in (0, 1)]
    for process in processes:
        process.start()
    for process in processes:
        process.join(timeout=120)
    assert [process.exitcode for process in processes] == [0, 0]
    first, second = (f"traindx-monitor.rank{rank}.jsonl" for rank in (0, 1))
    assert {path.name for path in tmp_path.iterdir()} == {first, second}
    # Gradients are averaged: both processes have the same norm, and losses of their own.
    assert measured(tmp_path, "grad_norm", first)[:4] == pytest.approx(measured(tmp_path, "grad_norm", second)[:4])
    assert measured(tmp_path, "loss", first)[0] != measured(tmp_path, "loss", second)[0]
    (event,) = [row for row in rows(tmp_path, second) if row.get("event") == "non-finite"]
    assert (event["step"], event["from"]) == (5, "input")
    assert "grad_norm/0.weight" in rows(tmp_path, first)[1]


@pytest.fixture
def unused_port() -> int:
    import socket

    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
    return port
