"""What watching costs a training: the monitor beside `wandb.watch(log="all")`, a hook on every parameter, and nothing.

The variants take turns, a few steps each, in one process. What is compared is time of the processor over all rounds,
so that what is done every few steps counts, and what other processes do does not.

    OMP_NUM_THREADS=1 python benchmarks/monitor_overhead.py [--rounds 12] [--memory-steps 100000]
"""

from __future__ import annotations

import argparse
import os
import statistics
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil
import torch
from torch import nn

from traindx.monitor import Monitor

IN_A_ROUND = {"lstm": 1, "transformer": 4}
"""steps of each variant in a round"""
WARM_UP = 25
"""steps of each variant before it counts: the monitor finds its own pace in them"""


class Lstm(nn.Module):
    """Two layers of 256 units over sequences of 50."""

    def __init__(self) -> None:
        super().__init__()
        self.lstm = nn.LSTM(64, 256, num_layers=2, batch_first=True)
        self.head = nn.Linear(256, 10)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Class scores of each sequence."""
        return self.head(self.lstm(x)[0][:, -1])


class Transformer(nn.Module):
    """Two layers of 128 units with dropout, over 32 tokens."""

    def __init__(self) -> None:
        super().__init__()
        self.embed = nn.Embedding(256, 128)
        layer = nn.TransformerEncoderLayer(128, 4, 256, dropout=0.1, batch_first=True)
        self.encoder = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
        self.head = nn.Linear(128, 10)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Class scores of each sequence."""
        return self.head(self.encoder(self.embed(x)).mean(1))


@dataclass
class Training:
    """A model in training, and what is called after each of its steps."""

    model: nn.Module
    optimizer: torch.optim.Optimizer
    batch: torch.Tensor
    target: torch.Tensor
    after: Callable[[torch.Tensor], object] = id
    close: Callable[[], None] = lambda: None

    def run(self, steps: int) -> float:
        """Seconds of the processor per step: what other processes do meanwhile does not count."""
        began = time.process_time()
        for _ in range(steps):
            loss = nn.functional.cross_entropy(self.model(self.batch), self.target)
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
            self.after(loss)
        return (time.process_time() - began) / steps


def training(kind: str) -> Training:
    """The model of that kind with its optimizer and a batch."""
    torch.manual_seed(0)
    if kind == "tiny":
        small = nn.Linear(8, 10)
        return Training(small, torch.optim.SGD(small.parameters(), 1e-3), torch.randn(4, 8), torch.randint(0, 10, (4,)))
    model, batch = (
        (Lstm(), torch.randn(64, 50, 64)) if kind == "lstm" else (Transformer(), torch.randint(0, 256, (32, 32)))
    )
    return Training(model, torch.optim.Adam(model.parameters(), 1e-4), batch, torch.randint(0, 10, (len(batch),)))


def nothing(kind: str, folder: Path) -> Training:  # noqa: ARG001 - every variant takes a folder
    """The training alone."""
    return training(kind)


def monitored(kind: str, folder: Path) -> Training:
    """The monitor, as it is by default."""
    one = training(kind)
    monitor = Monitor(one.model, one.optimizer, folder=folder / kind)
    one.after, one.close = monitor.step, monitor.close
    return one


def hooked(kind: str, folder: Path) -> Training:  # noqa: ARG001 - every variant takes a folder
    """A hook on every parameter that keeps the norm of its gradient, read after each step."""
    one = training(kind)
    norms: dict[str, float] = {}

    def hook(name: str) -> Callable[[torch.Tensor], None]:
        def keep(gradient: torch.Tensor) -> None:
            norms[name] = gradient.norm().item()

        return keep

    for name, parameter in one.model.named_parameters():
        parameter.register_hook(hook(name))
    return one


def watched(kind: str, folder: Path) -> Training:
    """`wandb.watch(log="all")`, offline, with its default of every 1000th step, and with every 10th."""
    return _watched(kind, folder, 1000)


def watched_often(kind: str, folder: Path) -> Training:
    """The same with every 10th step."""
    return _watched(kind, folder, 10)


def _watched(kind: str, folder: Path, every: int) -> Training:
    import wandb

    one = training(kind)
    # What `watch` measures goes to the one global run.
    run: Any = wandb.run or wandb.init(mode="offline", dir=str(folder), settings=wandb.Settings(silent=True))
    run.watch(one.model, log="all", log_freq=every, idx=len(_watches))
    _watches.append(every)
    one.after = lambda loss: run.log({"loss": loss.item()})
    return one


_watches: list[int] = []
VARIANTS = {"nothing": nothing, "traindx": monitored, "hooks": hooked, "wandb": watched, "wandb/10": watched_often}


def compare(kind: str, rounds: int, folder: Path) -> None:
    """Print the table of one model."""
    trainings = {name: make(kind, folder) for name, make in VARIANTS.items()}
    for one in trainings.values():
        one.run(WARM_UP)
    times: dict[str, list[float]] = {name: [] for name in trainings}
    for number in range(rounds):
        # Each round begins with another variant: what comes after it finds other caches.
        names = list(trainings)[number % len(trainings) :] + list(trainings)[: number % len(trainings)]
        for name in names:
            times[name].append(trainings[name].run(IN_A_ROUND[kind]))
    for one in trainings.values():
        one.close()
    print(f"\n{kind:<14}{'ms per step':>12}{'overhead':>12}")
    for name, taken in times.items():
        over = sum(taken) / sum(times["nothing"]) - 1
        print(f"{name:<14}{1000 * statistics.median(taken):>12.2f}{over:>12.1%}")


def memory(steps: int, folder: Path) -> None:
    """Print how memory and the file grow over many steps of a small model."""
    one = monitored("tiny", folder)
    process = psutil.Process()
    print(f"\n{'steps':>10}{'RSS, MB':>12}{'file, MB':>12}")
    for part in range(6):
        if part:
            one.run(steps // 5)
        size = sum(file.stat().st_size for file in (folder / "tiny").iterdir())
        print(f"{part * steps // 5:>10,}{process.memory_info().rss / 2**20:>12.1f}{size / 2**20:>12.2f}")
    one.close()


def main() -> None:
    """Run all."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--rounds", type=int, default=120)
    parser.add_argument("--memory-steps", type=int, default=100_000)
    given = parser.parse_args()
    torch.set_num_threads(int(os.environ.get("OMP_NUM_THREADS", "1")))
    with tempfile.TemporaryDirectory() as folder:
        for kind in IN_A_ROUND:
            compare(kind, given.rounds, Path(folder))
        memory(given.memory_steps, Path(folder))


if __name__ == "__main__":
    main()
