import csv, tomllib
import numpy as np, torch
from torch import nn

P = tomllib.load(open("params.toml", "rb"))
torch.manual_seed(P["train"]["seed"])
z = np.load(P["data"]["path"])
X, y = torch.tensor(z["X"]), torch.tensor(z["y"])
y = (y - y[:20000].mean()) / y[:20000].std()
Xt, yt, Xv, yv = X[:20000], y[:20000], X[20000:], y[20000:]
bs = P["data"]["batch_size"]
net = nn.Linear(X.shape[1], 1)
opt = torch.optim.SGD(net.parameters(), lr=P["optim"]["lr"], momentum=P["optim"]["momentum"])
out = csv.writer(open("curve.csv", "w"))
out.writerow(["samples_seen", "batch_loss", "grad_norm", "val_mse"])
seen, nxt = 0, 0
order = iter(())
LIM = P["train"]["samples"]
while seen < LIM:
    try:
        b = next(order)
    except StopIteration:
        order = iter(torch.randperm(len(Xt)).split(bs))
        b = next(order)
    loss = (net(Xt[b]).squeeze(1) - yt[b]).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    seen += len(b)
    if seen >= nxt:
        g = torch.stack([p.grad.norm() for p in net.parameters()]).norm().item()
        with torch.no_grad():
            v = (net(Xv).squeeze(1) - yv).pow(2).mean().item()
        out.writerow([seen, f"{loss.item():.4f}", f"{g:.4f}", f"{v:.4f}"])
        nxt += LIM // 120
