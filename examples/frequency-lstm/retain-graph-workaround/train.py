"""Extracts one frequency from a noisy mixture, one sample at a time: the state carries the signal through the epoch."""

import math
from pathlib import Path

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

SAMPLES, EPOCHS, HIDDEN = 400, 12, 24
FREQUENCIES = (1.0, 3.0, 5.0, 7.0)
LOG = Path(__file__).parent / "train.log"


def signal(seed: int) -> TensorDataset:
    """Each sample: the mixture and which frequency is wanted; the target is that frequency alone."""
    made = torch.Generator().manual_seed(seed)
    t = torch.arange(SAMPLES) / 200.0
    waves = torch.stack([torch.sin(2 * math.pi * f * t) for f in FREQUENCIES])
    mixture = waves.mean(0) + 0.1 * torch.randn(SAMPLES, generator=made)
    wanted = torch.zeros(SAMPLES, len(FREQUENCIES))
    wanted[:, 0] = 1.0
    return TensorDataset(torch.cat([mixture[:, None], wanted], 1), waves[0][:, None])


def main() -> None:
    """Train, and write one line per epoch."""
    torch.manual_seed(0)
    torch.set_num_threads(1)
    loader = DataLoader(signal(1), batch_size=1, shuffle=False)
    lstm = nn.LSTM(1 + len(FREQUENCIES), HIDDEN, batch_first=True)
    head = nn.Linear(HIDDEN, 1)
    criterion = nn.MSELoss()
    optimizer = torch.optim.Adam([*lstm.parameters(), *head.parameters()], lr=3e-4)
    for epoch in range(EPOCHS):
        h = torch.zeros(1, 1, HIDDEN)
        c = torch.zeros(1, 1, HIDDEN)
        total = 0.0
        for x, y in loader:
            out, (h, c) = lstm(x.view(1, 1, -1), (h, c))
            loss = criterion(head(out[:, -1]), y)
            optimizer.zero_grad()
            loss.backward(retain_graph=True)
            optimizer.step()
            total += loss.item()
        with LOG.open("a") as log:
            log.write(f"epoch {epoch + 1} loss {total / SAMPLES:.5f}\n")


if __name__ == "__main__":
    LOG.write_text("")
    try:
        main()
    except RuntimeError as error:
        with LOG.open("a") as log:
            log.write(f"RuntimeError: {error}\n")
        raise SystemExit(1) from None
