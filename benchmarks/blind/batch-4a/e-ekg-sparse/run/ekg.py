import json, sys
import torch, torch.nn as nn, torch.nn.functional as F
torch.set_num_threads(1)
from argparse import ArgumentParser
ap = ArgumentParser()
ap.add_argument("--lam", type=float, required=True)
ap.add_argument("--epochs", type=int, default=20)
args = ap.parse_args()
torch.manual_seed(8)


def ecg(n):
    y = torch.randint(0, 4, (n,))
    t = torch.linspace(0, 1, 96)
    pos = 0.2 + 0.15 * y.float() + 0.02 * torch.randn(n)
    s = torch.exp(-((t - pos[:, None]) / 0.03) ** 2) - 0.5 * torch.exp(-((t - pos[:, None] - 0.1) / 0.04) ** 2)
    return s + 0.35 * torch.randn(n, 96), y


X, Y = ecg(4000)
Xt, Yt = ecg(1000)
net = nn.Sequential(nn.Linear(96, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 4))
opt = torch.optim.Adam(net.parameters(), 1e-3)
sch = torch.optim.lr_scheduler.CosineAnnealingLR(opt, args.epochs)
print(json.dumps({"event": "start", **vars(args)}))
for ep in range(args.epochs):
    ce = pen = 0.0
    for i in torch.randperm(4000).split(50):
        task = F.cross_entropy(net(X[i]), Y[i])
        sparse = args.lam * sum(p.abs().sum() for p in net.parameters())
        opt.zero_grad(); (task + sparse).backward(); opt.step()
        ce += task.item() / 80; pen += sparse.item() / 80
    sch.step()
    with torch.no_grad():
        o = net(Xt)
        nz = sum((p.abs() > 1e-3).sum().item() for p in net.parameters()) / sum(p.numel() for p in net.parameters())
    print(json.dumps({"event": "epoch", "n": ep, "loss": round(ce + pen, 4), "ce": round(ce, 4), "l1": round(pen, 4), "test_ce": round(F.cross_entropy(o, Yt).item(), 4), "test_acc": round((o.argmax(1) == Yt).float().mean().item(), 4), "nonzero": round(nz, 4)}))
