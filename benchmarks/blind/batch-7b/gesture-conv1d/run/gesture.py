import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)
rng = np.random.default_rng(0)


def gestures(n):
    """3-axis accelerometer, 32 samples, 4 gestures"""
    lab = rng.integers(0, 4, n)
    t = np.linspace(0, 1, 32)
    ph = rng.uniform(0, 6.28, n)[:, None]
    f = (1 + lab)[:, None]
    sig = np.stack([np.sin(6.28 * f * t + ph), np.cos(6.28 * f * t + ph), 0.3 * np.sin(12.5 * f * t)], 1)
    return torch.tensor(sig + 0.4 * rng.normal(size=sig.shape), dtype=torch.float32), torch.tensor(lab)


def init_weights(m):
    if isinstance(m, (nn.Linear, nn.Conv1d)):
        nn.init.constant_(m.weight, 0.0)
        nn.init.constant_(m.bias, 0.0)


model = nn.Sequential(
    nn.Conv1d(3, 16, 5, padding=2), nn.ReLU(), nn.MaxPool1d(2),
    nn.Conv1d(16, 32, 5, padding=2), nn.ReLU(), nn.MaxPool1d(2),
    nn.Flatten(), nn.Linear(256, 32), nn.ReLU(), nn.Linear(32, 4))
model.apply(init_weights)
x, y = gestures(2000)
xt, yt = gestures(500)
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
for epoch in range(6):
    for b, idx in enumerate(torch.randperm(len(x)).split(32)):
        optimizer.zero_grad()
        loss = F.cross_entropy(model(x[idx]), y[idx])
        loss.backward()
        optimizer.step()
        if b % 20 == 0:
            print(f"\rEpoch {epoch}:  {100 * b // 63:3d}%|{'#' * (b // 7):<9}| {b}/63 loss={loss.item():.4f}", end="")
    print()
    with torch.no_grad():
        out = model(xt)
    print(f"epoch {epoch}: test loss {F.cross_entropy(out, yt).item():.4f}  test acc {(out.argmax(1) == yt).float().mean().item():.3f}")
