"""Autoencoder for bearing vibration spectra (anomaly detection)."""
import argparse
import csv
import sys

import numpy as np
import torch
from torch import nn

parser = argparse.ArgumentParser()
parser.add_argument("--learning-rate", type=float, default=1e-3)
parser.add_argument("--epochs", type=int, default=40)
parser.add_argument("--batch-size", type=int, default=128)
parser.add_argument("--latent", type=int, default=6)
args = parser.parse_args()

rng = np.random.default_rng(0)
torch.manual_seed(0)


def spectra(n):
    f = np.arange(64)
    base = rng.uniform(8, 20, (n, 1))
    amp = rng.uniform(0.5, 1.5, (n, 3))
    s = sum(amp[:, k:k + 1] * np.exp(-0.5 * ((f - (k + 1) * base) / 1.5) ** 2) for k in range(3))
    return torch.tensor(s + rng.normal(0, 0.03, s.shape), dtype=torch.float32)


train, valid = spectra(5000), spectra(1000)
ae = nn.Sequential(nn.Linear(64, 128), nn.ReLU(), nn.Linear(128, args.latent), nn.Linear(args.latent, 128), nn.ReLU(), nn.Linear(128, 64))
optim = torch.optim.Adam(ae.parameters(), lr=args.learning_rate)
with open("metrics.csv", "w", newline="") as fh:
    writer = csv.writer(fh, delimiter=";")
    writer.writerow(["epoch", "lr", "train_mse", "valid_mse"])
    for epoch in range(1, args.epochs + 1):
        losses = []
        for idx in torch.randperm(len(train)).split(args.batch_size):
            loss = nn.functional.mse_loss(ae(train[idx]), train[idx])
            optim.zero_grad()
            loss.backward()
            optim.step()
            losses.append(loss.item())
        with torch.no_grad():
            v = nn.functional.mse_loss(ae(valid), valid).item()
        writer.writerow([epoch, args.learning_rate, f"{np.mean(losses):.6f}", f"{v:.6f}"])
