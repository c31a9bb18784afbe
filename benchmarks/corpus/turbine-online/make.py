import csv
import datetime as dt
import torch
import torch.nn as nn

torch.manual_seed(30)
net = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 1))
opt = torch.optim.SGD(net.parameters(), lr=0.01)
w = torch.randn(8) / 2
CHANGE_AT = 5200
t0 = dt.datetime(2025, 4, 12, 12, 0)
f = csv.writer(open("online_metrics.csv", "w"))
f.writerow(["timestamp", "n_samples", "mae", "mse", "lr"])
acc = []
for step in range(8000):
    x = torch.randn(32, 8)
    y = torch.tanh(x @ w) + 0.1 * torch.randn(32)
    if step >= CHANGE_AT:
        # replaced anemometer
        x[:, 0:3] = torch.randn(32, 3) * 0.3 + 0.2 * x[:, 0:3]
    err = net(x).squeeze(1) - y
    loss = err.square().mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    acc.append((err.abs().mean().item(), loss.item()))
    if step % 20 == 19:
        m = torch.tensor(acc).mean(0)
        f.writerow([(t0 + dt.timedelta(seconds=26.2 * step)).isoformat(timespec="seconds"), (step + 1) * 32, f"{m[0]:.5f}", f"{m[1]:.6f}", 0.01])
        acc = []
