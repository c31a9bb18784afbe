"""Small real trainings, written as users write them, and what their telemetry holds."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.extras import torch


@dataclass
class Training:
    """A model in training; `loss_of` gives the loss of the step with that number."""

    model: Any
    optimizer: Any
    loss_of: Callable[[int], Any]

    def step(self, number: int) -> Any:
        loss = self.loss_of(number)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        return loss.detach()


@contextmanager
def one_thread() -> Iterator[None]:
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def training(layers: Callable[[], list[Any]], rate: float = 0.05) -> Training:
    """A classifier of 20 features by gradient descent."""
    torch.manual_seed(0)
    model = torch.nn.Sequential(*layers())
    features = torch.randn(512, 20)
    labels = (features @ torch.randn(20, 1) > 0).float()
    optimizer = torch.optim.SGD(model.parameters(), lr=rate, momentum=0.9)

    def loss_of(number: int) -> Any:
        chosen = torch.arange(number * 64, number * 64 + 64) % 512
        return torch.nn.functional.binary_cross_entropy_with_logits(model(features[chosen]), labels[chosen])

    return Training(model, optimizer, loss_of)


def mlp() -> Training:
    nn = torch.nn
    return training(lambda: [nn.Linear(20, 32), nn.ReLU(), nn.Linear(32, 32), nn.Tanh(), nn.Linear(32, 1)])


def recurrent(kind: str = "LSTM") -> Training:
    torch.manual_seed(0)
    body = getattr(torch.nn, kind)(8, 16, num_layers=2, batch_first=True, dropout=0.1)
    head = torch.nn.Linear(16, 4)

    class Model(torch.nn.Module):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.body, self.head = body, head

        def forward(self, x: Any) -> Any:
            return self.head(self.body(x)[0][:, -1])

    model = Model()
    batch, target = torch.randn(16, 10, 8), torch.randint(0, 4, (16,))
    optimizer = torch.optim.Adam(model.parameters(), 1e-3)
    return Training(model, optimizer, lambda _: torch.nn.functional.cross_entropy(model(batch), target))


def convolutional() -> Training:
    nn = torch.nn
    torch.manual_seed(0)
    model = nn.Sequential(
        nn.Conv2d(1, 8, 3), nn.BatchNorm2d(8), nn.ReLU(), nn.Flatten(), nn.Dropout(0.2), nn.Linear(288, 3)
    )
    batch, target = torch.randn(16, 1, 8, 8), torch.randint(0, 3, (16,))
    optimizer = torch.optim.SGD(model.parameters(), 0.01)
    return Training(model, optimizer, lambda _: nn.functional.cross_entropy(model(batch), target))


def rooted() -> Training:
    """Batch statistics, dropout, and a root whose `guard` keeps its argument positive: below zero its output is NaN."""
    nn = torch.nn

    class Root(nn.Module):  # type: ignore[misc, name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.guard = 1e-3

        def forward(self, x: Any) -> Any:
            return (x.abs() + self.guard).sqrt()

    return training(
        lambda: [nn.Linear(20, 8), nn.BatchNorm1d(8), nn.Dropout(0.2), nn.Linear(8, 8), Root(), nn.Linear(8, 1)]
    )


def transformer() -> Training:
    nn = torch.nn
    torch.manual_seed(0)
    layer = nn.TransformerEncoderLayer(16, 2, 32, dropout=0.1, batch_first=True)
    model = nn.Sequential(nn.Embedding(20, 16), nn.TransformerEncoder(layer, 2, enable_nested_tensor=False))
    batch = torch.randint(0, 20, (8, 12))
    optimizer = torch.optim.AdamW(model.parameters(), 1e-3)
    return Training(model, optimizer, lambda _: model(batch).square().mean())


def in_bfloat16() -> Training:
    made = mlp()
    plain = made.loss_of

    def loss_of(number: int) -> Any:
        with torch.autocast("cpu", torch.bfloat16):
            return plain(number)

    return Training(made.model, made.optimizer, loss_of)


def rows(folder: Path, name: str = "traindx-monitor.jsonl") -> list[dict[str, Any]]:
    """All rows that a monitor wrote, read as strict JSON."""

    def refused(constant: str) -> None:
        raise AssertionError(f"{constant} is not JSON")

    return [json.loads(line, parse_constant=refused) for line in (folder / name).read_text().splitlines()]


def measured(folder: Path, key: str, name: str = "traindx-monitor.jsonl") -> list[float]:
    return [float(row[key]) for row in rows(folder, name) if key in row]
